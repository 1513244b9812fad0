/**
 * surfaces/plain/ owns the conversation in a terminal without any drawing: prompt line, streamed answer,
 * a line per tool call, questions. Its streams and its session are handed in.
 */
import { createChannel } from "../../base/channel.ts";
import { counted } from "../../base/counted.ts";
import { CadreError, isCancelled, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/world.ts";
import type { Settings } from "../../contracts/settings.ts";
import type { Session } from "../../runtime/session.ts";
import { describeEnd } from "../headless/describe-end.ts";
import { driveRun } from "../headless/drive-run.ts";
import { exitCodeOfError, exitCodes } from "../headless/exit-code.ts";
import { createSteps } from "../headless/next-step.ts";
import type { Interruption } from "../headless/run-headless.ts";
import { tasksAtWork } from "../headless/watch-tasks.ts";
import type { FinishedRun } from "../headless/wire-result.ts";
import { createAgentLabels } from "./agent-labels.ts";
import { createAgentLook } from "./agent-look.ts";
import { answerCommand, sendToBackground } from "./commands.ts";
import { createPlainConsole, type PlainConsole } from "./console.ts";
import { answerPermissions, createPlainSurface, type PlainSurface } from "./plain-surface.ts";
import { createRenderer, type Renderer } from "./renderer.ts";
import { describeResumed } from "./resumed-conversation.ts";
import {
  askBeside,
  branchConversation,
  compactConversation,
  isForIdle,
  type SessionCommand,
  sessionCommandIn,
} from "./session-commands.ts";
import { describeTotals } from "./session-totals.ts";
import { createSuggestions } from "./suggestions.ts";

export interface PlainOptions {
  readonly open: (surface: PlainSurface) => Promise<Session>;
  /** Opens another one, to go on in it. Absent: that is not possible here. */
  readonly openOther?: (surface: PlainSurface, sessionId: string) => Promise<Session>;
  /** Of the session that is open. Default: none are made. */
  readonly settings?: () => Settings;
  readonly firstPrompt: string | undefined;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly terminal: boolean;
  readonly interruption: Interruption;
  readonly clock: Pick<Clock, "setTimer" | "now">;
  readonly version: string;
}

const offlineHint = `This model follows rules and needs no network. To connect a real one, leave, then
  export ANTHROPIC_API_KEY=...   (cadre doctor tells what is found)`;

export async function runPlain(options: PlainOptions): Promise<number> {
  const typed = createChannel<string>();
  const labels = createAgentLabels();
  let running = false;
  let leaving = false;
  let interrupts = 0;
  let session: Session | undefined;
  let renderer: Renderer | undefined;
  let stopAnswering = () => {};
  const gone = new AbortController();
  /** Whether to leave is being asked. */
  let asking: AbortController | undefined;

  /** The first wish to leave lets a run end cleanly, the next one stops it there and then. */
  const leave = () => {
    // Whether closing worked is told by whoever waits for it at the end.
    if (leaving) close()?.catch(() => {});
    leaving = true;
    asking?.abort();
    gone.abort();
    if (running) session?.interrupt();
    typed.close();
  };
  /** What goes on in the background would be stopped: that is asked once, and a second wish is answer enough. */
  const leaveIfMeant = async () => {
    const left = session === undefined ? 0 : tasksAtWork(session).length;
    if (left === 0 || leaving || asking !== undefined) return leave();
    asking = new AbortController();
    const question =
      left === 1
        ? "1 task is still at work: leave and stop it? [y/N] "
        : `${left} tasks are still at work: leave and stop them? [y/N] `;
    try {
      const typed = await console.ask(question, asking.signal);
      asking = undefined;
      if (leaving) return;
      if (typed === undefined || /^\s*y(es)?\s*$/i.test(typed)) leave();
      else if (!running) console.prompt();
    } catch (error) {
      if (!isCancelled(error)) throw error;
    }
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= session?.close();
    return closing;
  };
  const console = createPlainConsole({
    input: options.input,
    output: options.output,
    terminal: options.terminal,
    clock: options.clock,
    events: {
      onText(text) {
        interrupts = 0;
        const command = text.trim();
        if (command === "/exit" || command === "/quit") return void leaveIfMeant();
        const about = sessionCommandIn(command);
        if (about !== undefined) return takeSessionCommand(about, command);
        if (command === "/yes") return sendSuggestion();
        if (command === "/tasks" && session !== undefined) agentLook.look(session);
        const settings = options.settings?.() ?? {};
        const answer = answerCommand(command, { session, now: options.clock.now(), settings });
        if (answer !== undefined) showAnswer(answer);
        else if (!running) typed.push(text);
        else if (command !== "" && session !== undefined) void note(session, text);
      },
      onInterrupt() {
        interrupts++;
        if (running && interrupts === 1) session?.interrupt();
        else if (interrupts > 1) void leaveIfMeant();
        else {
          console.line("(Ctrl+C again, or Ctrl+D, to leave)");
          console.prompt();
        }
      },
      onEnd: () => void leaveIfMeant(),
      onSendAway() {
        if (!running || session === undefined) return false;
        console.line(sendToBackground(session));
        return true;
      },
    },
  });
  const note = async (current: Session, text: string) => {
    try {
      await current.enqueue(text);
      console.line("(noted: the model gets it at its next step)");
    } catch (error) {
      console.line(`cadre: not noted: ${messageOf(error)}`);
    }
  };
  // A full disk can be mended, and the conversation goes on; a bug ends it.
  const showFailure = (error: unknown) => {
    if (!(error instanceof CadreError)) throw error;
    console.line(`cadre: ${error.message}`);
  };
  const showAnswer = (answer: string) => {
    console.line(answer);
    if (!running) console.prompt();
  };
  const takeSessionCommand = (about: SessionCommand | string, command: string) => {
    if (typeof about === "string") showAnswer(about);
    else if (session === undefined) showAnswer("Nothing yet.");
    else if (about.name === "btw") {
      showAnswer("(asking ...)");
      void askBeside(session, about.question, gone.signal).then((answer) => {
        if (!leaving) showAnswer(answer);
      });
    } else if (!isForIdle(about)) void branchConversation(session).then(showAnswer);
    else if (running) showAnswer(`(a run goes on: /${about.name} has to wait for its end)`);
    else typed.push(command);
  };
  const agentLook = createAgentLook(options.clock);
  const suggestions = createSuggestions({ console, isIdle: () => !running && !leaving });
  const sendSuggestion = () => {
    const text = suggestions.take();
    if (text === undefined) showAnswer("(nothing is suggested)");
    else typed.push(text);
  };
  const surface = createPlainSurface(console, {
    onSuggestion: suggestions.offer,
    onProblem(message) {
      console.line(`cadre: warning: ${message}`);
      if (session !== undefined && !running && !leaving) console.prompt();
    },
  });
  /** From now on this is the conversation. */
  const sitDown = (next: Session): Renderer => {
    session = next;
    agentLook.leave();
    stopAnswering();
    stopAnswering = answerPermissions({ console, permissions: next.permissions, labels });
    renderer?.leave();
    renderer = createRenderer({
      session: next,
      console,
      labels,
      clock: options.clock,
      isRunning: () => running,
    });
    void next.listen();
    return renderer;
  };
  /** Both are open for a moment: should the copy not open, nothing is lost. */
  const goOnInCopy = async (current: Session): Promise<void> => {
    const left = tasksAtWork(current).length;
    if (options.openOther === undefined) return console.line(await branchConversation(current));
    if (left > 0)
      return console.line(
        `(${counted(left, "task")} would have to stop here: /fork makes a copy to go on with from another terminal)`,
      );
    try {
      const { id } = await current.branch();
      sitDown(await options.openOther(surface, id));
      console.line(`You are in the copy now. To go on in the other one: cadre --resume ${current.id}`);
    } catch (error) {
      return console.line(`cadre: you stay where you are: ${messageOf(error)}`);
    }
    await current.close();
  };
  const actIdle = async (about: SessionCommand, current: Session, shown: Renderer): Promise<void> => {
    if (about.name === "fork") return await goOnInCopy(current);
    if (about.name !== "compact") return;
    console.line(await compactConversation(current, about.instructions, shown.show));
    await shown.endRun();
  };

  try {
    options.interruption.signal.addEventListener("abort", leave, { once: true });
    session = await options.open(surface);
    renderer = sitDown(session);
    console.line(
      `Cadre ${options.version}, ${session.modelId}, in ${session.cwd}. /help shows the commands.`,
    );
    if (session.modelId === "offline") console.line(offlineHint);
    for (const line of describeResumed(session.messages)) console.line(line);
    // What is left from before does not start a run by itself: the person has only just come.
    let startsItself = session.queued === 0;
    if (!startsItself && options.firstPrompt === undefined)
      console.line("(something from before waits for the model: it hears of it with your next prompt)");
    if (options.firstPrompt !== undefined) typed.push(options.firstPrompt);
    else console.prompt();
    const steps = createSteps(typed);
    for (;;) {
      const step = await steps.next(startsItself ? session : undefined);
      if (step.type === "end" || leaving) break;
      if (step.type === "work") {
        await console.unasked();
        if (leaving) break;
      } else if (step.item.trim() === "") {
        console.prompt();
        continue;
      }
      running = true;
      suggestions.drop();
      // What waits after a failure is tried again with the next prompt.
      startsItself = false;
      await renderer.startRun();
      console.endLine();
      const text = step.type === "item" ? step.item : undefined;
      const about = text === undefined ? undefined : sessionCommandIn(text);
      await (typeof about === "object"
        ? actIdle(about, session, renderer)
        : runOne({ session, text, console, renderer })
      ).then(() => {
        startsItself = true;
      }, showFailure);
      running = false;
      interrupts = 0;
      console.prompt();
    }
    renderer.leave();
    console.line(farewell(session));
    return options.interruption.signal.aborted ? options.interruption.exitCode() : exitCodes.success;
  } catch (error) {
    console.line(`cadre: ${messageOf(error)}`);
    return exitCodeOfError(error);
  } finally {
    options.interruption.signal.removeEventListener("abort", leave);
    renderer?.leave();
    agentLook.leave();
    stopAnswering();
    console.close();
    await close();
  }
}

/** One prompt, or what waits, and after it what came too late for its last step. */
async function runOne(options: {
  session: Session;
  text: string | undefined;
  console: PlainConsole;
  renderer: Renderer;
}): Promise<void> {
  const { session, console, renderer } = options;
  let content: string | undefined = options.text;
  do {
    const { result } = await drive(session, content, renderer);
    const ending = describeEnd(result.end);
    if (ending !== undefined)
      console.line(result.end.reason === "aborted" ? `(${ending})` : `cadre: ${ending}`);
    if (result.end.reason === "aborted") tellWhatGoesOn(session, console);
    if (result.end.reason !== "completed") return;
    content = undefined;
  } while (session.queued > 0);
}

async function drive(
  session: Session,
  content: string | undefined,
  renderer: Renderer,
): Promise<FinishedRun> {
  try {
    return await driveRun({ session, content, wantsStructuredOutput: false, onEvent: renderer.show });
  } finally {
    await renderer.endRun();
  }
}

function tellWhatGoesOn(session: Session, console: PlainConsole): void {
  const { length } = tasksAtWork(session);
  if (length > 0)
    console.line(
      `(${counted(length, "task")} ${length === 1 ? "goes" : "go"} on in the background: /tasks lists them, /stop all ends them)`,
    );
}

function farewell(session: Session): string {
  const { transcriptPath, messages } = session;
  const { length } = tasksAtWork(session);
  const stopped = length === 0 ? [] : [`Stopped: ${counted(length, "task")} in the background.`];
  const lines = [...stopped, describeTotals(session.totals), `Transcript: ${transcriptPath ?? "not kept"}`];
  if (transcriptPath !== undefined && messages.length > 0)
    lines.push(`To go on: cadre --resume ${session.id}`);
  return lines.join("\n");
}
