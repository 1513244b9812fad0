/**
 * A session with everything in the background that there is, as a kill after each of its writes would leave it: gone on
 * with from there, and perhaps killed once more. Each end is told exactly once, and no message is lost (TA-9, TA-25).
 */
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../src/base/world.ts";
import { restoreSession } from "../../src/runtime/restore-session.ts";
import type { Session } from "../../src/runtime/session.ts";
import { createSwitch } from "../../src/testing/switch.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { projectsFolder, sessionFiles } from "../../src/transcript/location.ts";
import { expectEachToldOnce } from "../crash/told-ends.ts";
import { provesInFull } from "../prove.ts";
import { agent, calling, type OpenedSession, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const sessionId = "7d9f1a34-0000-4000-8000-000000000003";
const background = { run_in_background: true };
const hold = "mcp__test__hold";
const wait = "mcp__test__wait";

/** Calls back after whatever was written is in its file. */
function watchWrites(files: FileSystem, onWrite: () => void): FileSystem {
  return {
    ...files,
    async open(path, mode, options) {
      const handle = await files.open(path, mode, options);
      return {
        ...handle,
        async write(data, position) {
          await handle.write(data, position);
          onWrite();
        },
      };
    },
  };
}

/** Copies of a home folder as it stands after each write to it, while `work` goes on. */
async function killsDuring(
  name: string,
  home: string,
  work: (files: FileSystem) => Promise<void>,
): Promise<string[]> {
  const copies: string[] = [];
  const files = watchWrites(createTestWorld().files, () => {
    const copy = join(scene.home.path, `${name}-${copies.length}`);
    // Without locks, since whoever held them is dead.
    const filter = (path: string) => !/\.lock(\.|$)/.test(path);
    if (existsSync(projectsFolder(home)))
      cpSync(projectsFolder(home), projectsFolder(copy), { recursive: true, filter });
    copies.push(copy);
  });
  await work(files);
  return copies;
}

async function runRest(session: Session): Promise<void> {
  while (await session.nextWork()) for await (const _ of session.submit());
}

const idOf = (text = "") => /agentId: (\w+)/.exec(text)?.[1] ?? "";

/**
 * A foreground agent that is moved and has a child of its own, one that a call waits for and that a message wakes
 * later, one that is stopped, one that is gone on with, and a shell.
 */
const story: Plays = {
  *go() {
    const started = yield {
      calls: [
        agent("waited", { ...background, name: "waited" }),
        agent("endless", background),
        agent("short", background),
        { name: "Bash", input: { command: "echo from the shell", ...background } },
        agent("upper"),
      ],
    };
    yield { calls: [{ name: "TaskOutput", input: { task_id: idOf(started[0]?.text) } }] };
    yield { calls: [{ name: "SendMessage", input: { to: "waited", message: "more", summary: "more" } }] };
    yield { calls: [{ name: "TaskStop", input: { task_id: idOf(started[1]?.text) } }] };
    yield { calls: [agent("again", { ...background, resume: idOf(started[2]?.text) })] };
    yield "gone on";
    for (;;) yield "noted";
  },
  *waited() {
    yield { calls: [{ name: wait, input: {} }] };
    yield "waited for";
    return "heard more";
  },
  endless: calling({ name: hold, input: {} }),
  *short() {
    yield "short";
    return "short again";
  },
  *upper() {
    yield { calls: [agent("lower", background)] };
    yield { calls: [{ name: hold, input: {} }] };
    return "upper is done";
  },
  lower: calling({ name: hold, input: {} }),
};

/** The main agent of a later life takes note; whoever else goes on is done. */
const laterStory: Plays = {
  *"*"() {
    for (;;) yield "noted";
  },
};

async function playStory(files: FileSystem): Promise<void> {
  const held = createSwitch();
  const awaited = createSwitch();
  const opened = scene.open(
    story,
    {
      sessionId,
      settings: { maxAgentDepth: 2 },
      tools: [held.tool(hold), awaited.tool(wait)],
      allowedTools: [hold, wait, "Bash"],
    },
    { world: { files } },
  );
  const { session, run } = opened;
  const running = run("go", (event) => {
    if (event.type === "call-start" && event.call.name === "TaskOutput") awaited.open();
  });
  await held.reached(3);
  const upper = session.tasks.list().find((task) => task.agent?.prompt === "upper");
  session.tasks.toBackground(upper?.id ?? "");
  await running;
  held.open();
  await runRest(session);
  await session.close();
}

/** The next process goes on with what a kill has left, until nothing is left to do. */
async function goOn(home: string, files = createTestWorld().files): Promise<void> {
  const restored = await restoreSession({
    world: createTestWorld({ homeFolder: home, files }),
    cwd: scene.workspace.path,
    which: { id: sessionId },
  });
  const opened: OpenedSession = scene.open(
    laterStory,
    { restored, settings: { maxAgentDepth: 2 } },
    { world: { homeFolder: home, files } },
  );
  await opened.run("and now?");
  await runRest(opened.session);
  await opened.session.close();
}

const filesIn = (home: string) => sessionFiles({ homeFolder: home, cwd: scene.workspace.path, sessionId });

async function expectAllTold(home: string): Promise<void> {
  await expectEachToldOnce(createTestWorld(), filesIn(home)).catch((error: unknown) => {
    throw new Error(`killed as in ${home}`, { cause: error });
  });
}

describe("a copy of a session with tasks in the background", () => {
  it("tells that they go on in the session itself, which tells of their real end", async () => {
    const held = createSwitch();
    const opened = scene.open(
      {
        *go() {
          yield { calls: [agent("endless", background), agent("short", background)] };
          for (;;) yield "noted";
        },
        endless: calling({ name: hold, input: {} }),
        short: saying("short"),
      },
      { sessionId, tools: [held.tool(hold)], allowedTools: [hold] },
    );
    const { session, run } = opened;
    await run("go");
    await held.reached(1);
    await session.nextWork();
    const newId = "7d9f1a34-0000-4000-8000-000000000004";
    const world = createTestWorld({ homeFolder: scene.home.path });
    const cwd = scene.workspace.path;
    const restored = await restoreSession({ world, cwd, which: { id: sessionId }, fork: { newId } });
    const copy = scene.open(laterStory, { restored });
    await copy.run("and now?");
    await runRest(copy.session);
    await copy.session.close();
    const files = sessionFiles({ homeFolder: scene.home.path, cwd, sessionId: newId });
    const copied = readFileSync(files.transcript, "utf8");
    expect(copied).toContain(`goes on in the session it was started in, ${sessionId}`);
    expect(copied).not.toContain("was interrupted");

    held.open();
    await runRest(session);
    await session.close();
    await expectAllTold(scene.home.path);
    expect(readFileSync(session.transcriptPath ?? "", "utf8")).not.toContain("was interrupted");
  });
});

describe("a session that is killed after any of its writes", () => {
  it("tells of each end exactly once when it is gone on with", {
    timeout: provesInFull ? 1_200_000 : 60_000,
  }, async () => {
    const kills = await killsDuring("first", scene.home.path, playStory);
    await expectAllTold(scene.home.path);
    const left = kills.filter((home) => existsSync(filesIn(home).transcript));
    expect(left.length).toBeGreaterThan(40);
    // Each moment, and from each a second kill after any write: in the long proof all of them, here some.
    for (const [index, home] of left.entries()) {
      if (!provesInFull && index % 4 > 0) continue;
      const copies = await killsDuring(`second-${index}`, home, (files) => goOn(home, files));
      await expectAllTold(home);
      for (const copy of provesInFull ? copies : copies.slice(index % copies.length).slice(0, 1)) {
        await goOn(copy);
        await expectAllTold(copy);
      }
      for (const copy of copies) rmSync(copy, { recursive: true, force: true });
    }
  });
});
