import { docOfDefinition, docOfFile, firstParagraph, shortened } from "../doc-comment.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-purpose.ts";
import { baseNameOf, extensionOf, languageOf } from "../languages.ts";
import { type Definition, importsOf, outlineOf } from "../outline.ts";
import type { Asking, Task } from "../playbook.ts";
import { type FoundDefinition, findDefinitions } from "../symbol.ts";
import { countMatches, glob, globAll, readWhole } from "../tool-calls.ts";
import { bareName, type Wording, withoutArticle } from "../wording.ts";
import { told, topFiles, wholeWord } from "./count-things.ts";
import { globEscaped } from "./find-things.ts";

export const explainCode = everydayPlaybook({
  name: "explain a file or a symbol",
  needs: ["Read", "Grep", "Glob"],
  understand: understandExplain,
  play: playExplain,
});

interface ExplainRequest {
  readonly name: string;
  /** The words call it a file, or it looks like a path. */
  readonly isFile: boolean;
}

const questions: readonly RegExp[] = [
  /^(?:explain|describe|summari[sz]e|outline)(?: to me| me)?(?: how| what)? (.+?)(?: (?:works|does|is|to me|for me|briefly|in short|in detail))*$/i,
  /^what(?:'s| is| does| are)(?: in)? (.+?)(?: (?:do|does|for|about|good for))*$/i,
  /^how does (.+?) work$/i,
  /^(?:tell me about|walk me through|show me|look at|read) (.+)$/i,
];

function understandExplain(wording: Wording): ExplainRequest | undefined {
  for (const question of questions) {
    const words = question.exec(wording.text)?.[1];
    if (words === undefined) continue;
    const understood = nameIn(words, wording.quoted);
    if (understood !== undefined) return understood;
  }
  return undefined;
}

const kindWord =
  /^(?:the\s+)?(file|module|script|function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|macro)\s+/i;
const kindAfter =
  /\s+(file|module|script|function|method|class|struct|type|interface|enum|trait|constant|symbol|macro)$/i;

/** A name, not a sentence: what has spaces must be quoted or look like a path. */
function nameIn(words: string, quoted: readonly string[]): ExplainRequest | undefined {
  const kind = (kindWord.exec(words) ?? kindAfter.exec(words))?.[1]?.toLowerCase();
  const name = bareName(quoted[0] ?? withoutArticle(words).replace(kindWord, "").replace(kindAfter, ""));
  const saysFile = kind === "file" || kind === "module" || kind === "script";
  const looksLikePath =
    name.includes("/") || (extensionOf(name) !== undefined && languageOf(name) !== undefined);
  if (looksLikePath || saysFile)
    return name === "" ? undefined : { name: name.replace(/^\.\//, ""), isFile: true };
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}\p{N}_$]+)*[?!]?$/u.test(name)) return undefined;
  // A plain English word is a symbol only if the prompt says so.
  const isPlainWord =
    /^[a-z]+$/.test(name) && kind === undefined && quoted.length === 0 && !words.includes("(");
  return isPlainWord ? undefined : { name, isFile: false };
}

function* playExplain(_task: Task, request: ExplainRequest): Asking<string> {
  if (!request.isFile) return yield* explainSymbol(request.name);
  const paths = yield* filesNamed(request.name);
  const [only, ...others] = paths;
  if (only === undefined)
    return `There is no file \`${request.name}\` here; ignored files (.gitignore) are left out.`;
  if (others.length > 0)
    return `Several files have that name; which one?\n\n${paths
      .slice(0, 20)
      .map((path) => `- explain ${path}`)
      .join("\n")}`;
  return yield* explainFile(only);
}

function* filesNamed(name: string): Asking<readonly string[]> {
  const clean = name.replace(/\/+$/, "");
  const exact = yield* glob({ pattern: globEscaped(clean) }, `I look for ${clean}.`);
  if (exact.paths.length > 0) return exact.paths;
  const stem = `**/${globEscaped(clean)}`;
  const [ending, anyExtension] = yield* globAll([{ pattern: stem }, { pattern: `${stem}.*` }]);
  return ending !== undefined && ending.paths.length > 0 ? ending.paths : (anyExtension?.paths ?? []);
}

function* explainFile(path: string): Asking<string> {
  const [file] = yield* readWhole([path]);
  const language = languageOf(path);
  if (file === undefined) return `${path} cannot be read as text.`;
  const head = `# ${path}: ${language?.name ?? "text"}, ${countOf(file.lines.length, "line")}`;
  const outline = outlineOf(path, file.lines);
  if (outline === undefined) return [head, "", ...aboutText(path, file.lines)].join("\n");
  const imports = importsOf(path, file.lines);
  const doc = docOfFile(path, file.lines);
  const stem = baseNameOf(path).replace(/\.\w+$/, "");
  const users = yield* countMatches({
    pattern: `\\b(?:import|from|require|include|use|using|mod)\\b.*\\b${stem.replace(/\W/g, "\\$&")}\\b`,
  });
  const importers = [...users.counts.keys()].filter((user) => user !== path);
  return [
    head,
    "",
    doc === undefined
      ? "It opens with no comment that says what it is for."
      : `It says of itself: ${shortened(doc, 400)}`,
    "",
    ...definitionSection(path, file.lines, outline),
    `Imports: ${imports.length === 0 ? "nothing" : imports.slice(0, 20).join(", ")}${imports.length > 20 ? `, and ${imports.length - 20} more` : ""}.`,
    importers.length === 0
      ? `No import line elsewhere names \`${stem}\`.`
      : `Import lines that name \`${stem}\` stand in ${countOf(importers.length, "other file")}: ${importers.slice(0, 5).join(", ")}${importers.length > 5 ? ", …" : ""}.`,
    "",
    "This outline is by rules on single lines; I cannot judge what the code means.",
  ].join("\n");
}

function aboutText(path: string, lines: readonly string[]): string[] {
  const headings = lines.filter((line) => /^#{1,3} /.test(line)).slice(0, 20);
  const paragraph = /\.(?:md|mdx|markdown|rst|txt|adoc)$|^[^.]+$/i.test(baseNameOf(path))
    ? firstParagraph(lines)
    : undefined;
  return [
    ...(paragraph === undefined ? [] : [`Its first paragraph: ${shortened(paragraph, 400)}`, ""]),
    ...(headings.length === 0
      ? []
      : ["Its headings:", ...headings.map((heading) => `- ${heading.replace(/^#+ /, "")}`), ""]),
    ...(paragraph === undefined && headings.length === 0
      ? [
          "I have no rules to outline this kind of file. It begins:",
          "",
          ...lines.slice(0, 8).map((line) => `    ${line.slice(0, 100)}`),
        ]
      : []),
  ];
}

const shownDefinitions = 40;

function definitionSection(path: string, lines: readonly string[], outline: readonly Definition[]): string[] {
  if (outline.length === 0) return ["It defines nothing that the rules can see.", ""];
  const entries = outline.slice(0, shownDefinitions).map((definition) => {
    const doc = docOfDefinition(path, lines, definition.line);
    const indent = definition.nested ? "  " : "";
    const marks = definition.exported && !definition.nested ? "" : definition.nested ? "" : ", not exported";
    return `${indent}- ${definition.line}: ${definition.kind} \`${definition.name}\`${marks}${doc === undefined ? "" : `: ${shortened(doc, 100)}`}`;
  });
  const rest = outline.length - entries.length;
  return [
    `It defines (${countOf(outline.length, "definition")}, with line numbers):`,
    ...entries,
    ...(rest > 0 ? [`- and ${rest} more`] : []),
    "",
  ];
}

function* explainSymbol(name: string): Asking<string> {
  const last = name.split(/\.|::|#/).at(-1) ?? name;
  const found = yield* findDefinitions(last, `I look for \`${name}\`.`);
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
    ...(length === undefined ? [] : [`It is ${countOf(length, "line")} long.`]),
    ...(inside.length === 0 ? [] : [`In it: ${inside.map((one) => `\`${one.name}\``).join(", ")}.`]),
  ];
}

/** Lines to the closing brace at the same indentation, or for Python to the end of the indented block. */
function bodyLength(path: string, lines: readonly string[], line: number): number | undefined {
  const first = lines[line - 1] ?? "";
  const indent = /^\s*/.exec(first)?.[0].length ?? 0;
  const indentOf = (text: string) => /^\s*/.exec(text)?.[0].length ?? 0;
  const isPython = languageOf(path)?.name === "Python";
  let last = line;
  for (let at = line; at < lines.length; at++) {
    const text = lines[at] ?? "";
    if (text.trim() === "") continue;
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
  whole: { definition: Definition; length: number | undefined },
): Definition[] {
  const { definition, length = 0 } = whole;
  const end = definition.line + length - 1;
  return (outlineOf(path, lines) ?? [])
    .filter((one) => one.nested && one.line > definition.line && one.line <= end)
    .slice(0, 20);
}
