import { type Channel, createChannel } from "../../base/channel.ts";
import { CadreError } from "../../base/errors.ts";
import type { Block } from "../../contracts/message.ts";
import type { Session } from "../../runtime/session.ts";
import { awaitWork, type Patience, stopWhatIsLeft } from "./await-work.ts";
import { answerControl, type ControlState, type SessionChoices } from "./control.ts";
import { describeEnd } from "./describe-end.ts";
import { driveRun } from "./drive-run.ts";
import { exitCodeOfEnd, exitCodeOfError, exitCodes } from "./exit-code.ts";
import { readInputLine } from "./input-message.ts";
import { linesOf } from "./json-lines.ts";
import { createSteps } from "./next-step.ts";
import type { PermissionBridge } from "./permission-bridge.ts";
import type { Reporter } from "./reporter.ts";
import { closeAfter, exitCodeOfRun, type Interruption } from "./run-headless.ts";
import { tasksAtWork } from "./watch-tasks.ts";
import { systemMessage, type WireContext, type WireMessage, wireSuggestion } from "./wire-messages.ts";

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
  readonly patience: Patience;
}

/** What waits for its turn: runs go one after the other, and complaints stand where their line stood. */
type Item = { content: string | Block[] } | { problem: string };

interface StreamState extends ControlState {
  /** What the other side was told last. */
  told: "running" | "idle";
  code: number;
  /** A run failed: what waits is not tried again before the next message. */
  failed: boolean;
}

/**
 * Messages on standard input, a result each; what tasks in the background bring is a run of its own, with its own
 * result. Control requests are answered at once, also during a run. A line that cannot be understood gets an error
 * result and the exit code 2; the lines after it still count.
 */
export async function runStream(options: StreamOptions): Promise<number> {
  const { reporter, interruption } = options;
  const items = createChannel<Item>();
  const state: StreamState = {
    choices: {},
    started: false,
    session: undefined,
    withAgentText: undefined,
    withAgentSummaries: false,
    suggest: (text) => void options.emit(wireSuggestion(text, options.context)),
    told: "idle",
    code: exitCodes.success,
    failed: false,
  };
  const stop = () => {
    state.session?.interrupt();
    items.close();
  };
  interruption.signal.addEventListener("abort", stop, { once: true });
  if (interruption.signal.aborted) stop();
  const reading = readInput(options, items, state);

  const sawProblem = await runItems(items, options, state);
  if (!interruption.signal.aborted) await runWhatIsLeft(options, state);
  interruption.signal.removeEventListener("abort", stop);
  if (interruption.signal.aborted) state.code = interruption.exitCode();
  else await reading;
  const left = state.session && stopWhatIsLeft(state.session);
  if (left !== undefined) await reporter.remark(left);
  if (state.code === exitCodes.success && sawProblem) state.code = exitCodes.usage;
  await closeAfter({ session: state.session, reporter, code: state.code });
  return state.code;
}

/** Until the input ends. True: some of it was not understood. */
async function runItems(items: Channel<Item>, options: StreamOptions, state: StreamState): Promise<boolean> {
  const { reporter, interruption } = options;
  const steps = createSteps(items);
  let sawProblem = false;
  for (;;) {
    await tellIfIdle(options, state);
    const step = await steps.next(state.failed ? undefined : state.session);
    if (step.type === "end" || interruption.signal.aborted) return sawProblem;
    if (step.type === "work") await runMessage(undefined, options, state);
    else if ("content" in step.item) await runMessage(step.item.content, options, state);
    else {
      sawProblem = true;
      await reporter.failure(new CadreError({ code: "usage", message: step.item.problem }));
    }
  }
}

/** The input has ended: what goes on in the background is waited for, and what it brings is run. */
async function runWhatIsLeft(options: StreamOptions, state: StreamState): Promise<void> {
  const { session } = state;
  const { patience, reporter } = options;
  const { signal } = options.interruption;
  while (session !== undefined && !patience.noWait && !state.failed) {
    const more = await awaitWork({ session, signal, patience });
    if (more === true) await runMessage(undefined, options, state);
    else if (more !== false && !signal.aborted) {
      state.code = exitCodeOfEnd(more);
      await reporter.remark(describeEnd(more) ?? more.reason);
    }
    if (more !== true) break;
  }
  await tell("idle", options, state);
}

/** Without content, what waits in the queue. */
async function runMessage(
  content: string | Block[] | undefined,
  options: StreamOptions,
  state: StreamState,
): Promise<void> {
  const { reporter, interruption } = options;
  state.failed = true;
  let session: Session;
  try {
    session = state.session ??= await open(options, state);
    options.permissions?.attach(session);
    void session.listen();
  } catch (error) {
    await reporter.failure(error);
    state.code = exitCodeOfError(error);
    return;
  }
  await tell("running", options, state);
  try {
    await reporter.runStart(session, { withAgentText: state.withAgentText });
    if (interruption.signal.aborted) return;
    const run = await driveRun({
      session,
      content,
      wantsStructuredOutput: options.wantsStructuredOutput || state.choices.outputSchema !== undefined,
      onEvent: (event) => reporter.event(event),
    });
    await reporter.runEnd(run);
    // An interrupt that the other side asked for is no failure of ours.
    const asked = run.result.end.reason === "aborted" && !interruption.signal.aborted;
    state.code = asked ? exitCodes.success : exitCodeOfRun(run, interruption);
    state.failed = run.result.end.reason === "model_error";
  } catch (error) {
    await reporter.failure(error);
    state.code = exitCodeOfError(error);
  }
}

/** Its agents are watched as long as it is open. */
async function open(options: StreamOptions, { choices, withAgentSummaries }: StreamState): Promise<Session> {
  const session = await options.open(choices);
  if (withAgentSummaries) session.watchAgents();
  return session;
}

/**
 * Programs close our input when they hear that we are idle, and can then no longer be asked. So we are not while agents
 * are at work whose ends start runs. Commands in the background may never end, and hold nobody up.
 */
async function tellIfIdle(options: StreamOptions, state: StreamState): Promise<void> {
  const { session } = state;
  const { signal } = options.interruption;
  if (session !== undefined && !state.failed && !signal.aborted) {
    const atWork = tasksAtWork(session);
    if (atWork.some(({ agent }) => agent !== undefined)) return;
    // With nothing at work this is decided at once: what has just ended may still be on its way.
    if (atWork.length > 0 ? session.queued > 0 : await session.nextWork()) return;
  }
  await tell("idle", options, state);
}

async function tell(now: StreamState["told"], options: StreamOptions, state: StreamState): Promise<void> {
  if (state.told === now) return;
  state.told = now;
  await options.emit(systemMessage(options.context, "session_state_changed", { state: now }));
}

async function readInput(options: StreamOptions, items: Channel<Item>, state: ControlState): Promise<void> {
  try {
    for await (const line of linesOf(options.input)) {
      const message = readInputLine(line);
      if (message.kind === "user") {
        state.started = true;
        items.push({ content: message.content });
      } else if (message.kind === "problem") items.push({ problem: message.message });
      else if (message.kind === "control") await options.emit(await answerControl(message.request, state));
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
