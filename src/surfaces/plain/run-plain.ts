/**
 * surfaces/plain/ owns the conversation in a terminal without any drawing: prompt line, streamed answer,
 * a line per tool call, questions. Its streams and its session are handed in.
 */
import { createChannel } from "../../base/channel.ts";
import { CadreError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/world.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import type { Session, Surface } from "../../runtime/session.ts";
import { describeEnd } from "../headless/describe-end.ts";
import { driveRun } from "../headless/drive-run.ts";
import { exitCodeOfError, exitCodes } from "../headless/exit-code.ts";
import type { Interruption } from "../headless/run-headless.ts";
import { createActivityLines } from "./activity-lines.ts";
import { type AgentLabels, createAgentLabels } from "./agent-labels.ts";
import { createPlainConsole, type PlainConsole } from "./console.ts";
import { answerPermissions, createPlainSurface } from "./plain-surface.ts";
import { describeResumed } from "./resumed-conversation.ts";
import { describeTotals } from "./session-totals.ts";

export interface PlainOptions {
  readonly open: (surface: Surface) => Promise<Session>;
  readonly firstPrompt: string | undefined;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly terminal: boolean;
  readonly interruption: Interruption;
  readonly clock: Pick<Clock, "setTimer">;
  readonly version: string;
}

const help = `Type what you want done, and Enter. A line that ends in \\ goes on in the next.
  /cost   tokens and cost so far
  /model  the model in use
  /help   this text
  /exit   leave (also Ctrl+D)
Ctrl+C interrupts a run. What you type during a run reaches the model at its
next step.`;

const offlineHint = `This model follows rules and needs no network. To connect a real one, leave, then
  export ANTHROPIC_API_KEY=...   (cadre doctor tells what is found)`;

export async function runPlain(options: PlainOptions): Promise<number> {
  const typed = createChannel<string>();
  const labels = createAgentLabels();
  let running = false;
  let leaving = false;
  let interrupts = 0;
  let session: Session | undefined;
  let stopAnswering = () => {};

  /** The first wish to leave lets a run end cleanly, the next one stops it there and then. */
  const leave = () => {
    // Whether closing worked is told by whoever waits for it at the end.
    if (leaving) close()?.catch(() => {});
    leaving = true;
    if (running) session?.interrupt();
    typed.close();
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
        if (command === "/exit" || command === "/quit") leave();
        else if (/^\/[a-z]+(\s|$)/.test(command)) showCommand(command.split(/\s/, 1)[0] ?? command);
        else if (!running) typed.push(text);
        else if (command !== "" && session !== undefined) void note(session, text);
      },
      onInterrupt() {
        interrupts++;
        if (running && interrupts === 1) session?.interrupt();
        else if (interrupts > 1) leave();
        else {
          console.line("(Ctrl+C again, or Ctrl+D, to leave)");
          console.prompt();
        }
      },
      onEnd: leave,
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
  const showCommand = (command: string) => {
    if (command === "/help") console.line(help);
    else if (command === "/cost")
      console.line(session === undefined ? "Nothing yet." : describeTotals(session.totals));
    else if (command === "/model") console.line(session?.modelId ?? "(no model yet)");
    else console.line(`Unknown command ${command}. /help shows what there is.`);
    if (!running) console.prompt();
  };

  try {
    options.interruption.signal.addEventListener("abort", leave, { once: true });
    session = await options.open(createPlainSurface(console));
    stopAnswering = answerPermissions({ console, permissions: session.permissions, labels });
    console.line(
      `Cadre ${options.version}, ${session.modelId}, in ${session.cwd}. /help shows the commands.`,
    );
    if (session.modelId === "offline") console.line(offlineHint);
    for (const line of describeResumed(session.messages)) console.line(line);
    if (options.firstPrompt !== undefined) typed.push(options.firstPrompt);
    else console.prompt();
    for await (const text of typed) {
      if (leaving) break;
      if (text.trim() !== "") {
        running = true;
        await runOne({ session, text, console, labels }).catch(showFailure);
        running = false;
        interrupts = 0;
      }
      console.prompt();
    }
    console.line(farewell(session));
    return options.interruption.signal.aborted ? options.interruption.exitCode() : exitCodes.success;
  } catch (error) {
    console.line(`cadre: ${messageOf(error)}`);
    return exitCodeOfError(error);
  } finally {
    options.interruption.signal.removeEventListener("abort", leave);
    stopAnswering();
    console.close();
    await close();
  }
}

/** One prompt, and after it what was typed too late for its last step. */
async function runOne(options: {
  session: Session;
  text: string;
  console: PlainConsole;
  labels: AgentLabels;
}): Promise<void> {
  const { session, console } = options;
  let content: string | undefined = options.text;
  do {
    const renderer = createRenderer(console, options.labels);
    const { result } = await driveRun({
      session,
      content,
      wantsStructuredOutput: false,
      onEvent: renderer.show,
    }).finally(renderer.close);
    const ending = describeEnd(result.end);
    if (ending !== undefined)
      console.line(result.end.reason === "aborted" ? `(${ending})` : `cadre: ${ending}`);
    if (result.end.reason !== "completed") return;
    content = undefined;
  } while (session.queued > 0);
}

interface Renderer {
  show(event: LoopEvent): void;
  close(): void;
}

function createRenderer(console: PlainConsole, labels: AgentLabels): Renderer {
  const lines = createActivityLines({ labels });
  let textOpen = false;
  /** Calls start while the answer streams: what they do must not cut a sentence in two. */
  let waiting: string[] = [];
  const showLines = (more: readonly string[]) => {
    if (textOpen) waiting.push(...more);
    else for (const line of more) console.line(line);
  };
  const closeText = () => {
    if (!textOpen) return;
    textOpen = false;
    console.endLine();
    showLines(waiting);
    waiting = [];
  };
  return {
    show(event) {
      // With a broken stream no block is closed.
      if (event.type === "message-append" || event.type === "response-discard") closeText();
      showLines(lines.at(event));
      if (event.type !== "model-event") return;
      const piece = event.event;
      if (piece.type === "block-start" && piece.block.type === "text") {
        textOpen = true;
        console.show(piece.block.text);
      } else if (piece.type === "block-delta" && piece.delta.type === "text") console.show(piece.delta.text);
      else if (piece.type === "block-stop") closeText();
    },
    close() {
      closeText();
      showLines(lines.close());
    },
  };
}

function farewell(session: Session): string {
  const { transcriptPath, messages } = session;
  const lines = [describeTotals(session.totals), `Transcript: ${transcriptPath ?? "not kept"}`];
  if (transcriptPath !== undefined && messages.length > 0)
    lines.push(`To go on: cadre --resume ${session.id}`);
  return lines.join("\n");
}
