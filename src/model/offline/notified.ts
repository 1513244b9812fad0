/** What to say when an agent or a command that ran in the background has ended. */
import { signature, unsigned } from "./everyday-playbook.ts";
import type { Step } from "./playbook.ts";

/** Undefined: none of the texts is a notification. */
export function tellNotifications(texts: readonly string[]): Step | undefined {
  const told = texts.flatMap((text) =>
    [...text.matchAll(/<task-notification\b[^>]*>([\s\S]*?)<\/task-notification\s*>/gi)].flatMap((match) =>
      tellOne(match[1] ?? ""),
    ),
  );
  return told.length === 0 ? undefined : { text: `${told.join("\n\n---\n\n")}\n\n${signature}` };
}

function tellOne(notification: string): string[] {
  const status = inTag(notification, "status");
  const summary = inTag(notification, "summary") ?? (status === undefined ? undefined : `A task: ${status}`);
  if (summary === undefined) return [];
  const result = unsigned(inTag(notification, "result") ?? "");
  return [result === "" ? `${summary}.` : `${summary}. It reports:\n\n${result}`];
}

function inTag(text: string, tag: string): string | undefined {
  const inside = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "i").exec(text)?.[1]?.trim();
  return inside === undefined || inside === "" ? undefined : unescaped(inside);
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (whole, name: string) => characters[name] ?? whole);
}
