import { CadreError, systemCodeOf } from "../../base/errors.ts";
import { forTerminal } from "../../base/markup.ts";
import type { FileHandle } from "../../base/world.ts";
import { summarizeReceipt } from "../../contracts/receipt-summary.ts";
import { isGoingOn } from "../../contracts/task.ts";
import { totalTokensOf } from "../../contracts/usage.ts";
import { askSession } from "../../runtime/control-client.ts";
import { controlSocketPath } from "../../runtime/control-path.ts";
import { findTask } from "../../runtime/find-tasks.ts";
import { type FoundTask, readTaskRecords, tasksOfSession } from "../../runtime/recorded-tasks.ts";
import { runningSession } from "../../runtime/session-state.ts";
import { readTaskDetails, textsOfTranscript } from "../../runtime/task-details.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import type { Sink } from "../../surfaces/headless/sink.ts";
import { textOfEnd } from "../../tasks/output-text.ts";
import { type TasksRequest, withDetails } from "./tasks-request.ts";

/** Prints what is new since the last time. */
interface Source {
  printNew(): Promise<void>;
  /** When there will be nothing more. */
  finish(): Promise<void>;
}

/** `cadre tasks output ID` */
export async function printOutput(request: TasksRequest, id: string): Promise<number> {
  const { io, values } = request;
  const task = await findTask({ ...request.where, id });
  const handle = await openOutput(request, task);
  try {
    const source = handle ? fileSource(handle, io.stdout) : transcriptSource(request, task);
    if (!values.follow) {
      await source.printNew();
      await source.finish();
      return exitCodes.success;
    }
    return await follow(request, task, source);
  } finally {
    await handle?.close();
  }
}

/** Undefined: its text is made from its transcript. */
async function openOutput({ world }: TasksRequest, task: FoundTask): Promise<FileHandle | undefined> {
  const { outputFile } = task;
  const hasTranscript = task.meta !== undefined;
  if (outputFile !== undefined && (task.isBackgrounded || !hasTranscript)) {
    try {
      return await world.files.open(outputFile, "read");
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw error;
    }
  }
  if (hasTranscript) return undefined;
  const why = outputFile === undefined ? "it has written nothing" : `its output file ${outputFile} is gone`;
  throw new CadreError({
    code: "output-missing",
    message: `There is no output of the task ${task.id}: ${why}.`,
  });
}

const chunkBytes = 64 * 1024;

function fileSource(handle: FileHandle, stdout: Sink): Source {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let position = 0;
  let held = "";
  const print = async (text: string) => {
    // A line break of two characters may be cut in half.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    held = text.slice(end);
    await stdout.write(forTerminal(text.slice(0, end)));
  };
  return {
    async printNew() {
      while (!stdout.broken) {
        const chunk = await handle.read(position, chunkBytes);
        if (chunk.length === 0) return;
        position += chunk.length;
        await print(held + decoder.decode(chunk, { stream: true }));
      }
    },
    async finish() {
      await stdout.write(forTerminal(held + decoder.decode()));
      held = "";
    },
  };
}

function transcriptSource({ world, io, where }: TasksRequest, task: FoundTask): Source {
  let printed = 0;
  return {
    async printNew() {
      let count = 0;
      for await (const text of textsOfTranscript(world.files, task)) {
        if (io.stdout.broken) return;
        if (++count <= printed) continue;
        printed = count;
        await io.stdout.write(forTerminal(text));
      }
    },
    async finish() {
      const last = await findTask({ ...where, sessionId: task.session.id, id: task.id });
      const details = await readTaskDetails(world.files, last);
      await io.stdout.write(forTerminal(endText(withDetails(last, details), details)));
    },
  };
}

/** As at the end of an output file; of one that runs, or was interrupted, there is none. */
function endText(task: FoundTask, details: Awaited<ReturnType<typeof readTaskDetails>>): string {
  const { status, usage, toolUses = 0, durationMs = 0, error } = task;
  if (status === "interrupted" || status === "running" || status === "pending") return "";
  const receipt = details?.end?.receipt;
  return textOfEnd({
    status,
    result: details?.text,
    error,
    receipt: receipt && summarizeReceipt(receipt),
    usage: usage && { totalTokens: totalTokensOf(usage), toolUses, durationMs },
  });
}

const lookEveryMs = 500;

async function follow(request: TasksRequest, task: FoundTask, source: Source): Promise<number> {
  const { io, world } = request;
  const { signal } = io.interruption;
  io.interruption.listen();
  let askedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const isDue = world.clock.monotonicMs() - askedAt >= lookEveryMs;
    if (isDue) askedAt = world.clock.monotonicMs();
    // Asked before the look: what was written before its end is seen by it.
    const goesOn = !isDue || (await stillGoesOn(request, task));
    await source.printNew();
    if (!goesOn) {
      await source.finish();
      return exitCodes.success;
    }
    await pause(request, task.outputFile);
  }
  return io.interruption.exitCode();
}

async function stillGoesOn(request: TasksRequest, task: FoundTask): Promise<boolean> {
  const { world } = request;
  const { id, session } = task;
  try {
    const path = controlSocketPath(world, session.id);
    const { task: told } = await askSession({ world, path, question: { request: "task", taskId: id } });
    if (told.status === "running" || told.status === "pending") return true;
  } catch {
    // It has left the session's memory, or the session has ended: the files tell.
    const { tasks } = await tasksOfSession({ world, session, only: (each) => each === id });
    if (tasks.some(isGoingOn)) return true;
  }
  await untilRecorded(request, task);
  return false;
}

const mostLooks = 20;

/** The end of a task is known a moment before its output file is complete; its record comes after both. */
async function untilRecorded({ world, io }: TasksRequest, { id, session }: FoundTask): Promise<void> {
  for (let looks = 0; looks < mostLooks && !io.interruption.signal.aborted; looks++) {
    const record = (await readTaskRecords(world.files, session, (each) => each === id)).get(id);
    if (record === undefined || record.endedAt !== undefined) return;
    if ((await runningSession(world, session)) === undefined) return;
    await new Promise<void>((resolve) => void world.clock.setTimer(100, resolve));
  }
}

/** Until the file may have changed, it is time to look, or the user has enough. */
async function pause({ world, io }: TasksRequest, path: string | undefined): Promise<void> {
  const { signal } = io.interruption;
  let wake = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const timer = world.clock.setTimer(lookEveryMs, wake);
  const watcher = path === undefined ? undefined : world.files.watch(path, wake);
  signal.addEventListener("abort", wake);
  await woken;
  signal.removeEventListener("abort", wake);
  watcher?.close();
  timer.cancel();
}
