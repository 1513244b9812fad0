import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { CadreError } from "../../base/errors.ts";
import { createNodeClock } from "../../base/world/node-clock.ts";
import type { LoopEnd, LoopEvent } from "../../contracts/event.ts";
import { ModelError } from "../../model/model-error.ts";
import type { RunResult } from "../../runtime/session.ts";
import { besideOf, createScriptedAgent } from "../../testing/scripted-agent.ts";
import {
  answerEvents,
  appended,
  createScriptedSession,
  modelEvent,
  type ScriptedRun,
  type ScriptedSession,
  untilInterrupted,
} from "../../testing/scripted-session.ts";
import type { TimeLimit } from "./await-work.ts";
import { createReporter, type OutputFormat } from "./reporter.ts";
import { runHeadless } from "./run-headless.ts";
import { createSink } from "./sink.ts";

function capture(isTTY = false) {
  const pieces: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk.toString());
      done();
    },
  });
  return { sink: createSink(Object.assign(stream, { isTTY })), text: () => pieces.join("") };
}

async function run(options: {
  script: ScriptedRun;
  format?: OutputFormat;
  partial?: boolean;
  verbose?: boolean;
  terminal?: boolean;
  schema?: boolean;
  interruption?: AbortController;
  open?: () => never;
  /** What happens to the session from outside. */
  meanwhile?: (session: ScriptedSession) => void;
  transcriptPath?: string;
  noWait?: boolean;
  timeLimit?: TimeLimit;
}) {
  const stdout = capture(options.terminal);
  const stderr = capture(options.terminal);
  const { transcriptPath } = options;
  const session = createScriptedSession(
    options.script,
    transcriptPath === undefined ? {} : { transcriptPath },
  );
  options.meanwhile?.(session);
  const clock = createNodeClock();
  let count = 0;
  const controller = options.interruption ?? new AbortController();
  const code = await runHeadless({
    open: async () => options.open?.() ?? session,
    prompt: "do it",
    reporter: createReporter({
      format: options.format ?? "text",
      stdout: stdout.sink,
      stderr: stderr.sink,
      verbose: options.verbose ?? false,
      context: {
        sessionId: session.id,
        uuid: () => `uuid-${++count}`,
        now: () => 0,
        includePartialMessages: options.partial ?? false,
      },
      clock,
      version: "1.2.3",
      apiKeySource: () => "none",
    }),
    interruption: { signal: controller.signal, exitCode: () => 130 },
    wantsStructuredOutput: options.schema ?? false,
    patience: { noWait: options.noWait ?? false, clock, timeLimit: () => options.timeLimit },
  });
  const lines = () =>
    stdout
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout: stdout.text(), stderr: stderr.text(), lines, session };
}

const says = (text: string, changes: Partial<RunResult> = {}): ScriptedRun =>
  async function* () {
    yield* answerEvents(text);
    return { text, ...changes };
  };

const endsWith = (end: LoopEnd, text = ""): ScriptedRun => says(text, { end, text });

const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "npm\ntest" } } as const;
const calls: LoopEvent[] = [
  appended({ role: "user", content: [{ type: "text", text: "do it" }] }),
  appended({ role: "assistant", content: [call], stopReason: "tool_use" }),
  { type: "call-start", call },
  {
    type: "call-end",
    call,
    result: { type: "tool_result", tool_use_id: "toolu_1", content: "a\nb\n" },
    durationMs: 1500,
  },
  appended({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a\nb\n" }] }),
];
const usesTool: ScriptedRun = async function* () {
  yield* calls;
  yield* answerEvents("done");
  return { text: "done", turns: 2 };
};

describe("text output", () => {
  it("is the final text and nothing else", async () => {
    const { code, stdout, stderr, session } = await run({ script: usesTool });
    expect([code, stdout, stderr]).toEqual([0, "done\n", ""]);
    expect(session.submitted).toEqual(["do it"]);
    expect(session.closed).toBe(true);
  });

  it("shows tool calls on standard error when asked", async () => {
    const { stdout, stderr } = await run({ script: usesTool, verbose: true });
    expect(stdout).toBe("done\n");
    expect(stderr).toBe("* Bash npm test ...\n* Bash npm test (2 lines, 1.5 s)\n");
  });

  it("leaves control sequences alone in a pipe and neutralises them on a terminal", async () => {
    const script = says("red \u001b[31m\u009b2J");
    expect((await run({ script })).stdout).toContain("\u001b[31m");
    const shown = (await run({ script, terminal: true })).stdout;
    expect(shown).not.toMatch(/[\u001b\u009b]/);
    expect(shown).toContain("red ^[");
  });

  it("prints structured output as JSON, and fails when there is none", async () => {
    const fits = await run({ script: says("ok", { structuredOutput: { n: 1 } }), schema: true });
    expect(JSON.parse(fits.stdout)).toEqual({ n: 1 });
    const misfit = await run({ script: says("just words"), schema: true });
    expect(misfit.code).toBe(1);
    expect(misfit.stderr).toContain("JSON schema");
  });

  it.each<[LoopEnd, number, RegExp]>([
    [{ reason: "max_turns", limit: 3 }, 1, /limit of 3 turns/],
    [
      { reason: "budget_exhausted", budget: "cost", message: "spent $1." },
      1,
      /spent \$1\. Raise it with --max-cost\.$/m,
    ],
    [{ reason: "context_exhausted", message: "too long" }, 1, /too long/],
    [
      { reason: "model_error", error: new ModelError({ kind: "unavailable", message: "refused" }) },
      3,
      /cadre: refused/,
    ],
    [
      { reason: "model_error", error: new ModelError({ kind: "unauthorized", message: "bad key" }) },
      3,
      /bad key/,
    ],
    [{ reason: "model_error", error: new ModelError({ kind: "rejected", message: "no" }) }, 1, /cadre: no/],
    [
      {
        reason: "model_error",
        error: new CadreError({ code: "transcript-unwritable", message: "the disk is full" }),
      },
      2,
      /disk is full/,
    ],
    [{ reason: "hook_stopped", message: "enough" }, 0, /by a hook: enough/],
    [{ reason: "completed", stopReason: "max_tokens" }, 0, /cut off/],
    [{ reason: "completed", stopReason: "refusal" }, 0, /declined/],
  ])("ends with the right exit code for %j", async (end, code, complaint) => {
    const result = await run({ script: endsWith(end, "so far") });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(complaint);
    expect(result.stdout).toBe("so far\n");
  });
});

describe("json output", () => {
  it("is one result object", async () => {
    const usage = { inputTokens: 1, outputTokens: 2, cacheWriteTokens: 3, cacheReadTokens: 4 };
    const { stdout, lines } = await run({
      script: says("hi", {
        usage,
        usageByModel: { scripted: usage },
        costUsd: 0.25,
        permissionDenials: [{ toolName: "Bash", toolUseId: "t", input: { command: "x" } }],
      }),
      format: "json",
    });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(lines()[0]).toMatchObject({
      type: "result",
      subtype: "success",
      is_error: false,
      duration_ms: 12,
      duration_api_ms: 7,
      num_turns: 1,
      result: "hi",
      stop_reason: "end_turn",
      session_id: "11111111-1111-4111-8111-111111111111",
      total_cost_usd: 0.25,
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 4,
      },
      modelUsage: { scripted: { inputTokens: 1, cacheCreationInputTokens: 3 } },
      permission_denials: [{ tool_name: "Bash", tool_use_id: "t", tool_input: { command: "x" } }],
      terminal_reason: "completed",
    });
  });

  it("does not call an unknown cost zero", async () => {
    const { lines } = await run({ script: says("hi", { costUsd: undefined }), format: "json" });
    expect(lines()[0]?.total_cost_usd).toBeNull();
  });

  it.each<[LoopEnd, string]>([
    [{ reason: "max_turns", limit: 1 }, "error_max_turns"],
    [{ reason: "budget_exhausted", budget: "cost", message: "m" }, "error_max_budget_usd"],
    [{ reason: "budget_exhausted", budget: "tokens", message: "m" }, "error_during_execution"],
    [{ reason: "aborted", during: "tools", why: "w" }, "error_during_execution"],
  ])("names how %j went wrong, without a result", async (end, subtype) => {
    const result = (await run({ script: endsWith(end, "x"), format: "json" })).lines()[0];
    expect(result).toMatchObject({ subtype, is_error: true, terminal_reason: end.reason });
    expect(result).not.toHaveProperty("result");
    expect(result?.errors).toHaveLength(1);
  });

  it("is there also when no session could be opened", async () => {
    const { code, lines, stderr } = await run({
      script: says("never"),
      format: "json",
      open: () => {
        throw new CadreError({ code: "model-key-missing", message: "export a key" });
      },
    });
    expect(code).toBe(3);
    expect(lines()[0]).toMatchObject({ is_error: true, errors: ["export a key"] });
    expect(stderr).toBe("cadre: export a key\n");
  });
});

describe("stream-json output", () => {
  it("tells the run as it happens: init, assistant, user, result", async () => {
    const { lines } = await run({ script: usesTool, format: "stream-json" });
    expect(lines().map((line) => line.type)).toEqual(["system", "assistant", "user", "assistant", "result"]);
    const [init, assistant, user] = lines();
    expect(init).toMatchObject({
      subtype: "init",
      cwd: "/project",
      tools: ["Read", "Bash"],
      model: "scripted",
      permissionMode: "default",
      session_id: "11111111-1111-4111-8111-111111111111",
    });
    expect(assistant).toMatchObject({
      message: { id: "msg_1", type: "message", role: "assistant", content: [call], stop_reason: "tool_use" },
      parent_tool_use_id: null,
      uuid: "22222222-2222-4222-8222-222222222222",
    });
    expect(user).toMatchObject({ message: { role: "user", content: [{ type: "tool_result" }] } });
    for (const line of lines())
      expect(line).toMatchObject({ uuid: expect.any(String), session_id: expect.any(String) });
  });

  it("adds the pieces in the provider's own words when asked", async () => {
    const script: ScriptedRun = async function* () {
      yield* answerEvents("hi");
      yield modelEvent({ type: "block-start", index: 1, block: { type: "tool_use", id: "t", name: "Read" } });
      yield modelEvent({ type: "block-delta", index: 1, delta: { type: "input-json", json: '{"a' } });
      yield modelEvent({
        type: "block-delta",
        index: 2,
        delta: { type: "signature", signature: "sig" },
      });
      return {};
    };
    const { lines } = await run({ script, format: "stream-json", partial: true });
    const events = lines().flatMap((line) => (line.type === "stream_event" ? [line.event] : []));
    expect(events).toMatchObject([
      { type: "message_start", message: { id: "msg_1", role: "assistant", content: [] } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "t", name: "Read", input: {} },
      },
      { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: '{"a' } },
      { type: "content_block_delta", delta: { type: "signature_delta", signature: "sig" } },
    ]);
    const without = await run({ script, format: "stream-json" });
    expect(without.lines().some((line) => line.type === "stream_event")).toBe(false);
  });
});

describe("an interruption", () => {
  it("ends the run, still reports it, closes the session, and decides the exit code", async () => {
    const interruption = new AbortController();
    const script: ScriptedRun = async function* ({ interrupted }) {
      yield { type: "turn-start", turn: 1 };
      interruption.abort();
      return await untilInterrupted(interrupted);
    };
    const { code, lines, session } = await run({ script, format: "json", interruption });
    expect(code).toBe(130);
    expect(lines()[0]).toMatchObject({ is_error: true, terminal_reason: "aborted" });
    expect(session.closed).toBe(true);
  });

  it("that came before the run keeps it from starting", async () => {
    const interruption = new AbortController();
    interruption.abort();
    const { code, session } = await run({ script: says("never"), interruption });
    expect(code).toBe(130);
    expect(session.submitted).toEqual([]);
    expect(session.closed).toBe(true);
  });
});

describe("a run with an agent", () => {
  const agent = createScriptedAgent("a");
  const delegates: ScriptedRun = async function* () {
    yield appended({ role: "assistant", content: [agent.call], stopReason: "tool_use" });
    yield agent.start;
    yield* agent.turn({ name: "Read", input: { file_path: "x" } });
    yield agent.end();
    yield agent.callEnd();
    yield* answerEvents("all said");
    return { text: "all said" };
  };

  it("prints nothing but the final answer as text", async () => {
    const { stdout, stderr } = await run({ script: delegates });
    expect([stdout, stderr]).toEqual(["all said\n", ""]);
  });

  it("tells of it on standard error when asked", async () => {
    const { stdout, stderr } = await run({ script: delegates, verbose: true });
    expect(stdout).toBe("all said\n");
    expect(stderr).toBe(
      [
        "* Agent Explore: task of a ...",
        "  Explore: Read x (1 line)",
        "* Agent Explore: done (12 calls, 8,310 tokens, 4.2 s)\n",
      ].join("\n"),
    );
  });

  it("says in stream-json which agents there are, and what each said and did", async () => {
    const { lines } = await run({ script: delegates, format: "stream-json" });
    expect(lines()[0]).toMatchObject({ subtype: "init", agents: ["Explore"] });
    expect(lines().filter((line) => line.parent_tool_use_id === "call-a")).toMatchObject([
      { type: "assistant", agent_id: "a" },
      { type: "user" },
    ]);
  });

  it("leaves none open when the run is over", async () => {
    const script: ScriptedRun = async function* () {
      yield agent.start;
      return { text: "done" };
    };
    const { lines } = await run({ script, format: "stream-json" });
    expect(lines().map(({ subtype }) => subtype)).toEqual([
      "init",
      "task_started",
      "task_updated",
      "task_notification",
      "success",
    ]);
    const { stderr } = await run({ script, verbose: true });
    expect(stderr).toContain("! Agent Explore: stopped (0 calls, 0 tokens)\n");
  });

  it("leaves none open in stream-json when the run fails", async () => {
    const { lines } = await run({
      script: async function* () {
        yield agent.start;
        throw new Error("broken");
      },
      format: "stream-json",
    });
    expect(lines().map(({ type, subtype }) => subtype ?? type)).toEqual([
      "init",
      "task_started",
      "task_updated",
      "task_notification",
      "error_during_execution",
    ]);
  });
});

describe("background tasks", () => {
  /** The first run leaves a task behind; each later one says what it is given. */
  function withTask(onSecond: Partial<RunResult> = {}): {
    script: ScriptedRun;
    meanwhile: (session: ScriptedSession) => void;
    stopped: string[];
  } {
    let current: ScriptedSession | undefined;
    const stopped: string[] = [];
    return {
      stopped,
      meanwhile: (session) => {
        current = session;
      },
      script: async function* ({ content }) {
        if (content === undefined) {
          yield* answerEvents("second");
          return { text: "second", turns: 3, durationMs: 100, ...onSecond };
        }
        const run = current?.tasks.register(
          { id: "b1", kind: "local_bash", description: "wait", command: "sleep 1", isBackgrounded: true },
          {
            stop(reason) {
              stopped.push(reason);
              run?.end({ status: "killed" });
            },
          },
        );
        yield* answerEvents("first");
        const denial = { toolName: "Bash", toolUseId: "t", input: {} };
        return { text: "first", permissionDenials: [denial] };
      },
    };
  }
  const ends = (session: ScriptedSession) => {
    session.tasks.end("b1", { status: "completed", exitCode: 0 });
    session.wake();
  };
  /** Calls back when the session waits. */
  const whenWaiting = (scene: ReturnType<typeof withTask>, act: (session: ScriptedSession) => void) => ({
    script: scene.script,
    meanwhile(session: ScriptedSession) {
      scene.meanwhile(session);
      const { nextWork } = session;
      let calls = 0;
      session.nextWork = (signal) => {
        const waiting = nextWork(signal);
        if (++calls === 1) queueMicrotask(() => act(session));
        return waiting;
      };
    },
  });

  it("are waited for, and the last answer is the result", async () => {
    const { code, stdout, session } = await run(whenWaiting(withTask(), ends));
    expect([code, stdout]).toEqual([0, "second\n"]);
    expect(session.submitted).toEqual(["do it", undefined]);
  });

  it("count in the numbers of the result", async () => {
    const { lines } = await run({ ...whenWaiting(withTask(), ends), format: "json" });
    expect(lines()).toMatchObject([
      {
        result: "second",
        num_turns: 4,
        duration_ms: 112,
        duration_api_ms: 14,
        permission_denials: [{ tool_name: "Bash" }],
      },
    ]);
  });

  it("end the wait when none is left, without another run", async () => {
    const { code, stdout, session } = await run(
      whenWaiting(withTask(), ({ tasks }) => void tasks.end("b1", { status: "completed" })),
    );
    expect([code, stdout]).toEqual([0, "first\n"]);
    expect(session.submitted).toHaveLength(1);
  });

  it("leave the last thing that was said, when a later run says nothing", async () => {
    const { stdout } = await run(whenWaiting(withTask({ text: "" }), ends));
    expect(stdout).toBe("first\n");
  });

  it("are stopped by an interrupt, which ends the wait", async () => {
    const scene = withTask();
    const interruption = new AbortController();
    const { code, stdout, stderr } = await run({
      ...whenWaiting(scene, () => interruption.abort()),
      interruption,
      transcriptPath: "/t.jsonl",
    });
    expect([code, stdout]).toEqual([130, "first\n"]);
    expect(scene.stopped).toHaveLength(1);
    expect(stderr).toContain("Interrupted: while waiting for background tasks\n");
    expect(stderr).toContain(
      "1 background task was still at work and had to stop. To go on: cadre --resume 1",
    );
  });

  it("are not waited for when told so, and it is said what became of them", async () => {
    const scene = withTask();
    const { code, stdout, stderr } = await run({
      script: scene.script,
      meanwhile: scene.meanwhile,
      noWait: true,
    });
    expect([code, stdout]).toEqual([0, "first\n"]);
    expect(stderr).toBe("cadre: 1 background task was still at work and had to stop.\n");
    expect(scene.stopped).toHaveLength(1);
  });

  it("are waited for as long as the session may take", async () => {
    const scene = withTask();
    const { code, stderr, lines } = await run({
      ...whenWaiting(scene, () => {}),
      format: "json",
      timeLimit: { minutes: 1, endsAtMs: 0 },
    });
    expect(code).toBe(1);
    expect(lines()).toMatchObject([{ is_error: true, terminal_reason: "budget_exhausted" }]);
    expect(stderr).toContain(
      "The time budget of the session is used up: 1 minute. Raise it with --max-minutes.",
    );
    expect(scene.stopped).toHaveLength(1);
  });

  it("are not waited for after a run that failed", async () => {
    const end: LoopEnd = { reason: "max_turns", limit: 3 };
    const scene = withTask({ end });
    const { code, stderr } = await run(
      whenWaiting(scene, (session) => {
        session.tasks.register(
          { id: "b2", kind: "local_bash", description: "more", isBackgrounded: true },
          { stop: (reason) => void scene.stopped.push(reason) },
        );
        ends(session);
      }),
    );
    expect(code).toBe(1);
    expect(stderr).toContain("the limit of 3 turns");
    expect(scene.stopped).toHaveLength(1);
  });

  it("have a result of their own for every run in stream-json, and are told as ended", async () => {
    const { lines } = await run({ ...whenWaiting(withTask(), ends), format: "stream-json" });
    const kinds = lines().map(({ type, subtype }) => (type === "system" ? subtype : type));
    expect(kinds).toEqual([
      "init",
      "assistant",
      "background_tasks_changed",
      "task_started",
      "result",
      "background_tasks_changed",
      "task_updated",
      "task_notification",
      "init",
      "assistant",
      "result",
    ]);
    const results = lines().filter(({ type }) => type === "result");
    expect(results.map(({ result }) => result)).toEqual(["first", "second"]);
  });

  it("are told as stopped when the command ends before them, also where they never said so", async () => {
    for (const isDeaf of [false, true]) {
      const scene = withTask();
      const { lines } = await run({
        script: scene.script,
        meanwhile(session) {
          scene.meanwhile(session);
          if (isDeaf) session.tasks.stopAll = () => 0;
        },
        format: "stream-json",
        noWait: true,
      });
      const ended = lines().filter(({ subtype }) => subtype === "task_notification");
      expect(ended).toMatchObject([{ task_id: "b1", status: "stopped" }]);
      const lists = lines().filter(({ subtype }) => subtype === "background_tasks_changed");
      expect(lists).toMatchObject([{ tasks: [{ task_id: "b1", task_type: "local_bash" }] }, { tasks: [] }]);
    }
  });

  it("have lines on standard error when asked", async () => {
    const agent = createScriptedAgent("a");
    const { stderr } = await run({
      ...whenWaiting(withTask(), (session) => {
        session.tell(besideOf(agent.start));
        session.tell(besideOf(agent.end()));
        ends(session);
      }),
      verbose: true,
    });
    expect(stderr).toBe(
      [
        "* Agent Explore: task of a ... in the background",
        "* Agent Explore (background): task of a: done (12 calls, 8,310 tokens, 4.2 s)",
        "* Bash sleep 1 (background): exit 0 (0.0 s)",
        "",
      ].join("\n"),
    );
  });

  it("keep the answer that fits the schema, when a later run has none", async () => {
    const scene = withTask();
    const withOutput: ScriptedRun = async function* (options) {
      const result = yield* scene.script(options);
      return options.content === undefined ? result : { ...result, structuredOutput: { fits: true } };
    };
    const { code, stdout } = await run({
      ...whenWaiting({ ...scene, script: withOutput }, ends),
      schema: true,
    });
    expect([code, JSON.parse(stdout)]).toEqual([0, { fits: true }]);
  });
});
