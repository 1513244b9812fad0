import { groupDigits } from "../../../base/group-digits.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { baseNameOf } from "../languages.ts";
import { listFiles } from "../list-files.ts";
import { namePattern, namesIn, pathsNamed } from "../name-search.ts";
import type { Asking, Task } from "../playbook.ts";
import { escapedPattern, wholeWord } from "../search-patterns.ts";
import { findDefinitions } from "../symbol.ts";
import { told, topFiles } from "../told-counts.ts";
import { countMatches, type GrepInput, glob, grep, type Match } from "../tool-calls.ts";
import { type Search, understandFind } from "./find-wording.ts";

export const findThings = everydayPlaybook({
  name: "find something",
  needs: ["Glob", "Grep", "Read"],
  understand: understandFind,
  play: playFind,
});

const ignoredNote = "ignored files (.gitignore) are left out";

function* playFind(task: Task, search: Search): Asking<string> {
  switch (search.kind) {
    case "definition":
      return yield* findDefinition(search.name);
    case "uses":
      return yield* findUses(search.name);
    case "imports":
      return yield* findImports(search.name);
    case "files":
      return yield* findFiles(search);
    case "files-named-like":
      return yield* findFilesNamedLike(task, search.word);
    case "text":
      return yield* findMatches({ pattern: escapedPattern(search.text) }, `\`${search.text}\``);
    case "words":
      return yield* findByWords(task, search.words);
  }
}

function* findDefinition(name: string): Asking<string> {
  const found = yield* findDefinitions(name);
  if (found.length === 0) {
    const uses = yield* findMatches({ pattern: wholeWord(name) }, `\`${name}\` as a whole word`);
    return `No definition of \`${name}\` found by the rules for the languages I know.\n\n${uses}`;
  }
  const lines = found.map(
    ({ path, definition }) => `- ${path}:${definition.line}: ${definition.kind}: \`${definition.signature}\``,
  );
  return `\`${name}\` is defined in ${countOf(found.length, "place")}:\n\n${lines.join("\n")}`;
}

function* findUses(name: string): Asking<string> {
  const found = yield* findDefinitions(name);
  const lines = found.map(({ path, definition }) => `${path}:${definition.line}`);
  const matches = yield* findMatches({ pattern: wholeWord(name) }, `\`${name}\` as a whole word`);
  if (lines.length === 0) return matches;
  return `${matches}\n\nOf these, its definition: ${lines.slice(0, 5).join(", ")}${lines.length > 5 ? ", …" : ""}.`;
}

const shownMatches = 30;

function* findMatches(input: GrepInput, what: string): Asking<string> {
  const counts = yield* countMatches(input);
  if (counts.problem !== undefined) return `The search failed: ${counts.problem}`;
  if (counts.total === 0) {
    const loose = yield* countMatches({ ...input, ignoreCase: true });
    if (loose.total === 0)
      return `Nothing found: no line has ${what}, in any case. Ignored files (.gitignore) were not searched.`;
    return `No line has ${what} in this spelling; with other capitals there are ${told(loose, "line")}.${topFiles(loose)}`;
  }
  const { matches } = yield* grep(input, { paths: counts.counts.keys() });
  return `${told(counts, "line")} with ${what}.\n\n${matchLines(matches, counts.total)}\n\nSearched with Grep \`${input.pattern}\`; ${ignoredNote}.`;
}

function matchLines(matches: readonly Match[], total: number): string {
  const lines = matches
    .slice(0, shownMatches)
    .map(({ path, line, text }) => `- ${path}:${line}: ${text.trim().slice(0, 120)}`);
  if (total > lines.length) lines.push(`- and ${groupDigits(total - lines.length)} more lines`);
  return lines.join("\n");
}

function* findImports(name: string): Asking<string> {
  const word = escapedPattern(name);
  const pattern = `^\\s*(?:import|from|use|using|require|require_relative|include|#\\s*include|load|source)\\b[^'"]*\\b${word}\\b|^\\s*(?:import|export|#\\s*include|require|require_relative|load)\\b.*['"<](?:[^'">]*/)?${word}(?:/[^'">]*|\\.\\w+)?['">]|\\b(?:require|import)\\(\\s*['"](?:[^'"]*/)?${word}(?:/[^'"]*|\\.\\w+)?['"]|^\\s+(?:\\w+ )?"(?:[^"]*/)?${word}"$|\\bfrom\\s+['"](?:[^'"]*/)?${word}(?:/[^'"]*|\\.\\w+)?['"]`;
  const counts = yield* countMatches({ pattern });
  if (counts.problem !== undefined) return `The search failed: ${counts.problem}`;
  if (counts.total === 0)
    return `No file imports \`${name}\`: no import, include, use or require line names it.`;
  const paths = [...counts.counts.keys()].sort().map((path) => `- ${path}`);
  const more = counts.fileCount - Math.min(paths.length, shownMatches);
  const verb = counts.fileCount === 1 ? "imports" : "import";
  return `**${countOf(counts.fileCount, "file")}** ${verb} \`${name}\`:\n\n${paths.slice(0, shownMatches).join("\n")}${more > 0 ? `\n- and ${more} more` : ""}\n\nFound with Grep: import, include, use and require lines that name it.`;
}

function* findFiles(search: { pattern: string; path?: string }): Asking<string> {
  const { pattern, path } = search;
  const found = yield* glob({ pattern, ...(path === undefined ? {} : { path }) });
  if (found.problem !== undefined) return `The search failed: ${found.problem}`;
  const place = path === undefined ? "" : ` in ${path}`;
  if (found.paths.length === 0) return `No file matches \`${pattern}\`${place}; ${ignoredNote}.`;
  const total = found.total ?? found.paths.length;
  const verb = total === 1 ? "matches" : "match";
  return `**${countOf(total, "file")}** ${verb} \`${pattern}\`${place}:\n\n${pathLines(found.paths, total)}`;
}

const shownPaths = 100;

function pathLines(paths: readonly string[], total: number): string {
  const lines = [...paths]
    .sort()
    .slice(0, shownPaths)
    .map((path) => `- ${path}`);
  if (total > lines.length) lines.push(`- and ${groupDigits(total - lines.length)} more`);
  return lines.join("\n");
}

function* findFilesNamedLike(task: Task, word: string): Asking<string> {
  const { paths, complete } = yield* listFiles(task);
  const found = paths.filter((path) => baseNameOf(path).toLowerCase().includes(word));
  const limit = complete ? "" : " There are too many files to look at all of them.";
  if (found.length === 0) return `No file has \`${word}\` in its name; ${ignoredNote}.${limit}`;
  return `**${countOf(found.length, "file")}** with \`${word}\` in the name:${limit}\n\n${pathLines(found, found.length)}`;
}

const shownNames = 15;

function* findByWords(task: Task, words: readonly string[]): Asking<string> {
  const pattern = namePattern(words);
  const { paths } = yield* listFiles(task, "I look for names that are made of these words.");
  const { matches, cut, problem } = yield* grep({ pattern, ignoreCase: true });
  if (problem !== undefined) return `The search failed: ${problem}`;
  const said = words.map((word) => `\`${word}\``).join(" and ");
  const names = namesIn(matches, pattern).map(
    ({ name, lines, place, isDefinition }) =>
      `- \`${name}\`: ${place.path}:${place.line}${isDefinition ? ", where it is defined" : ""} (${countOf(lines, "line")})`,
  );
  const files = pathsNamed(paths, words).map((path) => `- ${path}`);
  const intro = `I match words in names, not meaning; I looked for ${said} in one name.`;
  if (names.length + files.length === 0) return `${intro}\n\n${nothingWithAll(paths, words)}`;
  return [
    intro,
    ...(names.length === 0 ? [] : ["", "## Names", ...withRest(names)]),
    ...(files.length === 0 ? [] : ["", "## Files", ...withRest(files)]),
    ...(cut ? ["", "There are more matching lines than I could read."] : []),
  ].join("\n");
}

/** The words one by one, as far as paths have them: a place to go on from. */
function nothingWithAll(paths: readonly string[], words: readonly string[]): string {
  const lines = words.flatMap((word) => {
    const found = pathsNamed(paths, [word]);
    const shown = found.slice(0, 5).join(", ");
    return found.length === 0
      ? []
      : [
          `- \`${word}\` alone is in ${countOf(found.length, "path")}: ${shown}${found.length > 5 ? ", …" : ""}`,
        ];
  });
  const advice = `Ask for one name to search for it: "find ${words.at(-1)}".`;
  return ["Nothing found: no name and no path has all of these words in it.", ...lines, "", advice].join(
    "\n",
  );
}

function withRest(lines: readonly string[]): string[] {
  const more = lines.length - shownNames;
  return [...lines.slice(0, shownNames), ...(more > 0 ? [`- and ${more} more`] : [])];
}
