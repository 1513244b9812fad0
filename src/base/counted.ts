import { groupDigits } from "./group-digits.ts";

/** `1 call`, `1,200 calls`. */
export function counted(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
}
