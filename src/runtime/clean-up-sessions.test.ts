import { existsSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { World } from "../base/world.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { sessionFiles } from "../transcript/location.ts";
import { isCleanUpDue } from "./clean-up-due.ts";
import { cleanUpSessions } from "./clean-up-sessions.ts";
import { lockSession } from "./lock-session.ts";

let workspace: TempWorkspace;
let world: World;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path });
});
afterEach(() => workspace.remove());

const dayS = 24 * 60 * 60;
const filesOf = (number: number) =>
  sessionFiles({
    homeFolder: world.homeFolder,
    cwd: "/project",
    sessionId: `00000000-0000-4000-8000-00000000000${number}`,
  });

async function leave(number: number, ageDays: number): Promise<void> {
  const files = filesOf(number);
  await world.files.makeFolder(files.subagents, { recursive: true, mode: 0o700 });
  await world.files.writeFile(`${files.subagents}/agent-a.jsonl`, "{}\n");
  await world.files.writeFile(files.transcript, "{}\n");
  const then = world.clock.now() / 1000 - ageDays * dayS;
  for (const path of [files.transcript, files.folder]) utimesSync(path, then, then);
}

describe("the clean-up of old sessions", () => {
  it("removes those that are older than the period, with all their files", async () => {
    await leave(1, 31);
    await leave(2, 29);
    await cleanUpSessions({ world, days: undefined });
    expect([existsSync(filesOf(1).transcript), existsSync(filesOf(1).folder)]).toEqual([false, false]);
    expect([existsSync(filesOf(2).transcript), existsSync(filesOf(2).folder)]).toEqual([true, true]);
    const names = (await world.files.readFolder(filesOf(1).projectFolder)).map(({ name }) => name);
    expect(names.filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("spares one that is in use, however old", async () => {
    await leave(1, 100);
    const lock = await lockSession({ world, files: filesOf(1) });
    await cleanUpSessions({ world, days: 1 });
    expect(existsSync(filesOf(1).transcript)).toBe(true);
    await lock.release();
    await cleanUpSessions({ world, days: 1 });
    expect(existsSync(filesOf(1).transcript)).toBe(false);
  });

  it("removes the folder that a clean-up which was cut off has left, and nothing that is not a session", async () => {
    await leave(1, 31);
    await world.files.remove(filesOf(1).transcript);
    const other = `${filesOf(1).projectFolder}/notes`;
    await world.files.makeFolder(other);
    utimesSync(other, 0, 0);
    await cleanUpSessions({ world, days: 30 });
    expect([existsSync(filesOf(1).folder), existsSync(other)]).toEqual([false, true]);
  });

  it("is due once a day, with 0 days always, and says nothing where there is nothing", async () => {
    await cleanUpSessions({ world, days: 30 });
    await leave(1, 0);
    expect(await isCleanUpDue({ world, days: undefined })).toBe(true);
    await cleanUpSessions({ world, days: undefined });
    expect(await isCleanUpDue({ world, days: undefined })).toBe(false);
    expect(await isCleanUpDue({ world, days: 0 })).toBe(true);
    const tomorrow = { ...world.clock, now: () => world.clock.now() + 25 * 60 * 60 * 1000 };
    expect(await isCleanUpDue({ world: { ...world, clock: tomorrow }, days: 7 })).toBe(true);
    expect(existsSync(filesOf(1).transcript)).toBe(true);
    const later = { ...world.clock, now: () => world.clock.now() + 10 };
    await cleanUpSessions({ world: { ...world, clock: later }, days: 0 });
    expect(existsSync(filesOf(1).transcript)).toBe(false);
  });
});
