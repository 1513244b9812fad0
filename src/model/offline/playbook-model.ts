import { throwIfCancelled } from "../../base/cancellation.ts";
import { isCancelled, messageOf } from "../../base/errors.ts";
import type { Message } from "../../contracts/message.ts";
import type { Model, ModelRequest } from "../model.ts";
import { ModelError } from "../model-error.ts";
import { readExchanges } from "./conversation.ts";
import { firstPlay, type Play, type Playbook, type Step } from "./playbook.ts";
import { nextStep } from "./replay.ts";
import { eventsOf } from "./stream-step.ts";

export interface PlaybookModelOptions {
  readonly provider: string;
  readonly id: string;
  /** Asked in order; the first that starts a play has the task. */
  readonly playbooks: readonly Playbook[];
  /** What to say when no playbook takes the task, or when the conversation is not one it could have led. */
  readonly lost: () => Step;
  /** What to say to words of the runtime: at once when nothing is under way, else after the answer. */
  readonly told?: (texts: readonly string[]) => Step | undefined;
  /** What to say instead, whatever the conversation is about. */
  readonly instead?: (messages: readonly Message[]) => Step | undefined;
  readonly contextWindow?: number;
}

// Far more than a conversation ever holds: there is no model behind this that could be overwhelmed.
const defaultContextWindow = 10_000_000;

export function createPlaybookModel(options: PlaybookModelOptions): Model {
  return {
    provider: options.provider,
    id: options.id,
    contextWindow: options.contextWindow ?? defaultContextWindow,
    async *stream(request) {
      throwIfCancelled(request.scope);
      const step = planStep(options, request);
      for (const event of eventsOf(step, { request, model: options.id })) {
        throwIfCancelled(request.scope);
        yield event;
      }
    },
  };
}

function planStep(options: PlaybookModelOptions, request: ModelRequest): Step {
  const toolNames = new Set(request.tools.map((tool) => tool.name));
  try {
    const instead = options.instead?.(request.messages);
    if (instead !== undefined) return instead;
    return nextStep({
      exchanges: readExchanges(request.messages),
      offers: (name) => toolNames.has(name),
      start: (task) => firstPlay(options.playbooks, task) ?? answerWith(options.lost()),
      lost: options.lost,
      ...(options.told && { told: options.told }),
    });
  } catch (error) {
    if (isCancelled(error)) throw error;
    throw new ModelError({
      kind: "rejected",
      message: `The ${options.id} model failed on this request, which is a bug in it: ${messageOf(error)}`,
      cause: error,
    });
  }
}

// biome-ignore lint/correctness/useYield: a play that needs no tool still is a play.
function* answerWith(step: Step): Play {
  return step;
}
