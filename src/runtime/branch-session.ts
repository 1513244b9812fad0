/**
 * Branches a conversation: a copy of a session under an id of its own, so that both can be gone on with. The one that
 * is copied is only read, and may be in use. What is at work in it stays there: the copy is told so, once, under the
 * ids under which it would otherwise hear that this was cut off.
 */

import { CadreError, systemCodeOf } from "../base/errors.ts";
import { isoTime } from "../base/iso-time.ts";
import { escapeText } from "../base/markup.ts";
import type { World } from "../base/world.ts";
import type { Message } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { isGoingOn } from "../contracts/task.ts";
import { endIdOf } from "../tasks/background.ts";
import { type AgentStanding, answerFor } from "../transcript/agent-standing.ts";
import { createAgentTranscripts } from "../transcript/agent-transcripts.ts";
import { type SessionFiles, sessionFiles } from "../transcript/location.ts";
import { type LoadedTranscript, loadTranscript } from "../transcript/reader.ts";
import type { AgentAnswer } from "../transcript/repair.ts";
import { transcriptVersion } from "../transcript/version.ts";
import { openTranscript, type TranscriptWriter } from "../transcript/writer.ts";
import type { FoundSession } from "./find-sessions.ts";
import { copySession } from "./fork-session.ts";
import { runningSession } from "./session-state.ts";
import { reportUntoldEnds } from "./untold-ends.ts";

export interface BranchOptions {
  readonly world: World;
  readonly from: FoundSession;
  /** Where the copy is gone on with. Absolute. */
  readonly cwd: string;
  /** A UUID; default: a new one. */
  readonly newId?: string | undefined;
}

export interface Branch {
  readonly id: string;
  readonly files: SessionFiles;
}

export async function branchSession(options: BranchOptions): Promise<Branch> {
  const { world, from, cwd } = options;
  const id = options.newId ?? world.random.uuid();
  const files = sessionFiles({ homeFolder: world.homeFolder, cwd, sessionId: id });
  const running = await runningSession(world, from);
  const timestamp = isoTime(world.clock.now());
  const head = { version: transcriptVersion, sessionId: id, cwd, timestamp, forkedFrom: from.id };
  try {
    await copySession({ world, from: from.files, to: files, head: { type: "head", ...head } });
    await settle({ world, files, from, sinceMs: running?.sinceMs });
  } catch (error) {
    // What was there before is none of ours.
    if (systemCodeOf(error) !== "EEXIST") await discard(world, files);
    throw error;
  }
  return { id, files };
}

/** Of a session that is open here, with all that it has said until now. */
export async function branchOpenSession(options: {
  world: World;
  cwd: string;
  id: string;
  files: SessionFiles;
  transcript: Pick<TranscriptWriter, "path" | "durable">;
  messages: readonly Message[];
}): Promise<Branch> {
  const { world, cwd, id, files, transcript, messages } = options;
  if (transcript.path === undefined)
    throw new CadreError({
      code: "session-not-kept",
      message:
        "This conversation is not kept, so there is nothing to branch. Start without --no-session-persistence.",
    });
  if (messages.length === 0)
    throw new CadreError({
      code: "nothing-to-branch",
      message: "There is nothing to branch yet: say something first.",
    });
  await transcript.durable();
  return await branchSession({ world, cwd, from: { id, files, modifiedMs: world.clock.now() } });
}

interface Copy {
  readonly world: World;
  readonly files: SessionFiles;
  readonly from: FoundSession;
  /** What has begun since then runs in a process that lives; undefined: there is no such process. */
  readonly sinceMs: number | undefined;
}

/** Records in the copy what is not as its transcript says. */
async function settle(copy: Copy): Promise<void> {
  const items = [...(await aboutWork(copy)), ...(await aboutResults(copy))];
  if (items.length === 0) return;
  const writer = await openTranscript({ world: copy.world, path: copy.files.transcript });
  try {
    for (const item of items) writer.append({ type: "queue", item });
    await writer.durable();
  } finally {
    await writer.close();
  }
}

/** Also answers the calls that are at work, since only here it is known that they are. */
async function aboutWork(copy: Copy): Promise<QueueItem[]> {
  const { world, files, from, sinceMs } = copy;
  if (sinceMs === undefined) return [];
  const transcripts = createAgentTranscripts({ world, folder: files.subagents });
  try {
    const agents = await transcripts.list();
    const goesOn = (agent: AgentStanding) => agent.status === "interrupted" && lastHeardOf(agent) >= sinceMs;
    const loaded = await loadTranscript({
      world,
      path: files.transcript,
      interruptedAgents: async () => answersIn(agents, { goesOn, from }),
    });
    const { added, reports } = reportUntoldEnds(loaded, agents);
    if (added.length > 0) await recordMessages(copy, added);
    const works = worksIn(loaded, { agents, goesOn, sinceMs });
    return reports.flatMap((report) => {
      const work = works.get(report.uuid) ?? works.get(interruptedIn(report.uuid) ?? "");
      return work === undefined ? [] : [{ ...report, content: reminder(aboutOne(work, from)) }];
    });
  } finally {
    await transcripts.close();
  }
}

function lastHeardOf({ meta, lastMessageAt }: AgentStanding): number {
  return Date.parse(lastMessageAt ?? meta.startedAt);
}

/** What unanswered calls of the main agent are answered with. */
function answersIn(
  agents: readonly AgentStanding[],
  { goesOn, from }: { goesOn: (agent: AgentStanding) => boolean; from: FoundSession },
): AgentAnswer {
  const ofOthers = answerFor(
    agents.filter((agent) => !goesOn(agent)),
    undefined,
  );
  const atWork = agents.filter(goesOn);
  return (call) => {
    const agent = atWork.find(
      ({ meta: { agentId, toolUseId, parentAgentId } }) =>
        (parentAgentId === undefined && toolUseId === call.id) || agentId === call.input.resume,
    );
    return agent === undefined ? ofOthers(call) : aboutOne(workOf(agent), from);
  };
}

async function recordMessages({ world, files }: Copy, messages: LoadedTranscript["added"]): Promise<void> {
  const writer = await openTranscript({ world, path: files.transcript });
  try {
    for (const message of messages) writer.append({ type: "message", message });
    await writer.durable();
  } finally {
    await writer.close();
  }
}

/** Something that was at work when the copy was made. */
interface Work {
  readonly what: string;
  readonly outputFile: string | undefined;
}

/** By agent, and of all else by the id of the report of its end. */
function worksIn(
  { tasks }: LoadedTranscript,
  options: {
    agents: readonly AgentStanding[];
    goesOn: (agent: AgentStanding) => boolean;
    sinceMs: number;
  },
): ReadonlyMap<string, Work> {
  const { agents, goesOn, sinceMs } = options;
  const running = new Map(
    tasks.filter((task) => isGoingOn(task) && task.startedAt >= sinceMs).map((task) => [task.id, task]),
  );
  const works = new Map<string, Work>();
  for (const agent of agents) {
    const { agentId } = agent.meta;
    const task = running.get(agentId);
    running.delete(agentId);
    // One that was woken may not have written anything yet.
    if (task !== undefined || goesOn(agent))
      works.set(agentId, { ...workOf(agent), outputFile: task?.outputFile });
  }
  for (const { id, kind, description, outputFile } of running.values()) {
    const what = kind === "local_bash" ? "background command" : "task";
    works.set(endIdOf(id, undefined), { what: `The ${what} ${id} ("${description}")`, outputFile });
  }
  return works;
}

function workOf({ meta }: AgentStanding): Work {
  return { what: `The agent ${meta.agentId} ("${meta.description}")`, outputFile: undefined };
}

/** Of which agent such a report says that it was cut off. One that has ended meanwhile is told of as such. */
function interruptedIn(uuid: string): string | undefined {
  return /^interrupted:([^:]+)/.exec(uuid)?.[1];
}

function aboutOne({ what, outputFile }: Work, { id }: FoundSession): string {
  const file = outputFile === undefined ? "" : ` What it writes is in ${outputFile}.`;
  return `${what} goes on in the session it was started in, ${id}, of which this conversation is a copy. What comes of it is told there, not here: do not start it again.${file}`;
}

/** The paths in the conversation stay as they were sent; the files themselves are the copy's own. */
async function aboutResults({ world, files, from }: Copy): Promise<QueueItem[]> {
  const copied = await world.files.readFolder(files.results).catch(() => []);
  if (copied.length === 0) return [];
  return [
    {
      uuid: world.random.uuid(),
      mode: "prompt",
      priority: "later",
      content: reminder(
        `This conversation is a copy of the session ${from.id}. Results that were put away in ${from.files.results} are, under the same names, in ${files.results}: read them there.`,
      ),
    },
  ];
}

function reminder(text: string): QueueItem["content"] {
  return [{ type: "text", text: `<system-reminder>\n${escapeText(text)}\n</system-reminder>` }];
}

/** Half a copy would pass for a whole one. */
async function discard({ files: disk }: World, files: SessionFiles): Promise<void> {
  await disk.remove(files.transcript, { force: true }).catch(() => {});
  await disk.remove(files.folder, { recursive: true, force: true }).catch(() => {});
}
