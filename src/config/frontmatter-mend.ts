/** Blocks that YAML rejects, changed as little as makes them YAML (AD-3, rule 3). Lines stay where they are. */
import {
  type BlockFailure,
  type FrontmatterBlock,
  type FrontmatterRepair,
  plainKey,
} from "./frontmatter-field.ts";

export interface MendedBlock {
  readonly block: FrontmatterBlock;
  readonly repairs: readonly FrontmatterRepair[];
}

/** More is no frontmatter but a text that has lost its fence; trying each line would take long. */
export const maxMendedLines = 1000;

/** Blanks where YAML wants spaces, and the colon after a known key: what an editor shows does not tell them apart. */
export function mendBlanks(block: FrontmatterBlock, knownKeys: ReadonlySet<string>): MendedBlock {
  const repairs: FrontmatterRepair[] = [];
  const lines = block.text.split("\n").map((line, index) => {
    const mended = mendColon(mendIndentation(line), knownKeys);
    if (mended !== line)
      repairs.push({
        line: block.firstLine + index,
        what: "blanks were put right (tabs, or a missing space)",
      });
    return mended;
  });
  const margin = lines.find((line) => line.trim() !== "")?.search(/\S/) ?? 0;
  const shared = lines.every((line) => line.trim() === "" || line.search(/\S/) >= margin) ? margin : 0;
  const text = lines.map((line) => line.slice(Math.min(shared, line.length))).join("\n");
  return { block: { ...block, text }, repairs };
}

function mendIndentation(line: string): string {
  const indentation = line.length - line.trimStart().length;
  const blanks = line.slice(0, indentation);
  if (blanks === " ".repeat(indentation)) return line;
  return blanks.replaceAll("\t", "  ").replaceAll(/[^ ]/g, " ") + line.slice(indentation);
}

function mendColon(line: string, knownKeys: ReadonlySet<string>): string {
  const colon = line.search(/[:：]/);
  if (colon <= 0 || colon > maxKeyCharacters) return line;
  const after = line[colon + 1];
  if (line[colon] === ":" && (after === undefined || after === " ")) return line;
  if (!knownKeys.has(plainKey(unquoted(line.slice(0, colon).trimEnd())))) return line;
  return `${line.slice(0, colon)}: ${line.slice(colon + 1).trimStart()}`;
}

/** A line of prose in the first column, after a field: no YAML, whatever is done to the other lines. */
export function findProse({ text, firstLine }: FrontmatterBlock): BlockFailure | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "" && !line.startsWith("#"));
  if (splitEntry(lines[first] ?? "") === undefined) return undefined;
  const prose = lines.findIndex((line) => /^[^\s#?&!\]}).-]/.test(line) && !/:(?:\s|$)/.test(line));
  return prose < 0
    ? undefined
    : { line: firstLine + prose, reason: "A line is neither a field nor part of one" };
}

/** Puts single quotes around each value that stands on one line and that YAML rejects on its own. */
export function quoteValues(options: {
  block: FrontmatterBlock;
  /** Whether YAML takes this text. */
  accepts: (text: string) => boolean;
}): MendedBlock {
  const { block, accepts } = options;
  const repairs: FrontmatterRepair[] = [];
  const lines = block.text.split("\n");
  const quoted = lines.map((line, index) => {
    const entry = splitEntry(line);
    if (entry === undefined || entry.value === "" || !isWhole(lines, index) || accepts(line)) return line;
    repairs.push({
      line: block.firstLine + index,
      what: `the value of \`${unquoted(entry.key)}\` is not valid YAML and was read as plain text; put it in quotes`,
    });
    return `${entry.key}: '${entry.value.replaceAll("'", "''")}'`;
  });
  return { block: { ...block, text: quoted.join("\n") }, repairs };
}

/** A key and the rest of its line. The key begins in the first column. */
export function splitEntry(line: string): { key: string; value: string } | undefined {
  const colon = line.search(/:(?:\s|$)/);
  if (colon <= 0 || colon > maxKeyCharacters) return undefined;
  const key = line.slice(0, colon).trimEnd();
  if (!/^(?:[A-Za-z_][\w .-]*|"[\w .-]+"|'[\w .-]+')$/.test(key)) return undefined;
  return { key, value: line.slice(colon + 1).trim() };
}

export function unquoted(key: string): string {
  return /^(["']).*\1$/.test(key) ? key.slice(1, -1) : key;
}

const maxKeyCharacters = 80;

/** Whether the entry ends with its line: what follows is the next one, a comment, or nothing. */
function isWhole(lines: readonly string[], index: number): boolean {
  for (let next = index + 1; next < lines.length; next++) {
    const line = lines[next] ?? "";
    if (line.trim() === "") continue;
    return line.startsWith("#") || splitEntry(line) !== undefined;
  }
  return true;
}
