/** What can be told of a notebook: its cells, its headings, what it imports. */
import { countOf } from "./folder-contents.ts";
import { importsOf } from "./outline.ts";
import type { Asking } from "./playbook.ts";
import { ask } from "./tool-calls.ts";

const shownHeadings = 20;

export function* aboutNotebook(path: string): Asking<string> {
  const [result] = yield* ask([{ name: "Read", input: { file_path: path } }]);
  if (result === undefined || result.isError) return `${path} cannot be read as a notebook.`;
  const cells = [
    ...result.text.matchAll(/^--- cell \d+, id .*, (\w+) ---\n([\s\S]*?)(?=^--- cell |(?![\s\S]))/gm),
  ];
  const of = (kind: string) => cells.filter((cell) => cell[1] === kind).map((cell) => cell[2] ?? "");
  const headings = of("markdown").flatMap((text) => text.split("\n").filter((line) => /^#{1,3} /.test(line)));
  const imports = importsOf("cell.py", of("code").join("\n").split("\n"));
  const total = /^\(Cells \d+ to \d+ of (\d+)\. /m.exec(result.text)?.[1];
  const seen = total === undefined ? "" : ` (looked at ${cells.length} of ${total})`;
  return [
    `# ${path}: Jupyter Notebook, ${countOf(Number(total ?? cells.length), "cell")}${seen}`,
    "",
    `${countOf(of("code").length, "code cell")}, ${countOf(of("markdown").length, "markdown cell")}.`,
    ...(headings.length === 0
      ? ["It has no headings."]
      : [
          "Its headings:",
          ...headings.slice(0, shownHeadings).map((line) => `- ${line.replace(/^#+ /, "")}`),
        ]),
    ...(imports.length === 0 ? [] : ["", `Imports: ${imports.slice(0, 20).join(", ")}.`]),
  ].join("\n");
}
