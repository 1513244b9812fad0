/** One question of a service to the model, on an internal fork. */
import type { Scope } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { Message } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { type InternalFork, runInternalFork } from "../loop/internal-fork.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Model } from "../model/model.ts";
import type { ServiceBudget } from "./service-budget.ts";

export interface ServiceQuestion {
  readonly prompt: string;
  /** Whose conversation it is about. Default: the main agent's. */
  readonly loop?: LoopOptions;
  /** Default: all of it. */
  readonly messages?: readonly Message[];
  readonly maxOutputTokens: number;
  /** Default: two, so that a model that calls a tool is told not to and can still answer. */
  readonly maxTurns?: number;
  readonly gate?: InternalFork["gate"];
}

export interface ServiceAnswer {
  readonly text: string | undefined;
  /** Its budget has no room for more. */
  readonly exhausted: boolean;
}

/** Throws what a person should be told once. */
export async function askInternally(
  options: ServiceQuestion & {
    readonly loop: LoopOptions;
    readonly name: string;
    readonly budget: ServiceBudget;
    readonly scope: Scope;
  },
): Promise<ServiceAnswer> {
  const { loop, name, budget, scope, gate, maxOutputTokens, maxTurns = 2 } = options;
  assertCostKnown(options);
  const messages = options.messages ?? loop.history.messages;
  const { end, answer } = await runInternalFork({
    loop: { ...loop, model: askedOnce(loop.model), budget },
    messages,
    name,
    prompt: options.prompt,
    ...(gate && { gate }),
    limits: { maxTurns, maxOutputTokens },
    scope,
  });
  if (end.reason === "model_error") throw end.error;
  const isAnswer = end.reason === "completed" && end.stopReason !== "refusal" && answer.trim() !== "";
  return { text: isAnswer ? answer.trim() : undefined, exhausted: end.reason === "budget_exhausted" };
}

/** The same model, for what is not worth waiting for: whoever else asks it must not feel that it was asked. */
function askedOnce(model: Model): Model {
  return {
    ...model,
    stream(request) {
      if (request.isRetry === true)
        throw new CadreError({ code: "answer-cut", message: `The answer of ${model.id} broke off.` });
      return model.stream({ ...request, patience: "none" });
    },
  };
}

function assertCostKnown({ loop, name, budget }: Parameters<typeof askInternally>[0]): void {
  const { model, priceOf } = loop;
  if (budget.maxCostUsd === undefined || priceOf(model, model.id, noUsage) !== undefined) return;
  throw new CadreError({
    code: "price-unknown",
    message: `services.${name}.usd is set, but the price of the model "${model.id}" is not known. Set services.${name}.tokens instead.`,
  });
}
