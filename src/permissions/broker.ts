/**
 * Holds the questions that wait for a person. Agents ask, surfaces subscribe and answer; several wait side by
 * side and each is answered on its own. Every question ends exactly once: by an answer, by a rule that was
 * granted meanwhile, by its deadline, because nobody is there, or because its call was cancelled.
 */
import { reasonOf, throwIfCancelled } from "../base/cancellation.ts";
import { CadreError, CancelledError } from "../base/errors.ts";
import type { Clock, Random } from "../base/world.ts";
import type { PermissionAnswer, PermissionDecision, PermissionRequest } from "../contracts/permission.ts";

export interface WaitingQuestion extends PermissionRequest {
  readonly id: string;
  /** Milliseconds since the epoch, as is `deadlineMs`. */
  readonly sinceMs: number;
  /** When it counts as answered with no. */
  readonly deadlineMs?: number;
}

/** How a question ended. */
export type Verdict =
  /** `rules`: what was granted with it. */
  | { kind: "allowed"; scope: "once" | "session" | "project"; rules: readonly string[] }
  | { kind: "refused"; message?: string }
  /** A rule or a mode that came while it waited decides it. */
  | { kind: "decided"; decision: PermissionDecision }
  | { kind: "unanswered"; why: "nobody-there" | "everybody-left" | "deadline" };

export type QuestionChange =
  | { type: "question-open"; question: WaitingQuestion }
  /** `verdict` is absent when the call was cancelled. */
  | { type: "question-close"; id: string; verdict: Verdict | undefined };

export interface AskOptions {
  readonly request: PermissionRequest;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** What the rules say of this very call now. */
  readonly judge: () => Promise<PermissionDecision>;
}

/** The side of the surfaces. */
export interface Questions {
  /** The oldest first. */
  readonly waiting: readonly WaitingQuestion[];
  /**
   * Tells of every question that waits, at once, and of every one that comes or goes, until the returned
   * function is called. When the last subscriber leaves, what waits is denied. Listeners must not throw.
   */
  subscribe(listener: (change: QuestionChange) => void): () => void;
  /**
   * Throws `question-not-waiting` for an unknown id and for a second answer. Resolves when what was granted is
   * in force, with a remark for the person if there is something to say.
   */
  answer(id: string, answer: PermissionAnswer): Promise<{ note?: string }>;
}

export interface PermissionBroker extends Questions {
  /** Rejects only with the cancellation of its signal. */
  ask(options: AskOptions): Promise<Verdict>;
  /** Rules or modes have changed: what they decide now need not wait any longer. Never rejects. */
  reconsider(): Promise<void>;
}

export interface BrokerOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, "uuid">;
  /** Puts a rule in force for this session. */
  readonly grant: (rule: string) => void;
  /** Writes rules down for later sessions and says where, or why it could not. */
  readonly keep: (rules: readonly string[]) => Promise<string>;
}

interface Entry {
  readonly question: WaitingQuestion;
  readonly judge: AskOptions["judge"];
  readonly end: (verdict: Verdict | undefined) => void;
}

interface Subscriber {
  readonly listener: (change: QuestionChange) => void;
  /** What it was told of. A listener may answer while others have not heard of the question yet. */
  readonly known: Set<string>;
}

export function createPermissionBroker(options: BrokerOptions): PermissionBroker {
  const { clock, random } = options;
  const waiting = new Map<string, Entry>();
  const subscribers = new Set<Subscriber>();

  function tellOpen(subscriber: Subscriber, { question }: Entry): void {
    if (!waiting.has(question.id) || !subscribers.has(subscriber) || subscriber.known.has(question.id))
      return;
    subscriber.known.add(question.id);
    subscriber.listener({ type: "question-open", question });
  }

  /** The one way out of the list. Does nothing for a question that has ended. */
  function end(id: string, verdict: Verdict | undefined): void {
    const entry = waiting.get(id);
    if (entry === undefined) return;
    waiting.delete(id);
    entry.end(verdict);
    for (const subscriber of [...subscribers])
      if (subscriber.known.delete(id)) subscriber.listener({ type: "question-close", id, verdict });
  }

  async function reconsider(): Promise<void> {
    const judging = [...waiting.values()].map(async ({ question, judge }) => {
      // One that cannot be judged goes on waiting for the person.
      const decision = await judge().catch(() => undefined);
      if (decision !== undefined && decision.decision !== "ask")
        end(question.id, { kind: "decided", decision });
    });
    await Promise.all(judging);
  }

  return {
    get waiting() {
      return [...waiting.values()].map(({ question }) => question);
    },

    async ask({ request, signal, timeoutMs, judge }) {
      throwIfCancelled(signal);
      if (subscribers.size === 0) return { kind: "unanswered", why: "nobody-there" };
      const sinceMs = clock.now();
      const id = random.uuid();
      const question: WaitingQuestion = {
        // A copy: what a surface does to it must not change what will run.
        ...structuredClone(request),
        id,
        sinceMs,
        ...(timeoutMs !== undefined && { deadlineMs: sinceMs + timeoutMs }),
      };
      const cancel = () => end(id, undefined);
      const ended = new Promise<Verdict | undefined>((resolve) => {
        waiting.set(id, { question, judge, end: resolve });
      });
      signal.addEventListener("abort", cancel, { once: true });
      const timer =
        timeoutMs === undefined
          ? undefined
          : clock.setTimer(timeoutMs, () => end(id, { kind: "unanswered", why: "deadline" }));
      try {
        const entry = waiting.get(id);
        if (entry) for (const subscriber of [...subscribers]) tellOpen(subscriber, entry);
        const verdict = await ended;
        if (verdict === undefined) throw new CancelledError(reasonOf(signal), signal.reason);
        return verdict;
      } finally {
        timer?.cancel();
        signal.removeEventListener("abort", cancel);
      }
    },

    subscribe(listener) {
      const subscriber: Subscriber = { listener, known: new Set() };
      subscribers.add(subscriber);
      for (const entry of [...waiting.values()]) tellOpen(subscriber, entry);
      return () => {
        if (!subscribers.delete(subscriber) || subscribers.size > 0) return;
        for (const id of [...waiting.keys()]) end(id, { kind: "unanswered", why: "everybody-left" });
      };
    },

    async answer(id, answer) {
      const entry = waiting.get(id);
      if (entry === undefined) throw notWaiting(id);
      if (answer.answer === "no") {
        end(id, { kind: "refused", ...(answer.message !== undefined && { message: answer.message }) });
        return {};
      }
      const rules = answer.answer === "once" ? [] : rulesOf(answer, entry.question);
      for (const rule of rules) options.grant(rule);
      end(id, { kind: "allowed", scope: rules.length === 0 ? "once" : answer.answer, rules });
      if (answer.answer === "once") return {};
      if (rules.length === 0) return { note: "No rule can stand for this call: it was allowed this once." };
      await reconsider();
      return answer.answer === "project" ? { note: await options.keep(rules) } : {};
    },

    reconsider,
  };
}

function rulesOf(answer: { rules?: readonly string[] }, question: WaitingQuestion): readonly string[] {
  return answer.rules ?? question.suggestions?.slice(0, 1) ?? [];
}

function notWaiting(id: string): CadreError {
  return new CadreError({
    code: "question-not-waiting",
    message: `The question ${id} does not wait for an answer: it was answered, withdrawn, or never asked.`,
    data: { id },
  });
}
