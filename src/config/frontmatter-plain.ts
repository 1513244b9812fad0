/**
 * Most frontmatter is a few lines of `key: value`. Those are read here, and the large YAML package stays
 * unloaded. Whatever YAML could mean in another way is left to it: this reader answers only where both agree.
 */
import type { BlockReading, FrontmatterBlock, FrontmatterField } from "./frontmatter-field.ts";

/** Blanks that are no spaces, and characters that are not seen: YAML has its own thoughts about them. */
const oddCharacter = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[^\P{Zs} ]/u;

export function readPlainLines(block: FrontmatterBlock): BlockReading | undefined {
  const fields = new Map<string, FrontmatterField>();
  let line = block.firstLine - 1;
  for (const text of block.text.split("\n")) {
    line++;
    if (text === "") continue;
    if (oddCharacter.test(text)) return undefined;
    const [, key, source] = /^([A-Za-z][\w-]*): +(\S.*)$/.exec(text.trimEnd()) ?? [];
    if (key === undefined || source === undefined || fields.has(key)) return undefined;
    const read = readScalar(source);
    if (read === undefined) return undefined;
    fields.set(key, { ...read, line });
  }
  return { fields, repairs: [] };
}

function readScalar(source: string): Omit<FrontmatterField, "line"> | undefined {
  const quote = source[0];
  if (quote === '"' || quote === "'") {
    const inner = source.slice(1, -1);
    const isWhole = source.length > 1 && source.endsWith(quote);
    if (!isWhole || inner.includes(quote) || inner.includes("\\")) return undefined;
    return { value: inner, source, quoted: true };
  }
  if (/^[1-9]\d{0,14}$/.test(source)) return { value: Number(source), source, quoted: false };
  if (source === "true" || source === "false") return { value: source === "true", source, quoted: false };
  if (!/^\p{L}/u.test(source) || /: |:$| #/.test(source) || /^(?:true|false|null)$/i.test(source))
    return undefined;
  return { value: source, source, quoted: false };
}
