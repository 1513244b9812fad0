/** A fact worth keeping, as one line of a file that people can read and edit. */
import { neutralizeTags, restoreTags } from "../base/markup.ts";
import { toOneLine } from "../base/one-line.ts";

export interface Fact {
  /**
   * `user`: the user's own words. `learned`: what a model made of files, tools and pages, which anybody may have
   * written. `hand`: a line that somebody wrote into the file.
   */
  readonly source: "user" | "learned" | "hand";
  readonly text: string;
  /** `YYYY-MM-DD`. */
  readonly date?: string;
  /** The beginning of the id of the session that it comes from. */
  readonly session?: string;
}

export const longestFact = 400;

export function formatFact({ source, text, date, session }: Fact): string {
  const words = cleanText(text);
  if (source === "hand") return `- ${words}`;
  const origin = session === undefined ? "" : ` (session ${session})`;
  return `- ${date ?? "0000-00-00"} ${source}: ${words}${origin}`;
}

const written =
  /^- (?<date>\d{4}-\d{2}-\d{2}) (?<source>user|learned): (?<text>.*?)(?: \(session (?<session>[0-9a-f]{1,8})\))?$/;

/** Undefined: the line holds none, but a heading, a comment or nothing. */
export function parseFact(line: string): Fact | undefined {
  const trimmed = line.trim();
  const { date, source, text, session } = written.exec(trimmed)?.groups ?? {};
  if ((source === "user" || source === "learned") && text !== undefined && date !== undefined)
    return { source, text: cleanText(text), date, ...(session !== undefined && { session }) };
  if (trimmed === "" || /^(#|<!--)/.test(trimmed)) return undefined;
  return { source: "hand", text: cleanText(trimmed.replace(/^[-*]\s+/, "")) };
}

/** One line that can be shown anywhere and cannot pose as the runtime's words. What is clean stays as it is. */
function cleanText(text: string): string {
  return neutralizeTags(toOneLine(restoreTags(text).replace(/\s+/g, " ").trim(), longestFact));
}

/** Facts with the same key say the same in the same letters. */
export function keyOfFact({ text }: Pick<Fact, "text">): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
