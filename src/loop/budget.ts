/**
 * What an agent and all that it starts may use: turns, tokens, dollars, time. Budgets are a tree: what is charged
 * to one is charged to all above it, and what one request will take is reserved in all of them before it is made.
 */
import { CadreError } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import { addUsage, noUsage, type Usage } from "../contracts/usage.ts";
import {
  type BudgetEnd,
  BudgetLimit,
  type BudgetLimits,
  type Estimate,
  isLimited,
  nothingReserved,
  type Reserved,
} from "./budget-limit.ts";

export function createBudget(limits: BudgetLimits, options: { clock?: Clock; whose?: string } = {}): Budget {
  return new Budget({ limits, whose: options.whose ?? "the session", clock: options.clock });
}

/** Room for one request, here and above. */
export interface Reservation {
  /** The request has ended, and what it took is charged next. The second time does nothing. */
  release(): void;
}

export class Budget {
  readonly #parent: Budget | undefined;
  readonly #clock: Clock | undefined;
  /** The nearest that is limited: its own, or that of an ancestor. */
  readonly #limit: BudgetLimit | undefined;
  #usage = noUsage;
  #usageByModel: Record<string, Usage> = noUsageByModel;
  #costUsd: number | undefined = 0;

  constructor(options: { limits: BudgetLimits; whose: string; clock?: Clock; parent?: Budget }) {
    const { limits, whose, clock, parent } = options;
    this.#parent = parent;
    this.#clock = clock;
    const above = parent === undefined ? undefined : parent.#limit;
    this.#limit = isLimited(limits) ? new BudgetLimit({ limits, whose, spent: this, above, clock }) : above;
  }

  /** A part of this one, with limits of its own. What is charged to it is charged here too. */
  child(limits: BudgetLimits, options: { whose?: string } = {}): Budget {
    const whose = options.whose ?? "this agent";
    return new Budget({ limits, whose, clock: this.#clock, parent: this });
  }

  get usage(): Usage {
    return this.#usage;
  }

  get usageByModel(): Readonly<Record<string, Usage>> {
    return this.#usageByModel;
  }

  /** Undefined when something with an unknown price was charged. */
  get costUsd(): number | undefined {
    return this.#costUsd;
  }

  /** Whether it, or one above it, has any limit. */
  get limited(): boolean {
    return this.#limit !== undefined;
  }

  /** The lowest in dollars, of it and of those above. */
  get maxCostUsd(): number | undefined {
    return this.#limit?.lowestMaxCostUsd;
  }

  /** By requests on their way, in the nearest budget that is limited. */
  get reserved(): Reserved {
    return this.#limit?.reserved ?? nothingReserved;
  }

  /** `costUsd` undefined: the price of this model is not known. */
  charge(charge: { modelId: string; usage: Usage; costUsd: number | undefined }): void {
    this.#parent?.charge(charge);
    const { modelId, usage, costUsd } = charge;
    this.#usage = addUsage(this.#usage, usage);
    if (this.#usageByModel === noUsageByModel) this.#usageByModel = {};
    this.#usageByModel[modelId] = addUsage(this.#usageByModel[modelId] ?? noUsage, usage);
    this.#costUsd =
      this.#costUsd === undefined || costUsd === undefined ? undefined : this.#costUsd + costUsd;
  }

  /** Set when nothing may begin any longer, because this budget, or one above it, is used up. */
  exhausted(): BudgetEnd | undefined {
    for (let limit = this.#limit; limit !== undefined; limit = limit.above) {
      const end = limit.usedUp({ beginsTurn: true });
      if (end) return end;
    }
    return undefined;
  }

  /** For a request that is made next; or which budget has no room for it. A turn that begins with it is counted. */
  reserve(request: { beginsTurn: boolean; estimate: () => Estimate }): Reservation | BudgetEnd {
    const nearest = this.#limit;
    const estimate = nearest?.needsEstimate ? request.estimate() : nothingReserved;
    for (let limit = nearest; limit !== undefined; limit = limit.above) {
      const end = limit.usedUp(request) ?? limit.hasNoRoomFor(estimate);
      if (end) return end;
    }
    for (let limit = nearest; limit !== undefined; limit = limit.above) {
      limit.reserve(estimate);
      if (request.beginsTurn) limit.countTurn();
    }
    let held = true;
    return {
      release() {
        if (!held) return;
        held = false;
        for (let limit = nearest; limit !== undefined; limit = limit.above) limit.release(estimate);
      },
    };
  }

  /** Calls back when the time of this budget, or of one above it, is over. Undefined: none of them has such a limit. */
  onTimeOver(listener: (end: BudgetEnd) => void): (() => void) | undefined {
    let limit = this.#limit;
    if (limit === undefined) return undefined;
    const stops: (() => void)[] = [];
    for (; limit !== undefined; limit = limit.above) {
      const stop = limit.onTimeOver(listener);
      if (stop) stops.push(stop);
    }
    if (stops.length === 0) return undefined;
    return () => {
      for (const stop of stops) stop();
    };
  }
}

const noUsageByModel: Record<string, Usage> = Object.freeze({});

/** A cost limit that cannot be watched is an error, not a limit of zero or of nothing (LO-7). */
export function assertPriceKnown(options: {
  modelId: string;
  priceKnown: boolean;
  /** Of a session before it begins; of an agent its budget, which knows those above it. */
  limits: Pick<BudgetLimits, "maxCostUsd">;
}): void {
  if (options.limits.maxCostUsd === undefined || options.priceKnown) return;
  throw new CadreError({
    code: "price-unknown",
    message: `A cost limit is set, but the price of the model "${options.modelId}" is not known. Leave out the limit (--max-cost, or usd in a budget), limit turns instead (--max-turns), or choose a model with a known price.`,
  });
}
