import { Budget } from "../loop/budget.ts";
import type { BudgetLimits } from "../loop/budget-limit.ts";

/**
 * What a service may use. What it uses counts for the session as well, but it reserves nothing there: the main loop must
 * never be told that there is no room for its request because a service has one on its way.
 */
export class ServiceBudget extends Budget {
  readonly #session: Budget;

  constructor(options: { limits: BudgetLimits; name: string; session: Budget }) {
    super({ limits: options.limits, whose: `the service ${options.name}` });
    this.#session = options.session;
  }

  override charge(charge: Parameters<Budget["charge"]>[0]): void {
    this.#session.charge(charge);
    super.charge(charge);
  }
}
