/** Patterns, for Grep and Glob, that match a text as it is. */
export function escapedPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

export function wholeWord(text: string): string {
  return `${/^\w/.test(text) ? "\\b" : ""}${escapedPattern(text)}${/\w$/.test(text) ? "\\b" : ""}`;
}

/** A glob that matches the name itself. */
export function globEscaped(name: string): string {
  return name.replace(/[*?[\]{}()!@+|\\]/g, "\\$&");
}
