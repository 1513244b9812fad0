/** What to say when the runtime tells of something that went on beside the conversation. */
import { signature, unsigned } from "./everyday-playbook.ts";
import type { Step } from "./playbook.ts";
import {
  isFromMain,
  readAgentMessages,
  readNotifications,
  readReceipts,
  readReminders,
  type TaskNotification,
} from "./runtime-words.ts";
import { readTestReport } from "./test-report.ts";

/** Undefined: there is nothing among these texts that a person should hear. */
export function tellNews(texts: readonly string[]): Step | undefined {
  const receipts = texts.flatMap(readReceipts);
  const told = texts.flatMap((text) => [
    ...readNotifications(text).flatMap((one) =>
      tellEnd(one, receipts.find(({ taskId }) => taskId === one.taskId)?.lines),
    ),
    ...readAgentMessages(text).flatMap(({ from, id, text }) =>
      isFromMain({ from, id }) ? [] : [`${from || "Somebody"} writes:\n\n${quoted(text)}`],
    ),
    ...readReminders(text).flatMap(tellReminder),
  ]);
  return told.length === 0 ? undefined : { text: `${told.join("\n\n---\n\n")}\n\n${signature}` };
}

function tellEnd(one: TaskNotification, receipt: string | undefined): string[] {
  const { status, summary = status === undefined ? undefined : `A task: ${status}` } = one;
  if (summary === undefined) return [];
  const result = unsigned(one.result ?? "");
  const seen = receipt === undefined ? [] : [quoted(receipt)];
  if (result === "") return [[`${summary}.`, ...seen].join("\n\n")];
  if (isCommand(summary)) {
    const lead = `${summary}.${countsIn(summary, result)}`;
    return [[lead, ...outputLines(result, status), ...seen].join("\n\n")];
  }
  return [[`${summary}. ${said(status)}:`, result, ...seen].join("\n\n")];
}

/** Where a command did not end well, an error may stand in place of its output. */
function outputLines(result: string, status: string | undefined): string[] {
  if (result === "(no output)") return ["It printed nothing."];
  return [status === "completed" ? "The end of its output:" : "What is known of it:", indented(result)];
}

/** Of one that failed this may be an error, and what a stopped one said is not all. */
function said(status: string | undefined): string {
  if (status === "failed") return "What is known of it";
  return status === "killed" ? "What there was until then" : "It reports";
}

function isCommand(summary: string): boolean {
  return summary.startsWith("Background command ");
}

/** Of tests, and only of what the runner itself has counted. */
function countsIn(summary: string, output: string): string {
  const report = summary.includes(`"${testDescription}"`) ? readTestReport(output) : undefined;
  if (report === undefined) return "";
  const counts = (["passed", "failed", "skipped"] as const).flatMap((key) =>
    report[key] === undefined ? [] : [`${report[key]} ${key}`],
  );
  return counts.length === 0 ? "" : ` ${counts.join(", ")} (${report.runner}).`;
}

/** What a run of the tests is called. */
export const testDescription = "Run the tests";

/** A command that seems to wait is worth a word; other reminders are for the model alone. */
function tellReminder(text: string): string[] {
  const [, who, last] =
    /^(The background command "[\s\S]*" \(task \S+\)) has written nothing for [^\n]*\n([^\n]*)/.exec(text) ??
    [];
  if (who === undefined) return [];
  return [
    `${who} seems to wait for an answer, which nobody can give:\n\n${indented(last ?? "")}\n\n"stop it" ends it.`,
  ];
}

function quoted(text: string): string {
  return text.replace(/^/gm, "> ");
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "    ");
}
