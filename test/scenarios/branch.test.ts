/** A conversation that is branched: both can be gone on with, and what is at work stays where it was started. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/contracts/message.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import { findTasks } from "../../src/runtime/find-tasks.ts";
import { restoreSession } from "../../src/runtime/restore-session.ts";
import type { Session } from "../../src/runtime/session.ts";
import { createFaultyFiles } from "../../src/testing/faulty-files.ts";
import { createSwitch } from "../../src/testing/switch.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { sessionFiles } from "../../src/transcript/location.ts";
import { agent, calling, type Plays, textOfResult, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const hold = "mcp__test__hold";
const background = { run_in_background: true };

async function runRest(session: Session): Promise<void> {
  while (await session.nextWork()) for await (const _ of session.submit());
}

/** All that was said, results of calls as well. */
const said = (messages: readonly Message[]) =>
  messages
    .flatMap(({ content }) =>
      content.map((block) => (block.type === "tool_result" ? textOfResult(block.content) : textOf([block]))),
    )
    .join("\n");

const asMessage = ({ content }: Pick<Message, "content">) => ({ content }) as Message;

const restoreIn = (id: string) =>
  restoreSession({
    world: createTestWorld({ homeFolder: scene.home.path }),
    cwd: scene.workspace.path,
    which: { id },
  });

/** Opens a copy and goes on with it; the plays hear a prompt that they knew before. */
async function goOnWith(id: string, plays: Plays) {
  const restored = await restoreIn(id);
  return { restored, ...scene.open(plays, { restored }) };
}

const filesOf = (sessionId: string) =>
  sessionFiles({ homeFolder: scene.home.path, cwd: scene.workspace.path, sessionId });

const anything: Plays = {
  *"*"() {
    for (;;) yield "heard";
  },
};

describe("a branch of a conversation", () => {
  it("begins with the same bytes, and from there each goes its own way", async () => {
    const { session, run, model } = scene.open({ ...anything });
    await run("first");
    const { id } = await session.branch();
    expect(id).not.toBe(session.id);
    const copy = await goOnWith(id, { ...anything });
    expect(copy.restored.notes).toEqual([]);
    await copy.run("only there");
    await run("only here");
    const shared = model.requests[0];
    const there = copy.model.requests[0];
    expect(there?.system).toBe(shared?.system);
    expect(JSON.stringify(there?.messages.slice(0, 2))).toBe(JSON.stringify(session.messages.slice(0, 2)));
    expect(said(copy.session.messages)).not.toContain("only here");
    expect(said(session.messages)).not.toContain("only there");
  });

  it("can be branched again", async () => {
    const first = scene.open({ ...anything });
    await first.run("first");
    const second = await goOnWith((await first.session.branch()).id, { ...anything });
    await second.run("second");
    const third = await goOnWith((await second.session.branch()).id, { ...anything });
    expect(said(third.session.messages)).toContain("second");
    expect(third.restored.forkedFrom).toBe(second.session.id);
  });

  it("needs something that was said, and that is kept", async () => {
    const { session } = scene.open({});
    await expect(session.branch()).rejects.toThrow(/nothing to branch yet/);
    const unkept = scene.open({ ...anything }, { keepTranscript: false });
    await unkept.run("first");
    await expect(unkept.session.branch()).rejects.toThrow(/not kept.*--no-session-persistence/);
  });

  it("has the notes that were kept beside it", async () => {
    const { session, run } = scene.open({ ...anything });
    await run("first");
    const { folder } = filesOf(session.id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "notes.md"), "# What it is about\n");
    const { id } = await session.branch();
    expect(readFileSync(join(filesOf(id).folder, "notes.md"), "utf8")).toBe("# What it is about\n");
  });

  it("has results that were put away of its own, and the model is told where", async () => {
    await scene.workspace.write("long.txt", `${"many words ".repeat(20_000)}\n`);
    const { session, run } = scene.open(
      { first: calling({ name: "Bash", input: { command: "cat long.txt" } }) },
      { allowedTools: ["Bash"] },
    );
    await run("first");
    const names = readdirSync(filesOf(session.id).results);
    expect(names.length).toBeGreaterThan(0);
    const { id } = await session.branch();
    for (const name of names)
      expect(readFileSync(join(filesOf(id).results, name))).toEqual(
        readFileSync(join(filesOf(session.id).results, name)),
      );
    const copy = await goOnWith(id, { ...anything });
    await copy.run("go on");
    expect(said(copy.session.messages)).toContain(`in ${filesOf(id).results}: read them there.`);
    // Once: the next copy of it is told of its own.
    await copy.session.close();
    const again = await goOnWith(id, { ...anything });
    expect(again.session.queued).toBe(0);
  });
});

describe("what is at work when a conversation is branched", () => {
  const held = () => {
    const gate = createSwitch();
    return { gate, options: { tools: [gate.tool(hold)], allowedTools: [hold, "Bash"] } };
  };

  it("goes on in the session it was started in, and the copy is told so instead of that it was cut off", async () => {
    const { gate, options } = held();
    const { session, run } = scene.open(
      {
        *go() {
          yield {
            calls: [
              agent("endless", background),
              { name: "Bash", input: { command: "sleep 600", ...background } },
            ],
          };
          for (;;) yield "noted";
        },
        endless: calling({ name: hold, input: {} }),
      },
      options,
    );
    await run("go");
    await gate.reached(1);
    const { id } = await session.branch();
    const copy = await goOnWith(id, { ...anything });
    expect(copy.restored.notes).toEqual([]);
    await copy.run("and now?");
    const told = said(copy.session.messages);
    expect(session.tasks.list()).toHaveLength(2);
    for (const { id: taskId, outputFile } of session.tasks.list()) {
      expect(told).toContain(`${taskId} (`);
      expect(told).toContain(`What it writes is in ${outputFile}.`);
    }
    expect(told.match(/goes on in the session it was started in/g)).toHaveLength(2);
    expect(told).toContain(session.id);
    expect(told).not.toContain("interrupted");
    await copy.session.close();
    const world = createTestWorld({ homeFolder: scene.home.path });
    const listed = await findTasks({ world, cwd: scene.workspace.path, limit: 10 });
    expect(listed.map(({ status, session: { id: whose } }) => [status, whose])).toEqual([
      ["running", session.id],
      ["running", session.id],
    ]);
    const again = await goOnWith(id, { ...anything });
    expect(again.restored.notes).toEqual([]);
    await again.run("and now?");
    expect(said(again.session.messages)).toBe(`${told}\nand now?\nheard`);

    // The session itself hears of their real ends.
    session.tasks.stopAll("enough");
    await runRest(session);
    const heard = said(session.messages);
    expect(heard.match(/<task-notification>/g)).toHaveLength(2);
    expect(heard).not.toContain("goes on in the session");
  });

  it("answers the calls of a run that goes on meanwhile, in the copy alone", async () => {
    const { gate, options } = held();
    const { session, run } = scene.open(
      {
        go: calling(agent("endless"), { name: hold, input: {} }),
        endless: calling({ name: hold, input: {} }),
      },
      options,
    );
    const running = run("go");
    await gate.reached(2);
    const { id } = await session.branch();
    const restored = await restoreIn(id);
    const told = said(restored.messages);
    expect(told).toMatch(/The agent \w+ \("a task"\) goes on in the session it was started in/);
    expect(told).not.toContain("the process that ran it ended");
    expect(restored.reports).toEqual([]);
    expect(restored.added).toEqual([]);
    await restored.lock.release();
    gate.open();
    const { text } = await running;
    expect(text).toContain("went on");
  });

  it("was cut off, if no process has the session any more", async () => {
    const { gate, options } = held();
    const { session, run } = scene.open(
      {
        *go() {
          yield { calls: [agent("endless", background)] };
          for (;;) yield "noted";
        },
        endless: calling({ name: hold, input: {} }),
      },
      options,
    );
    await run("go");
    await gate.reached(1);
    // As a kill leaves it: nothing was told, and whoever holds the lock is gone.
    const home = join(scene.home.path, "killed");
    const projects = join(".cadre", "projects");
    cpSync(join(scene.home.path, projects), join(home, projects), { recursive: true });
    const cwd = scene.workspace.path;
    rmSync(sessionFiles({ homeFolder: home, cwd, sessionId: session.id }).lock);
    const world = createTestWorld({ homeFolder: home });
    const fork = { newId: world.random.uuid() };
    const restored = await restoreSession({ world, cwd, which: { id: session.id }, fork });
    expect(restored.notes).toEqual([expect.stringMatching(/^Agent \w+ .* was interrupted/)]);
    expect(said(restored.reports.map(asMessage))).toContain('Agent "a task" was interrupted');
    await restored.lock.release();
  });

  it("leaves nothing behind that would pass for a copy when the disk is full", async () => {
    const { session, run } = scene.open({ ...anything });
    await run("first");
    const before = readdirSync(filesOf(session.id).projectFolder);
    const world = createTestWorld({ homeFolder: scene.home.path });
    const files = createFaultyFiles(world.files, [{ operation: "write", at: 1, code: "ENOSPC" }]);
    const fork = { newId: world.random.uuid() };
    const cwd = scene.workspace.path;
    await expect(
      restoreSession({ world: { ...world, files }, cwd, which: { id: session.id }, fork }),
    ).rejects.toThrow(/ENOSPC/);
    expect(readdirSync(filesOf(session.id).projectFolder)).toEqual(before);
  });
});
