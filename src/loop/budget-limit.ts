/** One budget that is limited: what may be used of it, what is reserved, and what to say when nothing is left. */
import { CadreError } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import type { LoopEnd } from "../contracts/event.ts";
import { totalTokensOf, type Usage } from "../contracts/usage.ts";
import { createTimeLimit, type TimeLimit } from "./time-limit.ts";

/** Of an agent and of all that it starts, together. */
export interface BudgetLimits {
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  /** From the moment the budget was made. */
  readonly maxMinutes?: number;
}

export type BudgetEnd = Extract<LoopEnd, { reason: "budget_exhausted" }>;

/** What a request will take, as far as one can tell before it is made. */
export interface Estimate {
  readonly tokens: number;
  readonly costUsd: number;
}

/** What has been used. */
export interface Spent {
  readonly usage: Usage;
  /** Undefined when something with an unknown price was charged. */
  readonly costUsd: number | undefined;
}

/** What requests on their way will take, as far as was known when they were made. */
export interface Reserved extends Estimate {
  readonly requests: number;
}

export const nothingReserved: Reserved = Object.freeze({ requests: 0, tokens: 0, costUsd: 0 });

export class BudgetLimit {
  /** The next limited one among its ancestors. */
  readonly above: BudgetLimit | undefined;
  /** Of it and of those above. */
  readonly lowestMaxCostUsd: number | undefined;
  /** Whether it, or one above, limits what is only known after a request. */
  readonly needsEstimate: boolean;
  readonly #limits: BudgetLimits;
  readonly #whose: string;
  readonly #spent: Spent;
  readonly #time: TimeLimit | undefined;
  #turns = 0;
  #reserved = nothingReserved;

  constructor(options: {
    limits: BudgetLimits;
    /** "the session", "this agent" */
    whose: string;
    spent: Spent;
    above: BudgetLimit | undefined;
    clock: Clock | undefined;
  }) {
    const { limits, above } = options;
    this.#limits = limits;
    this.#whose = options.whose;
    this.#spent = options.spent;
    this.above = above;
    this.#time = timeLimitOf(limits, options.clock);
    this.lowestMaxCostUsd = lower(limits.maxCostUsd, above?.lowestMaxCostUsd);
    this.needsEstimate =
      limits.maxTokens !== undefined || limits.maxCostUsd !== undefined || above?.needsEstimate === true;
  }

  get reserved(): Reserved {
    return this.#reserved;
  }

  /** A turn that has begun is brought to its end, so only one that begins is refused for the number of turns. */
  usedUp({ beginsTurn }: { beginsTurn: boolean }): BudgetEnd | undefined {
    const { maxTurns, maxTokens, maxCostUsd } = this.#limits;
    const { usage, costUsd } = this.#spent;
    if (beginsTurn && maxTurns !== undefined && this.#turns >= maxTurns)
      return this.#end("turns", `is used up: ${this.#turns} of ${maxTurns} turns.`);
    const tokens = totalTokensOf(usage);
    if (maxTokens !== undefined && tokens >= maxTokens)
      return this.#end("tokens", `is used up: ${tokens} of ${maxTokens} tokens.`);
    if (maxCostUsd !== undefined && costUsd === undefined)
      return this.#end("cost", "cannot be watched: a model answered whose price is not known.");
    if (maxCostUsd !== undefined && costUsd !== undefined && costUsd >= maxCostUsd)
      return this.#end("cost", `is used up: ${dollars(costUsd)} of $${maxCostUsd}.`);
    return this.#time?.over ? this.#timeOver(this.#time) : undefined;
  }

  /** Undefined: its time is not limited. */
  onTimeOver(listener: (end: BudgetEnd) => void): (() => void) | undefined {
    const time = this.#time;
    return time?.watch(() => listener(this.#timeOver(time)));
  }

  #timeOver({ elapsedMinutes, minutes }: TimeLimit): BudgetEnd {
    return this.#end("time", `is used up: ${Number(elapsedMinutes.toPrecision(3))} of ${minutes} minutes.`);
  }

  /**
   * One that is alone may always go: it exceeds the limit by a request at most. Beside others only what fits,
   * so that together they exceed it by no more than one alone does.
   */
  hasNoRoomFor(estimate: Estimate): BudgetEnd | undefined {
    const { maxTokens, maxCostUsd } = this.#limits;
    const { usage, costUsd = 0 } = this.#spent;
    const { requests, ...reserved } = this.#reserved;
    if (requests === 0) return undefined;
    const others = `for ${requests === 1 ? "a request" : `${requests} requests`} of other agents`;
    const tokens = totalTokensOf(usage);
    if (maxTokens !== undefined && tokens + reserved.tokens + estimate.tokens > maxTokens)
      return this.#end(
        "tokens",
        `has no room for another request: of ${maxTokens} tokens ${tokens} are used, ${reserved.tokens} are reserved ${others}, and this one needs about ${estimate.tokens}.`,
      );
    if (maxCostUsd !== undefined && costUsd + reserved.costUsd + estimate.costUsd > maxCostUsd)
      return this.#end(
        "cost",
        `has no room for another request: of $${maxCostUsd} ${dollars(costUsd)} is used, ${dollars(reserved.costUsd)} is reserved ${others}, and this one needs about ${dollars(estimate.costUsd)}.`,
      );
    return undefined;
  }

  countTurn(): void {
    this.#turns += 1;
  }

  reserve({ tokens, costUsd }: Estimate): void {
    const before = this.#reserved;
    this.#reserved = {
      requests: before.requests + 1,
      tokens: before.tokens + tokens,
      costUsd: before.costUsd + costUsd,
    };
  }

  release({ tokens, costUsd }: Estimate): void {
    const before = this.#reserved;
    const requests = before.requests - 1;
    // Fractions of a cent do not add up to nothing by themselves.
    this.#reserved =
      requests === 0
        ? nothingReserved
        : { requests, tokens: before.tokens - tokens, costUsd: before.costUsd - costUsd };
  }

  #end(budget: BudgetEnd["budget"], what: string): BudgetEnd {
    const name = budget === "tokens" || budget === "turns" ? budget.slice(0, -1) : budget;
    return { reason: "budget_exhausted", budget, message: `The ${name} budget of ${this.#whose} ${what}` };
  }
}

export function isLimited({ maxTurns, maxTokens, maxCostUsd, maxMinutes }: BudgetLimits): boolean {
  return (maxTurns ?? maxTokens ?? maxCostUsd ?? maxMinutes) !== undefined;
}

function timeLimitOf({ maxMinutes }: BudgetLimits, clock: Clock | undefined): TimeLimit | undefined {
  if (maxMinutes === undefined) return undefined;
  if (clock === undefined)
    throw new CadreError({ code: "budget-without-clock", message: "A budget of time needs a clock." });
  return createTimeLimit({ clock, minutes: maxMinutes });
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`;
}
