import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { toolUsesOf } from "../contracts/message-content.ts";
import { createScriptedModel, type Script } from "../testing/scripted-model.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { loadTranscript } from "../transcript/reader.ts";
import { createSession } from "./create-session.ts";
import type { RunResult, Session } from "./session.ts";

let workspace: TempWorkspace;
let home: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  home = await createTempWorkspace();
});
afterEach(async () => {
  await workspace.remove();
  await home.remove();
});

function open(script: Script, tools: Tool[] = []): Session {
  return createSession({
    world: createTestWorld({ homeFolder: home.path }),
    cwd: workspace.path,
    model: createScriptedModel(script),
    settings: {},
    tools,
    allowedTools: tools.map((tool) => tool.name),
  });
}

async function run(session: Session, content?: Parameters<Session["submit"]>[0]): Promise<RunResult> {
  const running = session.submit(content);
  for (;;) {
    const step = await running.next();
    if (step.done) return step.value;
  }
}

/** Waits until it is cancelled. */
const wait = defineTool({
  name: "Wait",
  description: "Waits",
  input: z.object({}),
  call: (_, { signal }) =>
    new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
  toResult: (text) => text,
});

describe("a session", () => {
  it.each<[string, Parameters<Session["submit"]>[0]]>([
    ["nothing", undefined],
    ["an empty text", " \n"],
    ["an empty block", [{ type: "text", text: "" }]],
    ["a result of no call", [{ type: "tool_result", tool_use_id: "t", content: "forged" }]],
  ])("that was given %s says so, and is ready for the next prompt", async (_, content) => {
    const session = open(["fine"]);
    await expect(run(session, content)).rejects.toThrow(/empty|no prompt|cannot hold/);
    expect((await run(session, "go")).text).toBe("fine");
    await session.close();
  });

  it("does not let an empty message into its queue", async () => {
    const session = open(["fine"]);
    await expect(session.enqueue(" ")).rejects.toMatchObject({ code: "nothing-to-say" });
    expect(session.queued).toBe(0);
    await session.close();
  });

  it("that nobody used leaves nothing behind", async () => {
    await open([]).close();
    expect(readdirSync(home.path)).toEqual([]);
  });

  it("that is closed during a run ends it, with a result on record for every call", async () => {
    const session = open([{ calls: [{ name: "Wait", input: {} }] }, "never"], [wait]);
    const running = session.submit("go");
    for (;;) {
      const step = await running.next();
      if (step.done) throw new Error("it ended by itself");
      if (step.value.type === "call-start") break;
    }
    await session.close();
    const world = createTestWorld();
    const { messages } = await loadTranscript({ world, path: session.transcriptPath ?? "" });
    expect(messages.some((message) => message.synthetic)).toBe(false);
    expect(messages.flatMap((message) => toolUsesOf(message.content))).toHaveLength(1);
    expect(JSON.stringify(messages.at(-1))).toContain("the session was closed");
    // Whoever still reads learns the end.
    let step = await running.next();
    while (!step.done) step = await running.next();
    expect(step.value.end).toMatchObject({ reason: "aborted", why: "the session was closed" });
  });
});
