import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import type { LoopEvent } from "../contracts/event.ts";
import { createFaultyFiles } from "../testing/faulty-files.ts";
import { createScriptedModel, type Script } from "../testing/scripted-model.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { loadTranscript } from "../transcript/reader.ts";
import { createSession } from "./create-session.ts";
import type { RunResult, Session, SessionOptions } from "./session.ts";

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

function open(script: Script, options: Partial<SessionOptions> = {}, parts: Partial<World> = {}) {
  const model = createScriptedModel(script);
  const world = createTestWorld({ homeFolder: home.path, ...parts });
  const session = createSession({ world, cwd: workspace.path, model, settings: {}, ...options });
  return { session, model };
}

async function run(session: Session, prompt?: string): Promise<RunResult & { events: LoopEvent[] }> {
  const events: LoopEvent[] = [];
  const running = session.submit(prompt);
  for (;;) {
    const step = await running.next();
    if (step.done) return { ...step.value, events };
    events.push(step.value);
  }
}

const writeCall = (content: string) => ({
  calls: [{ name: "Write", input: { file_path: "note.txt", content } }],
});

describe("a session", () => {
  it("keeps the whole conversation in one private transcript", async () => {
    const { session } = open(["hello", "again"]);
    expect((await run(session, "hi")).text).toBe("hello");
    expect((await run(session, "more")).text).toBe("again");
    await session.close();
    const path = session.transcriptPath ?? "";
    const { files, random } = createNodeWorld();
    const loaded = await loadTranscript({ world: { files, random }, path });
    expect(loaded.head).toMatchObject({ sessionId: session.id, cwd: workspace.path });
    expect(loaded.prefix?.tools.map((tool) => tool.name)).toEqual(session.toolNames);
    expect(loaded.messages).toEqual(session.messages);
    expect((await files.stat(path)).mode & 0o777).toBe(0o600);
  });

  it("runs what only reads, and nothing else without leave", async () => {
    const script: Script = [writeCall("x"), "could not"];
    const denied = await run(open(script).session, "write it");
    expect(denied.permissionDenials).toMatchObject([{ toolName: "Write" }]);
    await expect(workspace.read("note.txt")).rejects.toThrow();

    const allowed = await run(
      open([writeCall("x"), "done"], { allowedTools: ["Write"] }).session,
      "write it",
    );
    expect(allowed.permissionDenials).toEqual([]);
    expect(await workspace.read("note.txt")).toBe("x");
  });

  it("accepts edits inside the folder in acceptEdits, and none through a link that leads out", async () => {
    const { files } = createNodeWorld();
    await files.symlink(home.path, `${workspace.path}/out`);
    const outside = { calls: [{ name: "Write", input: { file_path: "out/note.txt", content: "x" } }] };
    const { session } = open([writeCall("x"), outside, "done"], { permissionMode: "acceptEdits" });
    const result = await run(session, "write it");
    expect(await workspace.read("note.txt")).toBe("x");
    expect(result.permissionDenials).toMatchObject([{ input: { file_path: "out/note.txt" } }]);
  });

  it("asks the surface once, and for the session when told so", async () => {
    const asked: string[] = [];
    const surface = {
      askPermission: async ({ toolName }: { toolName: string }) => {
        asked.push(toolName);
        return { answer: "session" } as const;
      },
    };
    const script = [
      { calls: [{ name: "Bash", input: { command: "touch a" } }] },
      { calls: [{ name: "Bash", input: { command: "touch b" } }] },
      "done",
    ];
    await run(open(script, { surface }).session, "go");
    expect(asked).toEqual(["Bash"]);
    expect(await workspace.read("b")).toBe("");
  });

  it("refuses to bypass permissions without the flag, also from settings, and rules it does not understand", () => {
    expect(() => open([], { permissionMode: "bypassPermissions" })).toThrow(/dangerously-skip-permissions/);
    expect(() => open([], { settings: { permissions: { defaultMode: "bypassPermissions" } } })).toThrow();
    expect(() => open([], { allowedTools: ["Bash(git:*)"] })).toThrow(/Bash\(git:\*\)/);
  });

  it("does not show tools that are denied as a whole, and refuses them if called", async () => {
    const { session, model } = open([{ calls: [{ name: "Bash", input: { command: "ls" } }] }, "ok"], {
      disallowedTools: ["Bash", "Write"],
    });
    await run(session, "go");
    expect(model.requests[0]?.tools.map((tool) => tool.name)).not.toContain("Bash");
    expect(session.toolNames).not.toContain("Write");
    expect(session.messages[2]?.content[0]).toMatchObject({ is_error: true });
  });

  it("takes what was queued during a run, and runs what is left over on its own", async () => {
    const { session } = open([{ calls: [{ name: "Glob", input: { pattern: "*" } }] }, "first", "second"]);
    const running = session.submit("go");
    let queued = false;
    for (let step = await running.next(); !step.done; step = await running.next()) {
      if (step.value.type === "call-start" && !queued) {
        queued = true;
        await session.enqueue("and this");
      }
      if (step.value.type === "turn-start" && step.value.turn === 2) await session.enqueue("later");
    }
    expect(session.messages[2]?.content.map((block) => block.type)).toEqual(["tool_result", "text"]);
    expect(session.queued).toBe(1);
    expect((await run(session)).text).toBe("second");
    expect(session.queued).toBe(0);
  });

  it("keeps two sessions in one process apart", async () => {
    const one = open([{ calls: [{ name: "TodoWrite", input: { todos: [] } }] }, "one"]).session;
    const two = open([{ calls: [{ name: "Bash", input: { command: "cd /" } }] }, "two"]).session;
    const results = await Promise.all([run(one, "go"), run(two, "go")]);
    expect(results.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(one.transcriptPath).not.toBe(two.transcriptPath);
  });

  it("refuses a second run at a time, a session id that is taken, and a cost limit it cannot watch", async () => {
    const { session } = open(["a", "b"], { sessionId: "6f2e1f0e-0000-4000-8000-000000000001" });
    const running = session.submit("go");
    await running.next();
    await expect(session.submit("me too").next()).rejects.toMatchObject({ code: "session-busy" });
    for await (const _ of running);
    await session.close();
    const again = open(["a"], { sessionId: "6f2e1f0e-0000-4000-8000-000000000001" }).session;
    await expect(run(again, "go")).rejects.toMatchObject({ code: "session-exists" });
    const priced = { ...createScriptedModel(["a"]), provider: "anthropic", id: "mystery-model" };
    expect(() => open([], { model: priced, maxCostUsd: 1 })).toThrow(/mystery-model/);
  });

  it("says clearly that the home cannot be written, and runs without a transcript when told to", async () => {
    const path = `${home.path}/file-not-folder`;
    await home.write("file-not-folder", "");
    await expect(run(open(["a"], {}, { homeFolder: path }).session, "go")).rejects.toMatchObject({
      code: "transcript-unwritable",
      message: expect.stringContaining("--no-session-persistence"),
    });
    const unkept = open(["a"], { keepTranscript: false }, { homeFolder: path }).session;
    expect((await run(unkept, "go")).text).toBe("a");
    expect(unkept.transcriptPath).toBeUndefined();
  });

  it("loses nothing acknowledged when the disk fills up, and goes on when there is room again", async () => {
    const world = createNodeWorld();
    const files = createFaultyFiles(world.files, [{ operation: "sync", at: 2, code: "ENOSPC" }]);
    const { session } = open([{ calls: [{ name: "Glob", input: { pattern: "*" } }] }, "done"], {}, { files });
    await expect(run(session, "go")).rejects.toMatchObject({
      message: expect.stringContaining("Free some space"),
    });
    // The fault is over: everything that was said is there, and the conversation can go on.
    await session.close();
    const loaded = await loadTranscript({ world, path: session.transcriptPath ?? "" });
    expect(loaded.problems).toEqual([]);
    expect(loaded.messages).toEqual(session.messages);
    expect(loaded.messages).toHaveLength(3);
  });

  it("gives the answer as a value that fits the schema", async () => {
    const outputSchema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const script = [
      { calls: [{ name: "StructuredOutput", input: { count: "three" } }] },
      { calls: [{ name: "StructuredOutput", input: { count: 3 } }] },
      "done",
    ];
    const result = await run(open(script, { outputSchema }).session, "count");
    expect(result.structuredOutput).toEqual({ count: 3 });
  });

  it("closes at once in the middle of a run, with every call answered on disk", async () => {
    const { session } = open([{ calls: [{ name: "Bash", input: { command: "sleep 60" } }] }], {
      allowedTools: ["Bash"],
    });
    const running = session.submit("go");
    for (let step = await running.next(); !step.done; step = await running.next()) {
      if (step.value.type === "call-start") session.interrupt();
    }
    await session.close();
    const world = createNodeWorld();
    const loaded = await loadTranscript({ world, path: session.transcriptPath ?? "" });
    expect(loaded.messages.at(-1)?.content[0]).toMatchObject({ type: "tool_result", is_error: true });
  });
});
