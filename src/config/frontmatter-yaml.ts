/**
 * The block as YAML 1.2 with the core schema (AD-3, rule 2), and safe against what is made to harm (AD-4).
 * Loaded only when a block needs it: the package behind it is large.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from "yaml";
import {
  type BlockFailure,
  type BlockReading,
  type FrontmatterBlock,
  type FrontmatterField,
  type FrontmatterRepair,
  maxYamlCharacters,
} from "./frontmatter-field.ts";

const maxNodes = 10_000;
const maxDepth = 50;
const maxAliases = 100;

export function readYaml(block: FrontmatterBlock): BlockReading | BlockFailure {
  const lineOf = createLineFinder(block);
  if (block.text.length > maxYamlCharacters)
    return { line: block.firstLine, reason: `it is longer than ${maxYamlCharacters} characters` };
  const document = withoutStacks(() =>
    parseDocument(block.text, {
      version: "1.2",
      schema: "core",
      uniqueKeys: false,
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: "silent",
    }),
  );
  // The only warnings are about tags: what they ask for is done by nobody here.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined)
    return { line: lineOf(problem.pos[0]), reason: problem.message.split("\n", 1)[0] ?? problem.code };
  const top = document.contents;
  if (top === null) return { fields: new Map(), repairs: [] };
  if (!isMap<ParsedNode, ParsedNode | null>(top))
    return { line: block.firstLine, reason: "it does not consist of `key: value` lines" };
  const repairs: FrontmatterRepair[] = [];
  const reader = createValueReader({
    resolve: (node) => (isAlias(node) ? node.resolve(document) : undefined),
    onRepair: (offset, what) => repairs.push({ line: lineOf(offset), what }),
  });
  try {
    return { fields: readFields({ top, block, lineOf, reader }), repairs };
  } catch (error) {
    if (error instanceof Unreadable) return { line: block.firstLine, reason: error.message };
    throw error;
  }
}

/** The package makes an error of everything it dislikes, and a stack for each takes longer than the reading. */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

interface ValueReader {
  pairsOf(map: YAMLMap<ParsedNode, ParsedNode | null>): Map<string, { key: ParsedNode; value: Node | null }>;
  readValue(node: Node | null, depth: number): unknown;
}

function readFields(options: {
  top: YAMLMap<ParsedNode, ParsedNode | null>;
  block: FrontmatterBlock;
  lineOf: (offset: number) => number;
  reader: ValueReader;
}): Map<string, FrontmatterField> {
  const { block, lineOf, reader } = options;
  const fields = new Map<string, FrontmatterField>();
  for (const [name, { key, value }] of reader.pairsOf(options.top)) {
    const isQuoted = isScalar(value) && (value.type === "QUOTE_DOUBLE" || value.type === "QUOTE_SINGLE");
    const [from, to] = value?.range ?? [0, 0];
    const written = block.text.slice(from, to).trimEnd();
    fields.set(name, {
      value: reader.readValue(value, 1),
      source: isScalar(value) && value.type === "PLAIN" ? (value.source ?? written) : written,
      quoted: isQuoted,
      line: lineOf(key.range[0]),
    });
  }
  return fields;
}

/** Thrown and caught in this file only. */
class Unreadable extends Error {}

function createValueReader(options: {
  resolve: (node: Node) => Node | undefined;
  onRepair: (offset: number, what: string) => void;
}): ValueReader {
  const { resolve, onRepair } = options;
  let nodes = 0;
  let aliases = 0;

  const pairsOf: ValueReader["pairsOf"] = (map) => {
    const pairs = new Map<string, { key: ParsedNode; value: Node | null }>();
    for (const { key, value } of map.items) {
      const offset = key.range[0];
      if (!isScalar(key)) {
        onRepair(offset, "a key that is no plain text was left out");
        continue;
      }
      const name = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
      if (name === "__proto__") onRepair(offset, "the key `__proto__` was left out");
      else {
        if (pairs.delete(name)) onRepair(offset, `\`${name}\` is there twice; the last one counts`);
        pairs.set(name, { key, value });
      }
    }
    return pairs;
  };

  const readValue: ValueReader["readValue"] = (node, depth) => {
    if (++nodes > maxNodes) throw new Unreadable(`it holds more than ${maxNodes} values`);
    if (depth > maxDepth) throw new Unreadable(`it is nested deeper than ${maxDepth} levels`);
    if (node === null) return null;
    if (isScalar(node)) return node.value;
    if (isAlias(node)) {
      // Each look for an anchor goes through the whole document.
      if (++aliases > maxAliases) throw new Unreadable(`it holds more than ${maxAliases} aliases`);
      const anchored = resolve(node);
      if (anchored === undefined) throw new Unreadable(`nothing is named &${node.source}`);
      return readValue(anchored, depth + 1);
    }
    if (isSeq<Node | null>(node)) return node.items.map((item) => readValue(item, depth + 1));
    if (!isMap<ParsedNode, ParsedNode | null>(node)) return null;
    const record: Record<string, unknown> = Object.create(null);
    for (const [name, pair] of pairsOf(node)) record[name] = readValue(pair.value, depth + 1);
    return record;
  };

  return { pairsOf, readValue };
}

/** Offsets are asked for from the front to the back, mostly: counting goes on where it stopped. */
function createLineFinder(block: FrontmatterBlock): (offset: number) => number {
  let counted = 0;
  let line = block.firstLine;
  return (offset) => {
    if (offset < counted) {
      counted = 0;
      line = block.firstLine;
    }
    for (;;) {
      const end = block.text.indexOf("\n", counted);
      if (end < 0 || end >= offset) return line;
      counted = end + 1;
      line++;
    }
  };
}
