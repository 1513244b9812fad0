/**
 * surfaces/headless/ owns runs that nobody watches: one prompt or a stream of messages in, a result out,
 * an exit code. It gets its streams, its session and its interruption handed in.
 */
import type { LoopEnd } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";
import { awaitWork, type Patience, stopWhatIsLeft } from "./await-work.ts";
import { describeEnd } from "./describe-end.ts";
import { driveRun } from "./drive-run.ts";
import { exitCodeOfEnd, exitCodeOfError, exitCodes } from "./exit-code.ts";
import type { Reporter } from "./reporter.ts";
import { type FinishedRun, problemOf } from "./wire-result.ts";

/** A wish from outside that the run should end: a signal, or a reader who left. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Of the process, if the interruption ended the run. */
  exitCode(): number;
}

export interface HeadlessOptions {
  readonly open: () => Promise<Session>;
  readonly prompt: string;
  readonly reporter: Reporter;
  readonly interruption: Interruption;
  readonly wantsStructuredOutput: boolean;
  readonly patience: Patience;
}

export async function runHeadless(options: HeadlessOptions): Promise<number> {
  const { reporter } = options;
  let session: Session;
  try {
    session = await options.open();
  } catch (error) {
    await reporter.failure(error);
    return exitCodeOfError(error);
  }
  const code = await runIn(session, options);
  await closeAfter({ session, reporter, code });
  return code;
}

async function runIn(session: Session, options: HeadlessOptions): Promise<number> {
  const { reporter, interruption } = options;
  const stopListening = interruptOn(interruption.signal, session);
  try {
    return await runAll(session, options);
  } catch (error) {
    await reporter.failure(error);
    return exitCodeOfError(error);
  } finally {
    stopListening();
  }
}

/** The prompt, and then whatever tasks in the background bring, until none is left (TA-12). */
async function runAll(session: Session, options: HeadlessOptions): Promise<number> {
  const { reporter, interruption, patience } = options;
  const { signal } = interruption;
  const runs: FinishedRun[] = [];
  let end: LoopEnd;
  for (let content: string | undefined = options.prompt; ; content = undefined) {
    await reporter.runStart(session);
    // Before its first step a run cannot be interrupted, so it is not begun.
    if (signal.aborted) return interruption.exitCode();
    const run = await driveRun({
      session,
      content,
      wantsStructuredOutput: options.wantsStructuredOutput,
      onEvent: (event) => reporter.event(event),
    });
    runs.push(run);
    end = run.result.end;
    if (reporter.resultPerRun) await reporter.runEnd(run);
    if (patience.noWait || exitCodeOfEnd(end) !== exitCodes.success) break;
    const more = await awaitWork({ session, signal, patience });
    if (more === true) continue;
    if (more !== false) end = more;
    break;
  }
  const run = together(runs, { session, end });
  if (!reporter.resultPerRun) await reporter.runEnd(run);
  else if (end !== runs.at(-1)?.result.end) await reporter.remark(describeEnd(end) ?? end.reason);
  const left = stopWhatIsLeft(session);
  if (left !== undefined) await reporter.remark(left);
  return exitCodeOfRun(run, interruption);
}

/** As one: the last word counts, and the numbers are those of all agents. */
function together(
  runs: readonly FinishedRun[],
  { session, end }: { session: Session; end: LoopEnd },
): FinishedRun {
  const last = runs.at(-1);
  if (last === undefined) throw new Error("there was no run");
  if (runs.length === 1) return { ...last, result: { ...last.result, end } };
  const results = runs.map(({ result }) => result);
  const { usage, usageByModel, costUsd } = session.totals;
  const structuredOutput = results.findLast((each) => each.structuredOutput !== undefined)?.structuredOutput;
  return {
    ...last,
    result: {
      end,
      text: results.findLast(({ text }) => text !== "")?.text ?? "",
      turns: sum(results.map(({ turns }) => turns)),
      usage,
      usageByModel,
      costUsd,
      durationMs: sum(results.map(({ durationMs }) => durationMs)),
      apiDurationMs: sum(results.map(({ apiDurationMs }) => apiDurationMs)),
      permissionDenials: results.flatMap(({ permissionDenials }) => permissionDenials),
      ...(structuredOutput !== undefined && { structuredOutput }),
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** What fails at the close of a run that failed has been told already; after a good one it is news. */
export async function closeAfter(options: {
  session: Session | undefined;
  reporter: Reporter;
  code: number;
}): Promise<void> {
  try {
    await options.session?.close();
  } catch (error) {
    if (options.code === exitCodes.success) throw error;
  } finally {
    await options.reporter.close();
  }
}

function interruptOn(signal: AbortSignal, session: Session): () => void {
  const interrupt = () => session.interrupt();
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt, { once: true });
  return () => signal.removeEventListener("abort", interrupt);
}

export function exitCodeOfRun(run: FinishedRun, interruption: Interruption): number {
  const { end } = run.result;
  if (end.reason === "aborted" && interruption.signal.aborted) return interruption.exitCode();
  const code = exitCodeOfEnd(end);
  return code === exitCodes.success && problemOf(run) !== undefined ? exitCodes.failed : code;
}
