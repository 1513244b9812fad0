/**
 * The last resort (AD-3, rule 4): only a known key in the first column begins a field, and everything else
 * continues the description, which is where people put text that YAML cannot read.
 */
import {
  type BlockReading,
  type FrontmatterBlock,
  type FrontmatterField,
  type FrontmatterRepair,
  plainKey,
} from "./frontmatter-field.ts";
import { splitEntry, unquoted } from "./frontmatter-mend.ts";

/** A field and the lines that belong to it. */
interface Section {
  readonly key: string;
  readonly line: number;
  readonly first: string;
  readonly rest: string[];
  doubtful: boolean;
}

export function readLines(options: {
  block: FrontmatterBlock;
  /** As they should be written. */
  knownKeys: readonly string[];
  /** Which one takes the lines that are no field. */
  textKey: string;
  /** Reads one field alone, if it is YAML. */
  readAlone: (block: FrontmatterBlock) => BlockReading | undefined;
}): BlockReading {
  const { block, textKey, readAlone } = options;
  const repairs: FrontmatterRepair[] = [];
  const fields = new Map<string, FrontmatterField>();
  for (const section of splitSections({ ...options, repairs })) {
    const isText = plainKey(section.key) === plainKey(textKey);
    const text = [`${section.key}: ${section.first}`, ...section.rest].join("\n");
    const isLoose = isText && section.rest.some((line) => /^\S/.test(line));
    const alone = isLoose ? undefined : readAlone({ text, firstLine: section.line })?.fields.get(section.key);
    const field = alone ?? (isText ? looseText(section) : looseValue(section));
    fields.set(section.key, section.doubtful ? { ...field, doubtful: true } : field);
  }
  if (fields.size === 0)
    repairs.push({ line: block.firstLine, what: "no field was found in the frontmatter" });
  return { fields, repairs };
}

function splitSections(options: {
  block: FrontmatterBlock;
  knownKeys: readonly string[];
  textKey: string;
  repairs: FrontmatterRepair[];
}): Iterable<Section> {
  const { block, repairs } = options;
  const lines = block.text.split("\n");
  const keyOf = createKeyFinder(lines, options.knownKeys);
  const sections = new Map<string, Section>();
  let current: Section | undefined;
  lines.forEach((text, index) => {
    const line = block.firstLine + index;
    const found = keyOf(text);
    const earlier = found === undefined ? undefined : sections.get(plainKey(found.key));
    if (found !== undefined && earlier === undefined) {
      current = { key: found.key, line, first: found.value, rest: [], doubtful: false };
      sections.set(plainKey(found.key), current);
      return;
    }
    if (earlier !== undefined) {
      earlier.doubtful = true;
      repairs.push({ line, what: `\`${earlier.key}\` is there twice; the first one counts` });
    }
    const textSection = sections.get(plainKey(options.textKey));
    const owner = current !== undefined && continues(current, text) ? current : textSection;
    owner?.rest.push(text);
  });
  return sections.values();
}

/** Another spelling (`Name`) begins a field only if the right one is nowhere: prose has such lines too. */
function createKeyFinder(
  lines: readonly string[],
  knownKeys: readonly string[],
): (line: string) => { key: string; value: string } | undefined {
  const entryOf = (line: string) => {
    const entry = splitEntry(line);
    return entry && { ...entry, key: unquoted(entry.key) };
  };
  const exact = new Set(knownKeys);
  const plain = new Set(knownKeys.map(plainKey));
  const written = new Set<string>();
  for (const line of lines) {
    const key = entryOf(line)?.key;
    if (key !== undefined && exact.has(key)) written.add(plainKey(key));
  }
  return (line) => {
    const entry = entryOf(line);
    if (entry === undefined || !plain.has(plainKey(entry.key))) return undefined;
    return exact.has(entry.key) || !written.has(plainKey(entry.key)) ? entry : undefined;
  };
}

/** Whether a line belongs to a field that is no text: it is a list, a block, or an unfinished row. */
function continues(section: Section, line: string): boolean {
  const isOpen = /^$|^[|>][-+\d]*$|^[[{]|,$/.test(section.first);
  return isOpen && (/^[ \t]/.test(line) || /^(?:- |-$|[\]}])/.test(line));
}

function looseText({ first, rest, line }: Section): FrontmatterField {
  const header = /^[|>][-+\d]*$/.test(first) ? "" : first;
  const text = [header, ...withoutMargin(rest)].join("\n").trim();
  const quote = text[0];
  const isQuoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote);
  const value = isQuoted ? text.slice(1, -1).replaceAll(`\\${quote}`, quote).trim() : text;
  return { value, source: value, quoted: false, line };
}

function looseValue({ first, rest, line }: Section): FrontmatterField {
  const source = [first, ...rest].join("\n").trim();
  return { value: unquoted(source), source, quoted: false, line };
}

function withoutMargin(lines: readonly string[]): string[] {
  const margins = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const margin = margins.reduce((least, own) => Math.min(least, own), Number.POSITIVE_INFINITY);
  return lines.map((line) => line.slice(Math.min(margin, line.length)));
}
