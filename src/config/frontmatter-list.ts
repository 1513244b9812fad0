/** Lists as people write them: YAML lists, JSON arrays, rows with commas, one item a line (AD-3, rule 5). */

/** The items of a value, or undefined where it says nothing. */
export function readList(value: unknown, options: { atSpaces?: boolean } = {}): string[] | undefined {
  if (value === null || value === undefined) return undefined;
  const text = Array.isArray(value) ? value.map(itemText).join(", ") : itemText(value);
  return splitList(text, options);
}

/** Splits at commas and line ends, outside of brackets. */
export function splitList(given: string, options: { atSpaces?: boolean } = {}): string[] {
  // A list whose dashes YAML took for text.
  const text = withoutFrame(given.trim()).replaceAll(/\s-\s/g, "\n");
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  const take = (to: number) => items.push(cleanItem(text.slice(from, to)));
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
    else if (
      depth === 0 &&
      (character === "," || character === "\n" || isSplittingSpace(character, options))
    ) {
      take(at);
      from = at + 1;
    }
  }
  take(text.length);
  return [...new Set(items.filter((item) => item !== ""))];
}

function isSplittingSpace(character: string, options: { atSpaces?: boolean }): boolean {
  return options.atSpaces === true && (character === " " || character === "\t");
}

/** YAML takes `Bash(git log: *)` for a key with a value; it is put together again. */
function itemText(item: unknown): string {
  if (Array.isArray(item)) return item.map(itemText).join(", ");
  if (typeof item !== "object" || item === null) return item === null ? "" : String(item);
  return Object.entries(item)
    .map(([key, value]) => (value === null || value === true ? key : `${key}: ${itemText(value)}`))
    .join(", ");
}

/** The brackets of a list that was not read as one. */
function withoutFrame(text: string): string {
  if (!text.startsWith("[")) return text;
  return text.endsWith("]") ? text.slice(1, -1) : text.slice(1);
}

function cleanItem(item: string): string {
  let text = item.trim();
  if (text.startsWith("- ")) text = text.slice(2).trim();
  while (text !== "" && "\"'`".includes(text[0] ?? " ")) text = text.slice(1).trimStart();
  while (text !== "" && "\"'`".includes(text.at(-1) ?? " ")) text = text.slice(0, -1).trimEnd();
  return text;
}
