/** What can be told of one file by rules: what it says of itself, what it defines, who imports it. */
import { aboutNotebook } from "./about-notebook.ts";
import { docOfDefinition, docOfFile, firstParagraph, shortened } from "./doc-comment.ts";
import { countOf } from "./folder-contents.ts";
import { importerPattern, mayImport } from "./importers.ts";
import { baseNameOf, languageOf } from "./languages.ts";
import { type Definition, importsOf, outlineOf } from "./outline.ts";
import type { Asking } from "./playbook.ts";
import { grep, readWhole } from "./tool-calls.ts";

export const limitsOfRules = "This outline is by rules on single lines; I cannot judge what the code means.";

export function* aboutFile(path: string): Asking<string> {
  if (path.endsWith(".ipynb")) return yield* aboutNotebook(path);
  const [file] = yield* readWhole([path]);
  if (file === undefined) return `${path} cannot be read as text.`;
  const { lines } = file;
  const head = `# ${path}: ${languageOf(path)?.name ?? "text"}, ${countOf(lines.length, "line")}`;
  const outline = outlineOf(path, lines);
  if (outline === undefined) return [head, "", ...aboutText(path, lines)].join("\n");
  const doc = docOfFile(path, lines);
  const imports = importsOf(path, lines);
  const importers = yield* importersOf(path);
  return [
    head,
    "",
    doc === undefined
      ? "It opens with no comment that says what it is for."
      : `It says of itself: ${shortened(doc, 400)}`,
    "",
    ...definitionSection(path, lines, outline),
    `Imports: ${imports.length === 0 ? "nothing" : imports.slice(0, 20).join(", ")}${imports.length > 20 ? `, and ${imports.length - 20} more` : ""}.`,
    ...importers,
    "",
    limitsOfRules,
  ].join("\n");
}

function* importersOf(path: string): Asking<string[]> {
  const search = importerPattern(path);
  if (search === undefined) return [];
  const { matches, cut } = yield* grep(search);
  const importers = [...new Set(matches.filter((match) => mayImport(match, path)).map((match) => match.path))]
    .filter((user) => user !== path)
    .sort();
  if (importers.length === 0) return ["No other file imports it by its name."];
  const shown = importers.slice(0, 5).join(", ");
  return [
    `Imported, by its name, in ${cut ? "at least " : ""}${countOf(importers.length, "other file")}: ${shown}${importers.length > 5 ? ", …" : ""}.`,
  ];
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
    const mark = definition.exported || definition.nested ? "" : ", not exported";
    return `${indent}- ${definition.line}: ${definition.kind} \`${definition.name}\`${mark}${doc === undefined ? "" : `: ${shortened(doc, 100)}`}`;
  });
  const rest = outline.length - entries.length;
  return [
    `It defines (${countOf(outline.length, "definition")}, with line numbers):`,
    ...entries,
    ...(rest > 0 ? [`- and ${rest} more`] : []),
    "",
  ];
}
