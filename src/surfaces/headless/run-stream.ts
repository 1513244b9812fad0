import { type Channel, createChannel } from "../../base/channel.ts";
import { CadreError } from "../../base/errors.ts";
import type { Block } from "../../contracts/message.ts";
import type { Session } from "../../runtime/session.ts";
import { answerControl, type ControlState, type SessionChoices } from "./control.ts";
import { driveRun } from "./drive-run.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";
import { readInputLine } from "./input-message.ts";
import { linesOf } from "./json-lines.ts";
import type { PermissionBridge } from "./permission-bridge.ts";
import type { Reporter } from "./reporter.ts";
import { closeAfter, exitCodeOfRun, type Interruption } from "./run-headless.ts";
import { systemMessage, type WireContext, type WireMessage } from "./wire-messages.ts";

export interface StreamOptions {
  /** Called at the first message, with what the other side chose before it. */
  readonly open: (choices: SessionChoices) => Promise<Session>;
  readonly input: AsyncIterable<Uint8Array | string>;
  readonly emit: (message: WireMessage) => Promise<void>;
  readonly context: WireContext;
  readonly reporter: Reporter;
  readonly interruption: Interruption;
  readonly wantsStructuredOutput: boolean;
  readonly permissions: PermissionBridge | undefined;
}

/** What waits for its turn: runs go one after the other, and complaints stand where their line stood. */
type Item = { content: string | Block[] } | { problem: string };

/**
 * Messages on standard input, a result each. Control requests are answered at once, also during a run. A
 * line that cannot be understood gets an error result and the exit code 2; the lines after it still count.
 */
export async function runStream(options: StreamOptions): Promise<number> {
  const { reporter, interruption } = options;
  const items = createChannel<Item>();
  const state: ControlState = {
    choices: {},
    started: false,
    session: undefined,
    withAgentText: undefined,
  };
  const stop = () => {
    state.session?.interrupt();
    items.close();
  };
  interruption.signal.addEventListener("abort", stop, { once: true });
  if (interruption.signal.aborted) stop();
  const reading = readInput(options, items, state);

  let code: number = exitCodes.success;
  let sawProblem = false;
  for await (const item of items) {
    if (interruption.signal.aborted) break;
    if ("content" in item) code = await runMessage(item.content, options, state);
    else {
      sawProblem = true;
      await reporter.failure(new CadreError({ code: "usage", message: item.problem }));
    }
  }
  interruption.signal.removeEventListener("abort", stop);
  if (interruption.signal.aborted) code = interruption.exitCode();
  else await reading;
  if (code === exitCodes.success && sawProblem) code = exitCodes.usage;
  await closeAfter(state.session, code);
  return code;
}

async function runMessage(
  content: string | Block[],
  options: StreamOptions,
  state: ControlState,
): Promise<number> {
  const { reporter, interruption } = options;
  let session: Session;
  try {
    session = state.session ??= await options.open(state.choices);
    options.permissions?.attach(session);
  } catch (error) {
    await reporter.failure(error);
    return exitCodeOfError(error);
  }
  const tell = (now: "running" | "idle") =>
    options.emit(systemMessage(options.context, "session_state_changed", { state: now }));
  await tell("running");
  try {
    await reporter.runStart(session, { withAgentText: state.withAgentText });
    if (interruption.signal.aborted) return interruption.exitCode();
    const run = await driveRun({
      session,
      content,
      wantsStructuredOutput: options.wantsStructuredOutput || state.choices.outputSchema !== undefined,
      onEvent: (event) => reporter.event(event),
    });
    await reporter.runEnd(run);
    // An interrupt that the other side asked for is no failure of ours.
    const asked = run.result.end.reason === "aborted" && !interruption.signal.aborted;
    return asked ? exitCodes.success : exitCodeOfRun(run, interruption);
  } catch (error) {
    await reporter.failure(error);
    return exitCodeOfError(error);
  } finally {
    await tell("idle");
  }
}

async function readInput(options: StreamOptions, items: Channel<Item>, state: ControlState): Promise<void> {
  try {
    for await (const line of linesOf(options.input)) {
      const message = readInputLine(line);
      if (message.kind === "user") {
        state.started = true;
        items.push({ content: message.content });
      } else if (message.kind === "problem") items.push({ problem: message.message });
      else if (message.kind === "control") await options.emit(answerControl(message.request, state));
      else if (message.kind === "answer") options.permissions?.accept(message.response);
    }
  } catch (error) {
    items.push({
      problem: `standard input could not be read: ${error instanceof Error ? error.message : error}`,
    });
  } finally {
    options.permissions?.close();
    items.close();
  }
}
