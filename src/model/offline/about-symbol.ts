/** What can be told of a name by rules: its definitions, their comments, and where it stands. */
import { docOfDefinition, shortened } from "./doc-comment.ts";
import { countOf } from "./folder-contents.ts";
import { languageOf } from "./languages.ts";
import { type Definition, outlineOf } from "./outline.ts";
import type { Asking } from "./playbook.ts";
import { wholeWord } from "./search-patterns.ts";
import { type FoundDefinition, findDefinitions } from "./symbol.ts";
import { told, topFiles } from "./told-counts.ts";
import { countMatches } from "./tool-calls.ts";

/** The part of `Table.show` or `Table::show` that is defined somewhere. */
export function lastPartOf(name: string): string {
  return name.split(/\.|::|#/).at(-1) ?? name;
}

export function* aboutSymbol(name: string, found: readonly FoundDefinition[]): Asking<string> {
  const last = lastPartOf(name);
  const uses = yield* countMatches({ pattern: wholeWord(last) });
  if (found.length === 0) {
    return uses.total === 0
      ? `\`${name}\` does not occur in these files (whole word, ignored files left out).`
      : `No definition of \`${name}\` found by my rules; it is used in ${told(uses, "line")}.${topFiles(uses)}`;
  }
  const parts = found.slice(0, 5).flatMap((one) => [...aboutDefinition(one), ""]);
  return [
    ...(found.length > 1 ? [`\`${name}\` has ${countOf(found.length, "definition")}.`, ""] : []),
    ...parts,
    ...(found.length > 5 ? [`And ${found.length - 5} more definitions.`, ""] : []),
    `\`${last}\` stands, as a whole word, in ${told(uses, "line")}, its definitions included.${topFiles(uses)}`,
    "",
    "This is by rules on single lines; I cannot judge what the code means.",
  ].join("\n");
}

/** In the folder or file `path`, when one is given. */
export function* definitionsOf(name: string, path?: string): Asking<FoundDefinition[]> {
  const found = yield* findDefinitions(lastPartOf(name), `I look for \`${name}\`.`);
  return path === undefined
    ? found
    : found.filter((one) => one.path === path || one.path.startsWith(`${path}/`));
}

function aboutDefinition({ path, definition, lines }: FoundDefinition): string[] {
  const doc = docOfDefinition(path, lines, definition.line);
  const length = bodyLength(path, lines, definition.line);
  const inside = membersOf(path, lines, { definition, length });
  return [
    `# ${definition.kind} \`${definition.name}\` (${path}:${definition.line})`,
    "",
    `    ${definition.signature}`,
    "",
    doc === undefined ? "It has no comment." : `Its comment: ${shortened(doc, 400)}`,
    `It is ${countOf(length, "line")} long.`,
    ...(inside.length === 0 ? [] : [`In it: ${inside.map((one) => `\`${one.name}\``).join(", ")}.`]),
  ];
}

/** Lines to the closing brace at the same indentation, or for Python to the end of the indented block. */
function bodyLength(path: string, lines: readonly string[], line: number): number {
  const indentOf = (text: string) => /^\s*/.exec(text)?.[0].length ?? 0;
  const indent = indentOf(lines[line - 1] ?? "");
  const isPython = languageOf(path)?.name === "Python";
  let last = line;
  for (let at = line; at < lines.length; at++) {
    const text = lines[at] ?? "";
    if (text.trim() === "") continue;
    if (indentOf(text) < indent) break;
    if (indentOf(text) > indent) last = at + 1;
    else if (isPython && !/^\s*[)\]}]/.test(text)) break;
    else if (/^\s*(?:[}\])]|end\b)/.test(text)) return at + 2 - line;
    else if (!/^\s*[{(]/.test(text)) break;
  }
  return last + 1 - line;
}

function membersOf(
  path: string,
  lines: readonly string[],
  whole: { definition: Definition; length: number },
): Definition[] {
  const { definition, length } = whole;
  const end = definition.line + length - 1;
  return (outlineOf(path, lines) ?? [])
    .filter((one) => one.nested && one.line > definition.line && one.line <= end)
    .slice(0, 20);
}
