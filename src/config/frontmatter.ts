/**
 * The frontmatter of files that people write for agents: YAML if it can be, and still read if it is not (AD-3).
 * Which keys there are is the caller's to say: agents, skills and commands have their own.
 */
import { decodeText, splitFences } from "./frontmatter-fence.ts";
import {
  type BlockReading,
  type FrontmatterBlock,
  type FrontmatterField,
  type FrontmatterRepair,
  maxYamlCharacters,
  plainKey,
} from "./frontmatter-field.ts";
import { readLines } from "./frontmatter-lines.ts";
import { findProse, type MendedBlock, maxMendedLines, mendBlanks, quoteValues } from "./frontmatter-mend.ts";
import { readPlainLines } from "./frontmatter-plain.ts";

export interface Frontmatter {
  /** By the keys as they were written. */
  readonly fields: ReadonlyMap<string, FrontmatterField>;
  readonly body: string;
  /** Whether the file has any, be it empty. */
  readonly present: boolean;
  /** False: it was put together line by line, and what seems to be absent may have been overlooked. */
  readonly reliable: boolean;
  readonly repairs: readonly FrontmatterRepair[];
}

export interface FrontmatterReader {
  /** Never throws for what the file holds. */
  read(file: Uint8Array | string): Promise<Frontmatter>;
}

export function createFrontmatterReader(options: {
  /** As they should be written; other spellings are recognised. */
  knownKeys: readonly string[];
  /** Which one takes the text that is no field. */
  textKey?: string;
}): FrontmatterReader {
  const { knownKeys, textKey = "description" } = options;
  const plainKeys = new Set(knownKeys.map(plainKey));

  const readBlock = async (block: FrontmatterBlock): Promise<BlockReading & { reliable: boolean }> => {
    const plain = readPlainLines(block);
    if (plain !== undefined) return { ...plain, reliable: true };
    const { readYaml } = await import("./frontmatter-yaml.ts");
    // A text without its closing fence has thousands of errors: they need not be found one by one.
    const readStrict = (candidate: FrontmatterBlock) => findProse(candidate) ?? readYaml(candidate);
    const read = (candidate: FrontmatterBlock): BlockReading | undefined => {
      const reading = readPlainLines(candidate) ?? readStrict(candidate);
      return "fields" in reading ? reading : undefined;
    };

    const strict = readStrict(block);
    if ("fields" in strict) return { ...strict, reliable: true };
    const blanks = mendBlanks(block, plainKeys);
    const mended = isMendable(block) ? readMended(blanks, read) : undefined;
    if (mended !== undefined) return { ...mended, reliable: true };
    const lines = readLines({ block: blanks.block, knownKeys, textKey, readAlone: read });
    const what = `the frontmatter is not valid YAML (${strict.reason}) and was read line by line`;
    return {
      fields: lines.fields,
      repairs: [{ line: strict.line, what }, ...lines.repairs],
      reliable: false,
    };
  };

  return {
    async read(file) {
      const { text, repairs } = decodeText(file);
      const { block, body, repairs: ofFences } = splitFences(text);
      const before = [...repairs, ...ofFences];
      if (block === undefined)
        return { fields: new Map(), body, present: false, reliable: true, repairs: before };
      const reading = await readBlock(block);
      return { ...reading, body, present: true, repairs: [...before, ...reading.repairs] };
    },
  };
}

function isMendable({ text }: FrontmatterBlock): boolean {
  return text.length <= maxYamlCharacters && text.split("\n", maxMendedLines + 1).length <= maxMendedLines;
}

function readMended(
  blanks: MendedBlock,
  read: (block: FrontmatterBlock) => BlockReading | undefined,
): BlockReading | undefined {
  const withBlanks = blanks.repairs.length > 0 ? read(blanks.block) : undefined;
  if (withBlanks !== undefined)
    return { fields: withBlanks.fields, repairs: [...blanks.repairs, ...withBlanks.repairs] };
  const accepts = (text: string) => read({ text, firstLine: 1 }) !== undefined;
  const quotes = quoteValues({ block: blanks.block, accepts });
  const withQuotes = quotes.repairs.length > 0 ? read(quotes.block) : undefined;
  if (withQuotes === undefined) return undefined;
  const ours = new Set(quotes.repairs.map(({ line }) => line));
  const fields = new Map(
    Array.from(withQuotes.fields, ([key, field]) => [
      key,
      // The quotes are not the author's.
      ours.has(field.line) ? { ...field, source: String(field.value), quoted: false } : field,
    ]),
  );
  return { fields, repairs: [...blanks.repairs, ...quotes.repairs, ...withQuotes.repairs] };
}
