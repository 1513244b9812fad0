import type { LoopEnd } from "../../contracts/event.ts";

/** What the command tells its caller. `cadre --help` lists them. */
export const exitCodes = {
  success: 0,
  failed: 1,
  usage: 2,
  noModel: 3,
  interrupted: 130,
  readerGone: 141,
  terminated: 143,
} as const;

export function exitCodeOfEnd(end: LoopEnd): number {
  switch (end.reason) {
    case "completed":
    case "hook_stopped":
      return exitCodes.success;
    case "aborted":
      return exitCodes.interrupted;
    case "model_error":
      return exitCodeOfError(end.error);
    case "max_turns":
    case "context_exhausted":
    case "budget_exhausted":
      return exitCodes.failed;
  }
}

const usageCodes = new Set([
  "usage",
  "settings-invalid",
  "transcript-unwritable",
  "journal-unwritable",
  "folder-not-private",
  "session-exists",
  "session-unknown",
  "session-in-use",
  "rule-not-understood",
  "bypass-refused",
  "price-unknown",
  "model-unknown",
  "model-provider-missing",
  "model-base-url",
  "nothing-to-say",
  "input-invalid",
]);
/** Asking the same again later, or with a key, may well work: worth telling apart for scripts. */
const noModelCodes = new Set([
  "model-key-missing",
  "model-unauthorized",
  "model-unavailable",
  "model-overloaded",
  "model-cut",
]);

export function exitCodeOfError(error: unknown): number {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (usageCodes.has(code)) return exitCodes.usage;
  if (noModelCodes.has(code)) return exitCodes.noModel;
  return exitCodes.failed;
}
