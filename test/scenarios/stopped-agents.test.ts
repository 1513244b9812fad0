/** What was stopped stays so, and what goes on after its end does not grow (TA-16, TA-21, TA-24). */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LaunchedAgent } from "../../src/agents/agent-result.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import type { Session } from "../../src/runtime/session.ts";
import { createSwitch } from "../../src/testing/switch.ts";
import { agent, type Plays, toolNames, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const hold = "mcp__test__hold";
const background = { run_in_background: true };
const message = (to: string, text = "one thing more") => ({
  name: "SendMessage",
  input: { to, message: text, summary: "one thing more" },
});

async function runRest(session: Session): Promise<void> {
  while (await session.nextWork()) for await (const _ of session.submit());
}

const heard = ({ messages }: Session) =>
  messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => textOf(content))
    .join("\n");

describe("an agent that is stopped while a message waits for it", () => {
  const plays: Plays = {
    *go() {
      yield { calls: [agent("work", { ...background, name: "worker" })] };
      yield { calls: [message("worker")] };
      return "sent";
    },
    *work() {
      yield { calls: [{ name: hold, input: {} }] };
      return "never";
    },
  };

  async function start() {
    const door = createSwitch();
    const opened = scene.open(plays, { tools: [door.tool(hold)], allowedTools: [hold] });
    await opened.run("go");
    await door.reached(1);
    const id = opened.session.tasks.list()[0]?.id ?? "";
    return { ...opened, id };
  }

  it("does not start itself again, and whoever wrote hears that it was not heard", async () => {
    const { session, requestsOf, id } = await start();
    session.tasks.stop(id, "enough");
    await runRest(session);
    expect(requestsOf("work")).toHaveLength(1);
    expect(session.tasks.get(id)?.status).toBe("killed");
    expect(heard(session).match(/<task-notification>/g)).toHaveLength(1);
    expect(heard(session)).toMatch(/1 message waits for the agent \w+/);
  });

  it("does not start again while the session closes", async () => {
    const { session, requestsOf, id } = await start();
    const starts: string[] = [];
    session.tasks.onChange(({ type, task }) => {
      if (type === "task-start") starts.push(task.id);
    });
    await session.close();
    expect(starts).toEqual([]);
    expect(requestsOf("work")).toHaveLength(1);
    expect(session.tasks.get(id)?.status).toBe("killed");
    const transcript = readFileSync(session.transcriptPath ?? "", "utf8");
    expect(transcript.match(/"mode":"task-notification"/g)).toHaveLength(1);
  });
});

describe("an agent that a message starts again", () => {
  const file = ".cadre/agents/reader.md";
  const plays: Plays = {
    *go() {
      const [result] = yield { calls: [agent("work", { ...background, subagent_type: "reader" })] };
      return /agentId: (\S+)/.exec(result?.text ?? "")?.[1] ?? "";
    },
    *again(task) {
      const id = /a[0-9a-v]{16}/.exec(task.heard.join(" "))?.[0] ?? "";
      yield { calls: [message(id)] };
      return "sent";
    },
    *work() {
      yield "first report";
      return "second report";
    },
  };

  it("goes on in its output file where that ended, under the call that wants it", async () => {
    await scene.workspace.write(file, "---\nname: reader\ndescription: reads\ntools: Read, Glob\n---\nRead.");
    const { session, run } = scene.open({
      ...plays,
      *again() {
        yield { calls: [message(id)] };
        return "sent";
      },
    });
    const { outputs } = await run("go");
    const { agentId: id, outputFile } = outputs[0] as LaunchedAgent;
    await runRest(session);
    await run("again");
    await runRest(session);
    const output = readFileSync(outputFile, "utf8");
    expect(output.match(/first report/g)).toHaveLength(2);
    expect(output.match(/second report/g)).toHaveLength(2);
    const calls = session.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
    );
    const told = [...heard(session).matchAll(/<tool-use-id>(\S+)<\/tool-use-id>/g)].map((match) => match[1]);
    expect(told).toEqual(calls);
  });

  it("has no more tools than before when its definition is gone, and says that it is", async () => {
    await scene.workspace.write(file, "---\nname: reader\ndescription: reads\ntools: Read, Glob\n---\nRead.");
    let id = "";
    const { session, run, requestsOf } = scene.open({
      ...plays,
      *again() {
        yield { calls: [message(id)] };
        return "sent";
      },
    });
    const { outputs } = await run("go");
    id = (outputs[0] as LaunchedAgent).agentId;
    await runRest(session);
    rmSync(join(scene.workspace.path, file));
    await run("again");
    await runRest(session);
    expect(toolNames(requestsOf("work").at(-1))).toEqual(["Read", "Glob"]);
    expect(heard(session)).toMatch(/its definition "reader" is gone/);
  });
});
