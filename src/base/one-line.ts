import { forTerminal } from "./markup.ts";

/**
 * Text from anywhere as one line that is safe to show: what would break or hide it is shown as what it is, and what
 * is longer than `maxChars` is cut at a character.
 */
export function toOneLine(text: string, maxChars: number): string {
  // Only the beginning is looked at, however long the rest is; what is made visible can only be longer.
  const line = forTerminal(text.slice(0, maxChars + 1))
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t");
  return line.length <= maxChars ? line : `${cutAtCharacter(line, Math.max(0, maxChars - 3))}...`;
}

/** Its first `maxChars` characters, without half of a surrogate pair at the end. */
export function cutAtCharacter(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, "");
}
