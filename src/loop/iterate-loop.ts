/** The loop as an iterator, for those who read what happens instead of being told. */
import { createChannel } from "../base/channel.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { LoopOptions } from "./loop-options.ts";
import { runLoop } from "./query-loop.ts";

/** Runs ahead of its reader by at most a turn. A reader that leaves stops it. */
export async function* iterateLoop(
  options: Omit<LoopOptions, "listener">,
): AsyncGenerator<LoopEvent, LoopEnd, undefined> {
  const events = createChannel<LoopEvent>();
  const scope = options.scope.child();
  let ended = false;
  const leave = () => scope.cancel("nobody reads this run any longer");
  const listener = {
    emit: (event: LoopEvent) => events.push(event),
    // A reader that leaves while the loop waits for it must not get one more turn.
    caughtUp: () => events.wanted()?.then(() => (events.closed ? leave() : undefined)),
  };
  const end = runLoop({ ...options, scope, listener }).finally(() => {
    ended = true;
    events.close();
  });
  // It is awaited below; until then a rejection must not count as unhandled.
  end.catch(() => {});
  try {
    for await (const event of events) yield event;
    return await end;
  } finally {
    if (!ended) leave();
    await end.catch(() => {});
    scope.release();
  }
}
