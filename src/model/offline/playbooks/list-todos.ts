import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-purpose.ts";
import { folderOf } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { countMatches, grep, type Match } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";
import { told } from "./count-things.ts";

export const listTodos = everydayPlaybook({
  name: "list TODOs",
  needs: ["Grep"],
  understand: understandTodos,
  play: playTodos,
});

interface TodoRequest {
  readonly path?: string;
}

const asksForTodos =
  /^(?:(?:list|find|show|get|collect|search(?: for)?|grep(?: for)?|count|how many|give|what|which|are there)(?: me)?(?: (?:all|any|every|the|of|open|remaining|are|is|left))*\s+)?(?:todos?|to-dos?|fixmes?|to ?do (?:comments|notes|items|list)|todo's)(?:[\s,/&]+(?:and |or )?(?:todos?|fixmes?|hacks?|xxxs?|comments|notes|items|marks?|markers?))*(?:\s+(?:are there|are left|do we have|there are|remain|here|left|in (?:this|the|my|our)? ?(?:repo(?:sitory)?|project|code ?base|code|folder|files)|(?:in|under|below) [`"']?([^\s`"']+)[`"']?))?$/i;

function understandTodos(wording: Wording): TodoRequest | undefined {
  const match = asksForTodos.exec(wording.text);
  if (match === null) return undefined;
  const path = match[1]?.replace(/(.)\/+$/, "$1");
  return path === undefined ? {} : { path };
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
