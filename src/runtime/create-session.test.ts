import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { PermissionAnswer } from "../contracts/permission.ts";
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
    const { files } = createNodeWorld();
    const loaded = await loadTranscript({ world: { files }, path });
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

  it("refuses to bypass permissions without the flag, also from settings", () => {
    expect(() => open([], { permissionMode: "bypassPermissions" })).toThrow(/dangerously-skip-permissions/);
    expect(() => open([], { settings: { permissions: { defaultMode: "bypassPermissions" } } })).toThrow();
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

  it("searches no file that a rule keeps from being read, whatever the search is called for", async () => {
    await workspace.write("secrets/key.txt", "the needle");
    await workspace.write("open.txt", "the needle");
    const { files } = createNodeWorld();
    await files.symlink(`${workspace.path}/secrets/key.txt`, `${workspace.path}/innocent.txt`);
    const search = (output_mode: string) => ({
      calls: [{ name: "Grep", input: { pattern: "needle", output_mode } }],
    });
    const { session } = open([search("content"), search("count"), search("files_with_matches"), "done"], {
      disallowedTools: ["Read(./secrets/**)"],
    });
    await run(session, "find the needle");
    for (const index of [2, 4, 6]) {
      const [result] = session.messages[index]?.content ?? [];
      const text = result?.type === "tool_result" ? String(result.content) : "";
      expect(text).toContain("open.txt");
      expect(text).not.toMatch(/key\.txt|innocent/);
    }
  });

  it("does not read through a link that was exchanged after it was judged", async () => {
    const { files } = createNodeWorld();
    await workspace.write("inside/note.txt", "harmless");
    await home.write("note.txt", "out of bounds");
    const link = `${workspace.path}/link`;
    await files.symlink(`${workspace.path}/inside`, link);
    let exchanged = false;
    const racing = {
      ...files,
      async realPath(path: string) {
        const real = await files.realPath(path);
        if (path.startsWith(link) && !exchanged) {
          exchanged = true;
          await files.remove(link);
          await files.symlink(home.path, link);
        }
        return real;
      },
    };
    const script = [{ calls: [{ name: "Read", input: { file_path: "link/note.txt" } }] }, "done"];
    const { session } = open(script, {}, { files: racing });
    await run(session, "read it");
    expect(exchanged).toBe(true);
    expect(session.messages[2]?.content[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining("another place"),
    });
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

describe("the permissions of a session", () => {
  const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

  /** A person who answers every question in the same way. */
  function answering(session: Session, answer: PermissionAnswer) {
    const asked: string[] = [];
    session.permissions.subscribe((change) => {
      if (change.type !== "question-open") return;
      asked.push(String(change.question.input.command ?? change.question.toolName));
      void session.permissions.answer(change.question.id, answer);
    });
    return asked;
  }

  it("are asked for once, and no more when they were granted for the session", async () => {
    const script = [bash("touch a"), bash("touch a"), bash("touch b"), "done"];
    const { session } = open(script);
    const asked = answering(session, { answer: "session" });
    await run(session, "go");
    expect(asked).toEqual(["touch a", "touch b"]);
    expect(await workspace.read("b")).toBe("");
    expect(session.permissions.decisions).toMatchObject([
      { tool: "Bash", decision: "allow", by: "person" },
      { tool: "Bash", decision: "allow", by: "rule", rule: { source: "session" } },
      { tool: "Bash", decision: "allow", by: "person" },
    ]);
  });

  it("that were granted for the project are written there, and not read from there before trust", async () => {
    const first = open([bash("touch a"), "done"]).session;
    answering(first, { answer: "project" });
    await run(first, "go");
    expect(JSON.parse(await workspace.read(".cadre/settings.local.json"))).toMatchObject({
      permissions: { allow: [expect.stringContaining("touch a")] },
    });
    const second = open([bash("touch a"), "done"]).session;
    expect((await run(second, "go")).permissionDenials).toHaveLength(1);
  });

  it("are told in the transcript, and why to the model", async () => {
    const { session, model } = open([bash("touch a"), "done"]);
    await run(session, "go");
    await session.close();
    const { files } = createNodeWorld();
    const records = (await files.readText(session.transcriptPath ?? "")).split("\n");
    expect(
      records.filter((line) => line.includes('"decision"')).map((line) => JSON.parse(line)),
    ).toMatchObject([
      expect.objectContaining({ type: "decision", tool: "Bash", decision: "deny", by: "nobody" }),
    ]);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("--allowed-tools 'Bash(touch a)'");
    const loaded = await loadTranscript({ world: createNodeWorld(), path: session.transcriptPath ?? "" });
    expect(loaded.problems).toEqual([]);
  });

  it("hold by rules of all forms, and rules that are not understood are told", async () => {
    const { session } = open([bash("touch a"), bash("rm a"), "done"], {
      allowedTools: ["Bash(touch:*)", "Bash(("],
      settings: { permissions: { deny: ["Bash(rm:*)"] } },
    });
    expect((await run(session, "go")).permissionDenials).toMatchObject([{ input: { command: "rm a" } }]);
    expect(session.permissions.warnings).toEqual([expect.stringContaining('"Bash(("')]);
  });

  it("follow a change of the mode while a question waits", async () => {
    const { session } = open([writeCall("x"), "done"]);
    session.permissions.subscribe((change) => {
      if (change.type === "question-open") session.setPermissionMode("acceptEdits");
    });
    expect((await run(session, "go")).permissionDenials).toEqual([]);
    expect(await workspace.read("note.txt")).toBe("x");
  });

  it("are refused when nobody answers in time", async () => {
    const { session } = open([bash("touch a"), "done"], { permissionTimeoutMs: 1 });
    session.permissions.subscribe(() => {});
    await run(session, "go");
    expect(session.permissions.decisions).toMatchObject([{ decision: "deny", by: "nobody" }]);
    expect(session.permissions.waiting).toEqual([]);
  });
});
