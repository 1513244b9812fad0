import type { LoopEvent } from "../../contracts/event.ts";
import type { Block, StopReasonOfModel } from "../../contracts/message.ts";
import type { Session } from "../../runtime/session.ts";
import type { FinishedRun } from "./wire-result.ts";

/** Runs one prompt to its end and hands over every event on the way, in order. */
export async function driveRun(options: {
  session: Session;
  /** Undefined: what waits in the queue. */
  content: string | Block[] | undefined;
  wantsStructuredOutput: boolean;
  /** The next event waits for the promise, if there is one. */
  onEvent: (event: LoopEvent) => Promise<void> | undefined | void;
}): Promise<FinishedRun> {
  let stopReason: StopReasonOfModel | undefined;
  const run = options.session.submit(options.content);
  for (;;) {
    const step = await run.next();
    if (step.done === true)
      return { result: step.value, stopReason, wantsStructuredOutput: options.wantsStructuredOutput };
    const event = step.value;
    if (event.type === "message-append" && event.message.role === "assistant")
      stopReason = event.message.response?.stopReason;
    const handled = options.onEvent(event);
    if (handled !== undefined) await handled;
  }
}
