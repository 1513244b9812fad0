/** The receipt of one run, written as its calls end. Whoever owns it makes it at the first call. */
import { cutAtCharacter } from "../base/one-line.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { CallReceipt, Receipt, ReceiptSummary } from "../contracts/receipt.ts";
import { ReceiptTally, summarizeReceipt } from "../contracts/receipt-summary.ts";

const mostCalls = 500;
const mostChars = { path: 4_096, command: 1_000, tool: 200 } as const;

export class ReceiptBook {
  #calls: readonly CallReceipt[] = [];
  /** Of all calls; made when the first of them is left out. */
  #tally: ReceiptTally | undefined;

  see(event: LoopEvent): void {
    if (event.type !== "call-end" || event.receipt === undefined) return;
    const call = withinLimits(event.receipt);
    if (this.#calls.length === mostCalls) this.#tally ??= tallyOf(this.#calls);
    this.#tally?.add(call);
    // A copy has no room for more, which most agents never need.
    const calls = [...this.#calls, call];
    if (calls.length > mostCalls) calls.splice(leastTelling(calls), 1);
    this.#calls = calls;
  }

  receipt(): Receipt {
    const omittedCalls = this.#tally === undefined ? 0 : this.#tally.calls - this.#calls.length;
    return { calls: [...this.#calls], omittedCalls };
  }

  summary(): ReceiptSummary {
    return this.#tally?.summary() ?? summarizeReceipt({ calls: [...this.#calls], omittedCalls: 0 });
  }
}

/** Calls are many, and some commands are whole programs. */
function withinLimits(call: CallReceipt): CallReceipt {
  const { path = "", command = "", tool } = call;
  if (path.length <= mostChars.path && command.length <= mostChars.command && tool.length <= mostChars.tool)
    return call;
  return {
    ...call,
    tool: cutAtCharacter(tool, mostChars.tool),
    ...(call.path !== undefined && { path: cutAtCharacter(path, mostChars.path) }),
    ...(call.command !== undefined && { command: cutAtCharacter(command, mostChars.command) }),
  };
}

function tallyOf(calls: readonly CallReceipt[]): ReceiptTally {
  const tally = new ReceiptTally();
  for (const call of calls) tally.add(call);
  return tally;
}

/** The first that only looked at something; else one in the middle: how it began and how it ended says more. */
function leastTelling(calls: readonly CallReceipt[]): number {
  const idle = calls.findIndex(
    ({ outcome, after, command, taskId }) =>
      outcome === "done" && after === undefined && command === undefined && taskId === undefined,
  );
  return idle === -1 ? calls.length >> 1 : idle;
}
