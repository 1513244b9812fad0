import { cutAtCharacter } from "./one-line.ts";

/** Of a long text the beginning and the end. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const end = half === 0 ? "" : text.slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${cutAtCharacter(text, half)}\n(${text.length - 2 * half} characters left out)\n${end}`;
}
