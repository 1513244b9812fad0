/**
 * surfaces/headless/ owns runs that nobody watches: one prompt or a stream of messages in, a result out,
 * an exit code. It gets its streams, its session and its interruption handed in.
 */
import type { Session } from "../../runtime/session.ts";
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
  await closeAfter(session, code);
  return code;
}

async function runIn(session: Session, options: HeadlessOptions): Promise<number> {
  const { reporter, interruption } = options;
  const stopListening = interruptOn(interruption.signal, session);
  try {
    await reporter.runStart(session);
    // Before its first step a run cannot be interrupted, so it is not begun.
    if (interruption.signal.aborted) return interruption.exitCode();
    const run = await driveRun({
      session,
      content: options.prompt,
      wantsStructuredOutput: options.wantsStructuredOutput,
      onEvent: (event) => reporter.event(event),
    });
    await reporter.runEnd(run);
    return exitCodeOfRun(run, interruption);
  } catch (error) {
    await reporter.failure(error);
    return exitCodeOfError(error);
  } finally {
    stopListening();
  }
}

/** What fails at the close of a run that failed has been told already; after a good one it is news. */
export async function closeAfter(session: Session | undefined, code: number): Promise<void> {
  try {
    await session?.close();
  } catch (error) {
    if (code === exitCodes.success) throw error;
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
