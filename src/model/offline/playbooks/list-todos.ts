import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { folderOf } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { told } from "../told-counts.ts";
import { countMatches, grep, type Match } from "../tool-calls.ts";
import { bareName, splitPlace, type Wording } from "../wording.ts";

export const listTodos = everydayPlaybook({
  name: "list TODOs",
  needs: ["Grep"],
  understand: understandTodos,
  play: playTodos,
});

interface TodoRequest {
  readonly path?: string;
}

const mark = /^(?:todo|to-do|fixme|hack|xxx)(?:s|es|'s)?$/;
/** All that may stand beside such a mark: any other word makes it a request that is not understood. */
const beside = new Set(
  "list find show get collect search grep count give print display tell me us how many much what which are is there any all every the a of open remaining left do does we i have has still exist by per file files folder comment comments note notes item items list marks markers and or for in code also outstanding pending unresolved existing so far".split(
    " ",
  ),
);
const otherWords =
  /^(?:what|anything)(?: is| are)?(?: still| there)? (?:left to (?:do|be done)|(?:to be|to) (?:do|done)|unfinished|needs? to be done|missing to be done)$/i;

function understandTodos(wording: Wording): TodoRequest | undefined {
  if (otherWords.test(wording.core)) return {};
  const { rest, path } = splitPlace(wording.core);
  const isPlace = path !== undefined && !mark.test(path.toLowerCase()) && !beside.has(path.toLowerCase());
  const text = (isPlace ? rest : wording.core).toLowerCase();
  const words = text
    .replace(/\bto do (?=comments|notes|items|list)/g, "todo ")
    .split(/[\s,/&]+/)
    .map(bareName)
    .filter((word) => word !== "");
  const isAsked =
    words.some((word) => mark.test(word)) && words.every((word) => mark.test(word) || beside.has(word));
  if (!isAsked) return undefined;
  return isPlace ? { path } : {};
}

const pattern = "\\b(?:TODO|FIXME|HACK|XXX)\\b";
const shown = 100;

function* playTodos(_task: Task, request: TodoRequest): Asking<string> {
  const input = request.path === undefined ? { pattern } : { pattern, path: request.path };
  const counts = yield* countMatches(input, "I search for TODO, FIXME, HACK and XXX.");
  if (counts.problem !== undefined) return `The search failed: ${counts.problem}`;
  const place = request.path === undefined ? "" : ` in ${request.path}`;
  if (counts.total === 0)
    return `No TODO, FIXME, HACK or XXX${place}: no line has one of these words in capitals.`;
  const { matches } = yield* grep(input, { paths: counts.counts.keys() });
  const listed = matches.slice(0, shown);
  const rest = counts.total - listed.length;
  return [
    `${told(counts, "line")}${place} with TODO, FIXME, HACK or XXX.`,
    "",
    ...byFolder(listed),
    ...(rest > 0
      ? ["", `And ${countOf(rest, "more line")}; ask for one folder to see them: "list TODOs in src/".`]
      : []),
    "",
    `Found with Grep \`${pattern}\`: whole words in capitals; ignored files (.gitignore) are left out.`,
  ].join("\n");
}

function byFolder(matches: readonly Match[]): string[] {
  const folders = new Map<string, Match[]>();
  for (const match of matches) {
    const folder = folderOf(match.path);
    folders.set(folder, [...(folders.get(folder) ?? []), match]);
  }
  return [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([folder, found]) => [
      `## ${folder === "" ? "top folder" : `${folder}/`} (${found.length})`,
      ...found.map(({ path, line, text }) => `- ${path}:${line}: ${fromMark(text)}`),
    ]);
}

/** The line from the mark on: what stands before it is code. */
function fromMark(text: string): string {
  const at = text.search(/\b(?:TODO|FIXME|HACK|XXX)\b/);
  return text.slice(Math.max(0, at)).trim().slice(0, 120);
}
