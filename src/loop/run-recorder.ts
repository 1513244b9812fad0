import type { Clock } from "../base/world.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { textOf } from "../contracts/message-content.ts";
import type { RunEndRecord } from "../transcript/record.ts";
import type { Budget } from "./budget.ts";

/** Watches the events of one run and sums them up. */
export interface RunRecorder {
  see(event: LoopEvent): void;
  /** Of the last message that says something: one that ends in a call may have no words (SP-20). */
  readonly text: string;
  readonly turns: number;
  readonly toolUses: number;
  readonly apiDurationMs: number;
  readonly durationMs: number;
  readonly permissionDenials: readonly { toolName: string; toolUseId: string; input: unknown }[];
  record(end: LoopEnd): RunEndRecord;
}

export function createRunRecorder(options: { clock: Clock; budget: Budget }): RunRecorder {
  return new EventRecorder(options);
}

const noDenials: RunRecorder["permissionDenials"] = [];

class EventRecorder implements RunRecorder {
  text = "";
  turns = 0;
  toolUses = 0;
  apiDurationMs = 0;
  permissionDenials = noDenials;
  readonly #clock: Clock;
  readonly #budget: Budget;
  readonly #startedMs: number;

  constructor({ clock, budget }: { clock: Clock; budget: Budget }) {
    this.#clock = clock;
    this.#budget = budget;
    this.#startedMs = clock.monotonicMs();
  }

  get durationMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  see(event: LoopEvent): void {
    switch (event.type) {
      case "turn-end":
        this.turns = event.turn;
        this.apiDurationMs += event.modelMs;
        return;
      case "message-append":
        if (event.message.role === "assistant") this.text = textOf(event.message.content) || this.text;
        return;
      case "call-end":
        this.toolUses++;
        return;
      case "call-denied": {
        const { name, id, input } = event.call;
        this.permissionDenials = [...this.permissionDenials, { toolName: name, toolUseId: id, input }];
      }
    }
  }

  record(end: LoopEnd): RunEndRecord {
    const { usage, costUsd } = this.#budget;
    return {
      type: "run-end",
      reason: end.reason,
      turns: this.turns,
      usage,
      ...(costUsd !== undefined && { costUsd }),
      durationMs: Math.round(this.durationMs),
    };
  }
}
