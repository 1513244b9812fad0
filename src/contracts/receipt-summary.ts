/** From the receipt of every call to the few words and numbers that are worth telling. */
import type { CallReceipt, Receipt, ReceiptSummary } from "./receipt.ts";

type FileEntry = ReceiptSummary["files"][number];
type CommandEntry = ReceiptSummary["commands"][number];

const mostCommands = 20;
const mostFiles = 500;

/** Of a receipt that was kept. What it omits is counted, and no more is known of it. */
export function summarizeReceipt({ calls, omittedCalls }: Receipt): ReceiptSummary {
  const tally = new ReceiptTally();
  for (const call of calls) tally.add(call);
  const summary = tally.summary();
  return { ...summary, calls: summary.calls + omittedCalls };
}

/** Of calls as they end, in their order. */
export class ReceiptTally {
  calls = 0;
  #failed = 0;
  #denied = 0;
  readonly #files = new Map<string, FileEntry>();
  readonly #commands: (CommandEntry & { readonly failed: boolean })[] = [];
  #omittedCommands = 0;

  add(call: CallReceipt): void {
    this.calls++;
    if (call.outcome === "denied") this.#denied++;
    else if (call.outcome !== "done") this.#failed++;
    this.#addFile(call);
    this.#addCommand(call);
  }

  summary(): ReceiptSummary {
    // What ends as it began is not changed.
    const changed = [...this.#files.values()].filter(({ before, after }) => before !== after);
    const omittedFiles = changed.length - mostFiles;
    return {
      calls: this.calls,
      failed: this.#failed,
      denied: this.#denied,
      files: changed.slice(0, mostFiles),
      ...(omittedFiles > 0 && { omittedFiles }),
      commands: this.#commands.map(({ failed: _, ...command }) => command),
      ...(this.#omittedCommands > 0 && { omittedCommands: this.#omittedCommands }),
    };
  }

  #addFile({ path, before, after }: CallReceipt): void {
    if (path === undefined || before === undefined || after === undefined) return;
    const first = this.#files.get(path)?.before;
    this.#files.set(path, { path, before: first === undefined ? before : first, after });
  }

  #addCommand({ command, exitCode, taskId, outcome }: CallReceipt): void {
    // One that could not even start has no exit code, and was not stopped either.
    if (command === undefined || (exitCode === undefined && taskId === undefined && outcome !== "stopped"))
      return;
    const failed = outcome !== "done";
    this.#commands.push({
      command,
      exitCode: exitCode ?? null,
      ...(taskId !== undefined && { taskId }),
      failed,
    });
    if (this.#commands.length <= mostCommands) return;
    // Those that failed say more, and the latest say more than the earliest.
    const fine = this.#commands.findIndex((each) => !each.failed);
    this.#commands.splice(Math.max(0, fine), 1);
    this.#omittedCommands++;
  }
}
