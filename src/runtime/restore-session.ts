/** Brings back a session that ended or was interrupted, with everything that had been acknowledged (TA-24, TA-25). */
import { counted } from "../base/counted.ts";
import type { Lock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import type { Message } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { taskOfEndId } from "../tasks/background.ts";
import { type AgentStanding, answerFor } from "../transcript/agent-standing.ts";
import { type AgentTranscripts, createAgentTranscripts } from "../transcript/agent-transcripts.ts";
import type { SessionFiles } from "../transcript/location.ts";
import { type LoadedTranscript, loadTranscript } from "../transcript/reader.ts";
import type { HeadRecord, PrefixRecord } from "../transcript/record.ts";
import { type FoundSession, findSession, type WhichSession } from "./find-sessions.ts";
import { lockSession } from "./lock-session.ts";
import { reportUntoldEnds } from "./untold-ends.ts";

export interface RestoredSession {
  readonly id: string;
  readonly forkedFrom?: string;
  readonly files: SessionFiles;
  /** Held for whoever writes the transcript next: released when that is closed. */
  readonly lock: Lock;
  /** Its other agents; to be closed with the session. */
  readonly transcripts: AgentTranscripts;
  readonly head: HeadRecord | undefined;
  readonly prefix: PrefixRecord | undefined;
  readonly messages: readonly Message[];
  /** Those at the end of `messages` that must be recorded before anything else is. */
  readonly added: readonly Message[];
  readonly waiting: readonly QueueItem[];
  /** Ends of which nobody has heard, to be put into the queue. What is recorded there is not reported again. */
  readonly reports: readonly QueueItem[];
  readonly agents: readonly AgentStanding[];
  /** For a person: lost lines, interrupted agents, another folder. */
  readonly notes: readonly string[];
}

export interface RestoreOptions {
  readonly world: World;
  /** Absolute. */
  readonly cwd: string;
  readonly which: WhichSession;
  /** Goes on with a copy that has the id `newId`. */
  readonly fork?: { readonly newId: string };
}

export async function restoreSession(options: RestoreOptions): Promise<RestoredSession> {
  const { world, fork } = options;
  const found = await findSession(options);
  const place = fork === undefined ? found : await branchOf(found, options);
  const lock = await lockSession({ world, files: place.files });
  try {
    const transcripts = createAgentTranscripts({ world, folder: place.files.subagents });
    const agents = await transcripts.list();
    const loaded = await loadTranscript({
      world,
      path: place.files.transcript,
      interruptedAgents: async () => answerFor(agents, undefined),
    });
    const { messages, added, reports, interrupted } = reportUntoldEnds(loaded, agents);
    return {
      id: place.id,
      ...(loaded.head?.forkedFrom !== undefined && { forkedFrom: loaded.head.forkedFrom }),
      files: place.files,
      lock,
      transcripts,
      head: loaded.head,
      prefix: loaded.prefix,
      messages,
      added,
      waiting: await unheard(loaded, { agents, transcripts }),
      reports,
      agents,
      notes: notesOf({ loaded, told: interrupted, cwd: options.cwd }),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * What was for another agent may stand in its transcript already, also if it was to go to another one at that moment.
 * None of them lives now: the end of what such an agent had started is told to the main one (TA-7), a message waits
 * until its receiver goes on.
 */
async function unheard(
  { waiting, tasks }: LoadedTranscript,
  { agents, transcripts }: { agents: readonly AgentStanding[]; transcripts: AgentTranscripts },
): Promise<readonly QueueItem[]> {
  const parents = new Map([
    ...tasks.map(({ id, parentAgentId }) => [id, parentAgentId] as const),
    ...agents.map(({ meta }) => [meta.agentId, meta.parentAgentId] as const),
  ]);
  const heard = new Map<string, ReadonlySet<string> | undefined>();
  const hasHeard = async (agentId: string, uuid: string) => {
    if (!heard.has(agentId)) heard.set(agentId, (await transcripts.read(agentId))?.queueItems);
    return heard.get(agentId)?.has(uuid) === true;
  };
  const left: QueueItem[] = [];
  for (const { target, ...item } of waiting) {
    let isHeard = false;
    for (const agentId of receiversOf({ ...item, target }, parents))
      isHeard ||= await hasHeard(agentId, item.uuid);
    if (isHeard) continue;
    left.push(target === undefined || item.mode === "task-notification" ? item : { ...item, target });
  }
  return left;
}

/** To whom it was sent; the end of a task may have been for any agent above it before. */
function receiversOf(
  { uuid, target }: Pick<QueueItem, "uuid" | "target">,
  parents: ReadonlyMap<string, string | undefined>,
): Iterable<string> {
  const receivers = new Set(target === undefined ? [] : [target]);
  const taskId = taskOfEndId(uuid);
  let above = taskId === undefined ? undefined : parents.get(taskId);
  for (; above !== undefined && !receivers.has(above); above = parents.get(above)) receivers.add(above);
  return receivers;
}

async function branchOf(
  from: FoundSession,
  { world, cwd, fork }: RestoreOptions,
): Promise<Pick<FoundSession, "id" | "files">> {
  const { branchSession } = await import("./branch-session.ts");
  return await branchSession({ world, from, cwd, newId: fork?.newId });
}

function notesOf(options: {
  loaded: LoadedTranscript;
  told: readonly AgentStanding[];
  cwd: string;
}): string[] {
  const { loaded, told, cwd } = options;
  const notes: string[] = [];
  if (loaded.head !== undefined && loaded.head.cwd !== cwd)
    notes.push(`This session was held in ${loaded.head.cwd}. It goes on in ${cwd}.`);
  const [first] = loaded.problems;
  if (first !== undefined)
    notes.push(
      `${counted(loaded.problems.length, "line")} of the transcript could not be read (line ${first.line}: ${first.problem}). The rest is there.`,
    );
  if (loaded.droppedMessages > 0)
    notes.push(
      `The conversation is too long to be kept whole: it goes on without its first ${counted(loaded.droppedMessages, "message")}. The transcript has them.`,
    );
  for (const { meta } of told.slice(0, mostNamed))
    notes.push(
      `Agent ${meta.agentId} (${meta.agentType}, "${meta.description}") was interrupted. It can be resumed.`,
    );
  if (told.length > mostNamed)
    notes.push(
      `${counted(told.length - mostNamed, "more agent")} ${told.length - mostNamed === 1 ? "was" : "were"} interrupted. The model is told of each.`,
    );
  return notes;
}

/** A person reads some lines; of a thousand agents the rest would bury everything else. */
const mostNamed = 10;
