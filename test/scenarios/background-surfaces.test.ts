/** Background work as those see it who run the command: what is told of it, in what order, and how often (SU-1, SU-2). */
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createNodeClock } from "../../src/base/world/node-clock.ts";
import type { Session } from "../../src/runtime/session.ts";
import { createReporter, type OutputFormat } from "../../src/surfaces/headless/reporter.ts";
import { runHeadless } from "../../src/surfaces/headless/run-headless.ts";
import { createSink } from "../../src/surfaces/headless/sink.ts";
import { createSwitch } from "../../src/testing/switch.ts";
import { agent, calling, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const background = { run_in_background: true };
const hold = "mcp__test__hold";

function capture() {
  const pieces: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk.toString());
      done();
    },
  });
  return { sink: createSink(stream), text: () => pieces.join("") };
}

async function command(
  session: Session,
  options: { format?: OutputFormat; verbose?: boolean; noWait?: boolean } = {},
) {
  const stdout = capture();
  const stderr = capture();
  const clock = createNodeClock();
  let count = 0;
  const code = await runHeadless({
    open: async () => session,
    prompt: "go",
    reporter: createReporter({
      format: options.format ?? "text",
      stdout: stdout.sink,
      stderr: stderr.sink,
      verbose: options.verbose ?? false,
      context: {
        sessionId: session.id,
        uuid: () => `uuid-${++count}`,
        now: clock.now,
        includePartialMessages: false,
      },
      clock,
      version: "1",
      apiKeySource: () => "none",
    }),
    interruption: { signal: new AbortController().signal, exitCode: () => 130 },
    wantsStructuredOutput: false,
    patience: { noWait: options.noWait ?? false, clock, timeLimit: () => undefined },
  });
  const objects = () =>
    stdout
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout: stdout.text(), stderr: stderr.text(), objects };
}

const delegating: Plays = {
  *go() {
    yield { text: "Started.", calls: [agent("look", background)] };
    yield "It looks.";
    return "It has looked.";
  },
  look: calling({ name: hold, input: {} }),
};

/** The agent holds until the command waits for it. */
function delegated(): { session: Session } {
  const door = createSwitch();
  const { session } = scene.open(delegating, { tools: [door.tool(hold)], allowedTools: [hold] });
  const nextWork: Session["nextWork"] = (signal) => {
    door.open();
    return session.nextWork(signal);
  };
  return { session: Object.create(session, { nextWork: { value: nextWork } }) as Session };
}

describe("a command whose agent works in the background", () => {
  it("waits for it, and prints the answer to what it brought", async () => {
    const { session } = delegated();
    const { code, stdout } = await command(session);
    expect([code, stdout]).toEqual([0, "It has looked.\n"]);
  });

  it("tells of it in stream-json exactly once, after the message that called it", async () => {
    const { session } = delegated();
    const { objects } = await command(session, { format: "stream-json" });
    const kinds = objects().map(({ type, subtype }) => (type === "system" ? subtype : type));
    for (const kind of ["task_started", "task_notification"])
      expect(kinds.filter((each) => each === kind)).toHaveLength(1);
    expect(kinds.indexOf("task_started")).toBeGreaterThan(kinds.indexOf("assistant"));
    const started = objects().find(({ subtype }) => subtype === "task_started");
    expect(started).toMatchObject({ task_type: "local_agent", is_backgrounded: true });
    const inner = objects().filter(({ parent_tool_use_id: call }) => typeof call === "string");
    expect(inner.length).toBeGreaterThan(0);
    for (const each of inner) expect(each).toMatchObject({ parent_tool_use_id: started?.tool_use_id });
    expect(objects().find(({ subtype }) => subtype === "task_notification")).toMatchObject({
      task_id: started?.task_id,
      status: "completed",
      output_file: expect.stringContaining(`${started?.task_id}.txt`),
      receipt: { calls: 1, failed: 0 },
    });
    expect(objects().filter(({ type }) => type === "result")).toHaveLength(2);
  });

  it("does not wait when told so, and says what it stopped", async () => {
    const { session } = delegated();
    const { code, stdout, stderr } = await command(session, { noWait: true, verbose: true });
    expect([code, stdout]).toEqual([0, "It looks.\n"]);
    expect(stderr).toContain("1 background task was still at work and had to stop. To go on: cadre --resume");
    expect(stderr.match(/! Agent \S+ \(background\).*: stopped/g)).toHaveLength(1);
  });

  it("tells of a command in the background from its start to its end", async () => {
    const run = { command: "echo done", run_in_background: true };
    const { session } = scene.open(
      {
        *go() {
          yield { calls: [{ name: "Bash", input: run }] };
          yield "It runs.";
          return "It ran.";
        },
      },
      { allowedTools: ["Bash"] },
    );
    const { objects, code } = await command(session, { format: "stream-json" });
    expect(code).toBe(0);
    const tasks = objects().filter(({ subtype }) => /^task_/.test(String(subtype)));
    expect(tasks).toMatchObject([
      { subtype: "task_started", task_type: "local_bash", is_backgrounded: true },
      { subtype: "task_updated", patch: { status: "completed" } },
      { subtype: "task_notification", status: "completed", summary: expect.stringContaining("exit code 0") },
    ]);
    expect(objects().at(-1)).toMatchObject({ type: "result", result: "It ran." });
  });

  it("counts what all agents used in its result", async () => {
    const { session } = delegated();
    const { objects } = await command(session, { format: "json" });
    const { usage } = session.totals;
    expect(objects()).toMatchObject([
      { result: "It has looked.", num_turns: 3, usage: { output_tokens: usage.outputTokens } },
    ]);
  });

  it("does nothing else where nothing is in the background", async () => {
    const { session } = scene.open({ go: saying("here") });
    expect(await command(session, { verbose: true })).toMatchObject({
      code: 0,
      stdout: "here\n",
      stderr: "",
    });
  });
});
