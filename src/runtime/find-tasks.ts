/** Which tasks there are, in sessions that run and in those that are over. */

import { CadreError, systemCodeOf } from "../base/errors.ts";
import { toOneLine } from "../base/one-line.ts";
import type { World } from "../base/world.ts";
import { isGoingOn } from "../contracts/task.ts";
import { projectFolderOf } from "../transcript/location.ts";
import { type FoundSession, findProjectFolders, findSession, findSessions } from "./find-sessions.ts";
import { type FoundTask, tasksOfSession } from "./recorded-tasks.ts";
import { runningSession } from "./session-state.ts";

export interface WhereToLook {
  readonly world: World;
  /** The sessions of this folder. */
  readonly cwd: string;
  /** Only this one. */
  readonly sessionId?: string;
  /** Those of all folders. */
  readonly all?: boolean;
}

/** The latest first. Throws `session-unknown`. */
export async function findTasks(
  options: WhereToLook & { readonly limit: number; readonly runningOnly?: boolean },
): Promise<FoundTask[]> {
  const { world, limit, runningOnly = false } = options;
  let found: FoundTask[] = [];
  for (const session of await sessionsIn(options)) {
    const running = await runningSession(world, session);
    if (runningOnly && running === undefined) continue;
    const oldest = found.length >= limit ? found.at(-1)?.startedAt : undefined;
    if (oldest !== undefined && running === undefined && (await lastStartIn(world, session)) < oldest)
      continue;
    const tasks = (await tasksUnlessGone(world, session)).filter((task) => !runningOnly || isGoingOn(task));
    found = eachOnce([...found, ...tasks])
      .sort((a, b) => b.startedAt - a.startedAt)
      .slice(0, limit);
  }
  return found;
}

/**
 * By its id, or by a beginning of it that no other task shares. Looks in the sessions of the folder first, then in all
 * others, unless one is named. Throws `session-unknown`, `task-unknown` or `task-ambiguous`.
 */
export async function findTask(options: WhereToLook & { readonly id: string }): Promise<FoundTask> {
  const { id } = options;
  const near = await sessionsIn(options);
  const found = (await findIn(options, near)) ?? (await findElsewhere(options, near));
  if (found !== undefined) return found;
  throw new CadreError({
    code: "task-unknown",
    message: `There is no task ${toOneLine(id, 100)}${options.sessionId === undefined ? "" : " in this session"}; cadre tasks lists them.`,
    data: { id },
  });
}

async function sessionsIn({ world, cwd, sessionId, all }: WhereToLook): Promise<FoundSession[]> {
  if (sessionId !== undefined) return [await findSession({ world, cwd, which: { id: sessionId } })];
  const folders = all
    ? await findProjectFolders(world)
    : [projectFolderOf({ homeFolder: world.homeFolder, cwd })];
  const found = await Promise.all(folders.map((folder) => findSessions(world.files, folder)));
  return found.flat().sort((a, b) => b.modifiedMs - a.modifiedMs);
}

async function findElsewhere(
  options: WhereToLook & { id: string },
  looked: readonly FoundSession[],
): Promise<FoundTask | undefined> {
  if (options.sessionId !== undefined || options.all) return undefined;
  const known = new Set(looked.map(({ files }) => files.transcript));
  const others = await sessionsIn({ ...options, all: true });
  return await findIn(
    options,
    others.filter(({ files }) => !known.has(files.transcript)),
  );
}

/** A copy of a session has the same tasks: the one that runs is meant, else that of the latest session. */
async function findIn(
  { world, id }: { world: World; id: string },
  sessions: readonly FoundSession[],
): Promise<FoundTask | undefined> {
  const candidates = new Map<string, FoundTask>();
  for (const session of await runningFirst(world, sessions)) {
    for (const task of await tasksUnlessGone(world, session, (each) => each.startsWith(id))) {
      if (task.id === id) return task;
      if (!candidates.has(task.id)) candidates.set(task.id, task);
    }
  }
  if (candidates.size > 1) throw ambiguous(id, [...candidates.values()]);
  return [...candidates.values()][0];
}

async function runningFirst(world: World, sessions: readonly FoundSession[]): Promise<FoundSession[]> {
  const running = await Promise.all(
    sessions.map(async (session) => (await runningSession(world, session)) !== undefined),
  );
  return [
    ...sessions.filter((_, index) => running[index]),
    ...sessions.filter((_, index) => !running[index]),
  ];
}

/** The same run may stand in copies of its session, which know nothing of its end: the session that does is asked. */
function eachOnce(tasks: readonly FoundTask[]): FoundTask[] {
  const runs = new Map<string, FoundTask>();
  for (const task of tasks) {
    const run = `${task.id} ${task.startedAt}`;
    if (runs.get(run)?.status !== "interrupted" && runs.has(run)) continue;
    runs.set(run, task);
  }
  return [...runs.values()];
}

/** What is certain without reading it: no task of a session that is over began later. */
async function lastStartIn(world: World, { modifiedMs, files }: FoundSession): Promise<number> {
  const info = await world.files.stat(files.subagents).catch(() => undefined);
  return Math.max(modifiedMs, info?.mtimeMs ?? 0) + latestFileMs;
}

/** The file of an agent comes to be after the agent, but for the last moments before a crash. */
const latestFileMs = 10_000;

/** A session may be cleaned up while one looks at it. */
async function tasksUnlessGone(
  world: World,
  session: FoundSession,
  only?: (id: string) => boolean,
): Promise<readonly FoundTask[]> {
  try {
    return (await tasksOfSession({ world, session, ...(only && { only }) })).tasks;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}

const mostNamed = 5;

function ambiguous(id: string, candidates: readonly FoundTask[]): CadreError {
  const named = candidates
    .slice(0, mostNamed)
    .map((task) => `${task.id} ("${toOneLine(task.description, 60)}")`);
  const more = candidates.length > mostNamed ? ` and ${candidates.length - mostNamed} more` : "";
  return new CadreError({
    code: "task-ambiguous",
    message: `${toOneLine(id, 100)} is the beginning of several tasks: ${named.join(", ")}${more}. Give more of the id.`,
    data: { id, candidates: candidates.map((task) => task.id) },
  });
}
