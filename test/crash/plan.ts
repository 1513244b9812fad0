/** What a run meets: the answers of the model, what each call does, and who breaks in when. */
import fc from "fast-check";

export type Behaviour =
  | { kind: "answers"; afterMs: number }
  | { kind: "fails" }
  /** As a failed shell command: what came with it in the same message is not run. */
  | { kind: "fails-siblings"; afterMs: number }
  | { kind: "throws"; what: "error" | "text" | "nothing" | "cancelled" }
  | { kind: "throws-at-once" }
  | { kind: "throws-in-result" }
  | { kind: "hangs" }
  | { kind: "hangs-and-ignores-its-signal" }
  | { kind: "floods"; pieces: number }
  | { kind: "answers-much" };

export type Gatekeeping = "allows" | "allows-late" | "denies" | "throws" | "hangs";

export interface CallPlan {
  readonly tool: "Safe" | "Unsafe" | "Cancel" | "Whole" | "Delegate" | "Fickle" | "Nobody";
  readonly behaviour: Behaviour;
  readonly gate: Gatekeeping;
  /** What is wrong with the call itself. */
  readonly flaw?: "not-json" | "not-fitting" | "same-id" | "empty-id";
}

export type Ending =
  | { kind: "whole" }
  | { kind: "cut"; afterEvents: number }
  | { kind: "error"; what: "overloaded" | "rejected" | "prompt-too-long" | "plain" | "no-error" }
  | { kind: "hangs" }
  /** The stream just ends, without the end of its message. */
  | { kind: "ends-early"; afterEvents: number };

export interface ReplyPlan {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly CallPlan[];
  readonly ending: Ending;
  readonly delayMs: number;
  readonly stopReason: "end_turn" | "max_tokens" | "pause_turn" | "refusal" | undefined;
}

/** Done when that many events were seen. */
export interface BreakIn {
  readonly atEvent: number;
  readonly what: "stop" | "steer" | "queue" | "queue-and-steer" | "cancel" | "leave";
}

export interface Plan {
  readonly seed: number;
  readonly replies: readonly ReplyPlan[];
  readonly breakIns: readonly BreakIn[];
  readonly startWhileStreaming: boolean;
  readonly concurrency: { readonly tool: number; readonly agent: number };
  readonly maxTurns: number | undefined;
  /** The disk: which of its syncs fail, by number, and how long each takes. */
  readonly disk: { readonly failing: readonly number[]; readonly syncMs: number };
  readonly hook: "none" | "goes-on-once" | "stops" | "throws" | "hangs";
  readonly compaction: "none" | "shortens" | "throws" | "hangs" | "hangs-and-ignores-its-signal";
}

const ms = fc.constantFrom(0, 1, 10, 1_000);

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("answers" as const), afterMs: ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fails" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fails-siblings" as const), afterMs: ms }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("throws" as const),
      what: fc.constantFrom("error" as const, "text" as const, "nothing" as const, "cancelled" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("throws-at-once" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("throws-in-result" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("hangs" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("hangs-and-ignores-its-signal" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("floods" as const), pieces: fc.constantFrom(1, 50, 1_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("answers-much" as const) }) },
);

const call: fc.Arbitrary<CallPlan> = fc.record(
  {
    tool: fc.constantFrom(
      "Safe",
      "Safe",
      "Unsafe",
      "Unsafe",
      "Cancel",
      "Whole",
      "Delegate",
      "Fickle",
      "Nobody",
    ),
    behaviour,
    gate: fc.oneof(
      { weight: 8, arbitrary: fc.constant("allows" as const) },
      { weight: 3, arbitrary: fc.constantFrom("allows-late", "denies", "throws", "hangs") },
    ),
    flaw: fc.constantFrom("not-json", "not-fitting", "same-id", "empty-id"),
  },
  { requiredKeys: ["tool", "behaviour", "gate"] },
);

const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("whole" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut" as const), afterEvents: fc.nat(16) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("error" as const),
      what: fc.constantFrom("overloaded", "rejected", "prompt-too-long", "plain", "no-error"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("hangs" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("ends-early" as const), afterEvents: fc.nat(16) }) },
);

const reply: fc.Arbitrary<ReplyPlan> = fc.record({
  text: fc.constantFrom("", "", "a word", "more than one word ".repeat(10)),
  thinking: fc.constantFrom("", "", "let me see"),
  calls: fc.array(call, { maxLength: 5 }),
  ending,
  delayMs: ms,
  stopReason: fc.option(fc.constantFrom("end_turn", "max_tokens", "pause_turn", "refusal"), {
    nil: undefined,
    freq: 3,
  }),
});

export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  seed: fc.nat(),
  replies: fc.array(reply, { minLength: 1, maxLength: 6 }),
  breakIns: fc.array(
    fc.record({
      atEvent: fc.nat(60),
      what: fc.constantFrom("stop", "steer", "queue", "queue-and-steer", "cancel", "leave"),
    }),
    { maxLength: 3 },
  ),
  startWhileStreaming: fc.boolean(),
  concurrency: fc.record({ tool: fc.integer({ min: 1, max: 3 }), agent: fc.integer({ min: 1, max: 3 }) }),
  maxTurns: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 3 }),
  disk: fc.record({
    failing: fc.oneof(
      { weight: 3, arbitrary: fc.constant<number[]>([]) },
      { weight: 1, arbitrary: fc.array(fc.nat(8), { maxLength: 2 }) },
    ),
    syncMs: fc.constantFrom(0, 0, 3),
  }),
  hook: fc.oneof(
    { weight: 4, arbitrary: fc.constant("none" as const) },
    { weight: 1, arbitrary: fc.constantFrom("goes-on-once", "stops", "throws", "hangs") },
  ),
  compaction: fc.oneof(
    { weight: 4, arbitrary: fc.constant("none" as const) },
    { weight: 2, arbitrary: fc.constantFrom("shortens", "throws", "hangs", "hangs-and-ignores-its-signal") },
  ),
});
