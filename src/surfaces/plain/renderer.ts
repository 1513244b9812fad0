/** Puts what a session does on the console: the answer as it streams, and lines for all the rest. */
import type { Clock } from "../../base/world.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";
import { createBesideRun } from "../headless/beside-run.ts";
import { createTaskWatch } from "../headless/watch-tasks.ts";
import { createActivityLines } from "./activity-lines.ts";
import type { AgentLabels } from "./agent-labels.ts";
import type { PlainConsole } from "./console.ts";

export interface Renderer {
  /** What happened before the run is told before it. */
  startRun(): Promise<void>;
  /** An event of a run. */
  show(event: LoopEvent): void;
  endRun(): Promise<void>;
  /** Tells no more. */
  leave(): void;
}

export function createRenderer(options: {
  session: Session;
  console: PlainConsole;
  labels: AgentLabels;
  clock: Pick<Clock, "setTimer">;
  /** Otherwise it is the person's turn, and stays so. */
  isRunning: () => boolean;
}): Renderer {
  const { session, console, labels } = options;
  const lines = createActivityLines({ labels, taskOf: session.tasks.get, folder: session.cwd });
  const beside = createBesideRun(options);
  const tasks = createTaskWatch();
  let textOpen = false;
  /** Calls start while the answer streams: what they do must not cut a sentence in two. */
  let waiting: string[] = [];

  const showLines = (more: readonly string[]) => {
    if (textOpen) waiting.push(...more);
    else for (const line of more) console.line(line);
  };
  const showBeside = (more: readonly string[]) => {
    showLines(more);
    if (more.length > 0 && !options.isRunning()) console.prompt();
  };
  const closeText = () => {
    if (!textOpen) return;
    textOpen = false;
    console.endLine();
    showLines(waiting);
    waiting = [];
  };
  const stopListening = [
    session.onActivity((activity) => beside.add(() => void showBeside(lines.beside(activity)))),
    session.tasks.onChange((change) => {
      const moment = tasks.see(change);
      if (moment !== undefined) beside.add(() => void showBeside(lines.ofTask(moment)));
    }),
  ];

  return {
    startRun: beside.flush,
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
    async endRun() {
      closeText();
      await beside.flush();
      showLines(lines.endRun());
    },
    leave() {
      for (const stop of stopListening) stop();
    },
  };
}
