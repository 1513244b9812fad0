/** What a session does next when no run goes on: what comes from outside, or else what waits for the main agent. */
import type { Session } from "../../runtime/session.ts";

export type Step<Item> =
  | { readonly type: "item"; readonly item: Item }
  /** Something waits for the main agent: a run without a prompt takes it. */
  | { readonly type: "work" }
  /** Nothing comes from outside any more. */
  | { readonly type: "end" };

export interface Steps<Item> {
  /** Whoever sends items comes first. Without a session only they count. */
  next(session: Session | undefined): Promise<Step<Item>>;
}

export function createSteps<Item>(items: AsyncIterable<Item>): Steps<Item> {
  const iterator = items[Symbol.asyncIterator]();
  /** An item that was waited for while work came first. */
  let coming: Promise<Step<Item>> | undefined;

  async function takeNext(): Promise<Step<Item>> {
    const { done, value } = await iterator.next();
    return done === true ? { type: "end" } : { type: "item", item: value };
  }

  return {
    async next(session) {
      coming ??= takeNext();
      const leave = new AbortController();
      const step = await Promise.race([
        coming,
        ...(session === undefined ? [] : [workIn(session, leave.signal)]),
      ]);
      leave.abort();
      if (step.type !== "work") coming = undefined;
      return step;
    },
  };
}

/** Never resolves when nothing comes; what fails is told by the run that is started for it. */
async function workIn(session: Session, signal: AbortSignal): Promise<{ type: "work" }> {
  while (!signal.aborted) {
    const stirred = nextStir(session, signal);
    try {
      if (await session.nextWork(signal)) return { type: "work" };
    } catch (error) {
      if (signal.aborted) break;
      throw error;
    }
    // Nothing goes on. Once something does, it may bring something; and somebody else may write.
    await stirred;
  }
  return await new Promise(() => {});
}

function nextStir(session: Session, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stopListening();
      stopWaiting();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stopWaiting = session.onQueued(done);
    const stopListening = session.tasks.onChange(({ type, task }) => {
      if (type === "task-start" || (type === "task-update" && task.isBackgrounded)) done();
    });
    signal.addEventListener("abort", done, { once: true });
  });
}
