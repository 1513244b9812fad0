/**
 * Most frontmatter is a few lines of `key: value`, a list, a block of text. Those are read here, many times faster,
 * and the large YAML package stays unloaded. Whatever YAML could mean in another way is left to it: this reader
 * answers only where both agree.
 */
import {
  type BlockReading,
  type FrontmatterBlock,
  type FrontmatterField,
  maxYamlCharacters,
} from "./frontmatter-field.ts";

type Value = Omit<FrontmatterField, "line">;

/** Blanks that are no spaces, and characters that are not seen: YAML has its own thoughts about them. */
const oddCharacter = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[^\P{Zs} ]/u;

export function readPlainLines(block: FrontmatterBlock): BlockReading | undefined {
  if (block.text.length > maxYamlCharacters) return undefined;
  const fields = new Map<string, FrontmatterField>();
  const lines = block.text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const text = lines[at] ?? "";
    const first = at++;
    if (text === "") continue;
    const [, key, source] = /^([A-Za-z][\w-]*):(?: +(\S.*))?$/.exec(text.trimEnd()) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    while (at < lines.length && /^(?: |- |$)/.test(lines[at] ?? "")) at++;
    const below = lines.slice(first + 1, at);
    while (below.at(-1) === "") below.pop();
    if (oddCharacter.test(text) || below.some((line) => oddCharacter.test(line))) return undefined;
    const value = readEntry(source ?? "", below);
    if (value === undefined) return undefined;
    fields.set(key, { ...value, line: block.firstLine + first });
  }
  return { fields, repairs: [] };
}

function readEntry(source: string, below: readonly string[]): Value | undefined {
  if (below.length === 0) return source.startsWith("[") ? readRow(source) : readScalar(source);
  if (source === "") return readDashes(below);
  return /^[|>]-?$/.test(source) ? readText(source, below) : undefined;
}

function readScalar(source: string): Value | undefined {
  const quote = source[0];
  if (quote === '"' || quote === "'") {
    const inner = source.slice(1, -1);
    if (source.length < 2 || !source.endsWith(quote)) return undefined;
    const text = quote === "'" ? inner.replaceAll("''", "") : inner;
    if (text.includes(quote) || (quote === '"' && text.includes("\\"))) return undefined;
    return { value: quote === "'" ? inner.replaceAll("''", "'") : inner, source, quoted: true };
  }
  if (/^[1-9]\d{0,14}$/.test(source)) return { value: Number(source), source, quoted: false };
  if (source === "true" || source === "false") return { value: source === "true", source, quoted: false };
  if (!/^\p{L}/u.test(source) || /: |:$| #/.test(source) || /^(?:true|false|null)$/i.test(source))
    return undefined;
  return { value: source, source, quoted: false };
}

/** `[Read, "Grep"]` */
function readRow(source: string): Value | undefined {
  if (!source.endsWith("]")) return undefined;
  const items = source
    .slice(1, -1)
    .split(",")
    .map((item) => item.trim());
  const values = items.map((item) =>
    /^(?:[A-Za-z][\w -]*|"[\w -]*"|'[\w -]*')$/.test(item) ? readScalar(item) : undefined,
  );
  return listOf(values, source);
}

/** One `- item` a line, all with the same margin. */
function readDashes(lines: readonly string[]): Value | undefined {
  const margin = lines[0]?.indexOf("-") ?? -1;
  const start = `${" ".repeat(Math.max(margin, 0))}- `;
  const values = lines.map((line) =>
    line.startsWith(start) ? readScalar(line.slice(start.length).trim()) : undefined,
  );
  return listOf(values, lines.join("\n").trim());
}

/** More than that is YAML's to refuse. */
const maxItems = 1000;

function listOf(values: readonly (Value | undefined)[], source: string): Value | undefined {
  if (values.length > maxItems || values.includes(undefined)) return undefined;
  return { value: values.map((item) => item?.value), source, quoted: false };
}

/** `|` keeps the lines; `>` joins them, which is simple only where all have the same margin and none is blank. */
function readText(header: string, lines: readonly string[]): Value | undefined {
  const margin = (lines[0] ?? "").search(/\S/);
  if (margin < 1 || lines.some((line) => (line.trim() === "" ? line !== "" : line.search(/\S/) < margin)))
    return undefined;
  const isFolded = header.startsWith(">");
  if (isFolded && lines.some((line) => line.search(/\S/) !== margin || line.endsWith(" "))) return undefined;
  const text = lines.map((line) => line.slice(margin)).join(isFolded ? " " : "\n");
  const source = [header, ...lines].join("\n").trimEnd();
  return { value: header.endsWith("-") ? text : `${text}\n`, source, quoted: false };
}
