/** Takes fields one by one as what they should be. A value of the wrong type is told and falls back (AD-2). */
import { type FrontmatterField, type FrontmatterRepair, plainKey } from "../config/frontmatter-field.ts";
import { readList } from "../config/frontmatter-list.ts";

export interface FieldTaker {
  /** The field under the first of these names that is there. It is known from now on. */
  take(...names: readonly string[]): FrontmatterField | undefined;
  /** Where it stands; 1 if it does not. */
  lineOf(...names: readonly string[]): number;
  /** One line of text. */
  word(...names: readonly string[]): string | undefined;
  /** Text of any length, as it was written. */
  text(...names: readonly string[]): string | undefined;
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined;
  count(name: string): number | undefined;
  flag(name: string): boolean | undefined;
  list(name: string): readonly string[] | undefined;
  /** What nobody took, as it was written. */
  rest(): Readonly<Record<string, unknown>> | undefined;
  report(line: number, what: string): void;
  /** Of a field that is not what it should be. */
  reject(name: string, field: FrontmatterField, wanted: string): undefined;
}

export function createFieldTaker(
  fields: ReadonlyMap<string, FrontmatterField>,
  repairs: FrontmatterRepair[],
): FieldTaker {
  const taken = new Set<string>();
  let spellings: Map<string, string> | undefined;
  const report = (line: number, what: string) => void repairs.push({ line, what });
  const reject = (name: string, { line, source }: FrontmatterField, wanted: string): undefined =>
    report(line, `\`${name}\` should be ${wanted}, not ${shorten(source)}; it is ignored`);

  const keyOf = (names: readonly string[]): string | undefined => {
    const exact = names.find((name) => fields.has(name));
    if (exact !== undefined) return exact;
    spellings ??= new Map(Array.from(fields.keys(), (key) => [plainKey(key), key]));
    return names.map((name) => spellings?.get(plainKey(name))).find((key) => key !== undefined);
  };
  const take = (...names: readonly string[]): FrontmatterField | undefined => {
    const key = keyOf(names);
    const field = key === undefined ? undefined : fields.get(key);
    if (key === undefined || field === undefined) return undefined;
    taken.add(key);
    if (!names.includes(key)) report(field.line, `\`${key}\` is read as \`${names[0]}\``);
    return field;
  };

  const word = (...names: readonly string[]): string | undefined => {
    const field = take(...names);
    if (field === undefined || field.value === null) return undefined;
    if (typeof field.value === "object") return reject(names[0] ?? "", field, "text");
    const written = typeof field.value === "string" ? field.value : field.source;
    const clean = withoutStrayQuotes(written)
      .replaceAll(/[\s\p{Cc}]+/gu, " ")
      .trim();
    return clean === "" ? undefined : clean;
  };

  return {
    take,
    lineOf: (...names) => fields.get(keyOf(names) ?? "")?.line ?? 1,
    report,
    reject,
    word,
    text(...names) {
      const field = take(...names);
      if (field === undefined || field.value === null) return undefined;
      const { value, source, quoted } = field;
      if (typeof value === "object") report(field.line, `\`${names[0]}\` is read as text; put it in quotes`);
      const written = typeof value === "string" ? value : source;
      const text = (quoted ? written : withNewlines(written)).trim();
      return text === "" ? undefined : text;
    },
    choice(name, choices) {
      const field = take(name);
      if (field === undefined || field.value === null) return undefined;
      const found = choices.find((choice) => choice === field.value);
      return found ?? reject(name, field, `one of ${choices.join(", ")}`);
    },
    count(name) {
      const field = take(name);
      if (field === undefined || field.value === null) return undefined;
      return positiveInteger(field.value) ?? reject(name, field, "a positive whole number");
    },
    flag(name) {
      const field = take(name);
      if (field === undefined || field.value === null) return undefined;
      return truthOf(field.value) ?? reject(name, field, "true or false");
    },
    list(name) {
      const field = take(name);
      return field && readList(field.value);
    },
    rest() {
      const record: Record<string, unknown> = Object.create(null);
      let isEmpty = true;
      for (const [key, { value, line }] of fields) {
        if (taken.has(key)) continue;
        report(line, `\`${key}\` is not a field of agents; it is kept and has no effect`);
        record[key] = value;
        isEmpty = false;
      }
      return isEmpty ? undefined : record;
    },
  };
}

export function positiveNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}

export function positiveInteger(value: unknown): number | undefined {
  const number = positiveNumber(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** YAML of old had more words for it, and people still write them. */
function truthOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  if (/^(?:true|yes|on)$/i.test(value)) return true;
  return /^(?:false|no|off)$/i.test(value) ? false : undefined;
}

/** `\n` as two characters: common in descriptions that were once part of JSON. */
function withNewlines(text: string): string {
  return text.includes("\\n") ? text.replaceAll(/(?<!\\)\\n/g, "\n") : text;
}

/** Quotes that do not match, or that only look like some, are none. */
function withoutStrayQuotes(text: string): string {
  return text
    .replaceAll(/[\u201C-\u201E]/g, "")
    .replace(/^\s*["'`](?=[^"'`]*$)/, "")
    .replace(/(?<=^[^"'`]*)["'`]\s*$/, "");
}

function shorten(source: string): string {
  const line = source.replaceAll(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 60)}...` : line;
}
