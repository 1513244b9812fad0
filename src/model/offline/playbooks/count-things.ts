import { groupDigits } from "../../../base/group-digits.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { globOf, type Language, languageNamed } from "../languages.ts";
import { patternsOfKind } from "../outline.ts";
import type { Asking, Task } from "../playbook.ts";
import { wholeWord } from "../search-patterns.ts";
import { surveyFolder } from "../survey.ts";
import { testPatterns } from "../test-marks.ts";
import { told, topFiles } from "../told-counts.ts";
import { countAll, countEverywhere, glob } from "../tool-calls.ts";
import { bareName, type Wording, withoutArticle } from "../wording.ts";

export const countThings = everydayPlaybook({
  name: "count something",
  needs: ["Glob", "Grep"],
  understand: understandCount,
  play: playCount,
});

type Countable =
  | { kind: "files"; language?: Language; extension?: string }
  | { kind: "lines"; language?: Language }
  | { kind: "definitions"; what: "function" | "class"; language?: Language }
  | { kind: "tests" }
  | { kind: "text"; text: string };

interface CountRequest {
  readonly countable: Countable;
  readonly path?: string;
}

const countQuestion =
  /^(?:how many|count(?: up)?(?: (?:all|all of))?(?: (?:the number of|how many))?|(?:what(?:'s| is) )?(?:the )?(?:total )?number of)\s+(.+)$/i;

function understandCount(wording: Wording): CountRequest | undefined {
  const things = countQuestion.exec(wording.text)?.[1];
  if (things === undefined) return undefined;
  const { rest, path } = placeIn(withoutArticle(things));
  const countable = countableOf(rest, wording.quoted);
  return countable === undefined ? undefined : { countable, ...(path === undefined ? {} : { path }) };
}

const fillers =
  /\s+(?:(?:are|is) there|there are|(?:do|did) (?:we|i|you) have|does (?:it|this \w+|the \w+) have|have we|exist|are|altogether|overall|of code)(?=\s|$)/i;
const hereWords =
  /\s+(?:in (?:this|the|my|our|here|total|all)(?:\s+(?:repo(?:sitory)?|project|code ?base|folder|directory|code))?|here)$/i;

/** `Python files in src/` is `Python files`, in the folder src. */
function placeIn(words: string): { rest: string; path?: string } {
  let rest = words;
  for (;;) {
    const shorter = rest.replace(fillers, "").replace(hereWords, "");
    if (shorter === rest) break;
    rest = shorter;
  }
  const place =
    /^(.+?)\s+(?:in|under|below|inside|within)\s+(?:the\s+)?[`"']?([^\s`"']+)[`"']?(?:\s+(?:folder|directory))?$/i.exec(
      rest,
    );
  if (place?.[1] === undefined || place[2] === undefined) return { rest };
  return { rest: place[1], path: place[2].replace(/(.)\/+$/, "$1") };
}

function countableOf(words: string, quoted: readonly string[]): Countable | undefined {
  const files = /^(?:(.+?)[\s-]+)?(?:source[\s-]+)?files?$/i.exec(words);
  if (files !== null) return filesOf(files[1]);
  const lines = /^(?:(?:lines|loc)(?: of (?:(.+?) )?code| of (.+))?|(.+?) lines)$/i.exec(words);
  if (lines !== null) return linesOf(lines[1] ?? lines[2] ?? lines[3]);
  const definitions = /^(?:(.+?)\s+)?(functions?|methods?|functions (?:and|or) methods|classes|class)$/i.exec(
    words,
  );
  if (definitions?.[2] !== undefined) {
    const language = definitions[1] === undefined ? undefined : languageNamed(definitions[1]);
    if (definitions[1] !== undefined && language === undefined) return undefined;
    const what = /class/i.test(definitions[2]) ? "class" : "function";
    return { kind: "definitions", what, ...(language === undefined ? {} : { language }) };
  }
  if (/^(?:unit )?tests?(?: (?:cases|functions))?$/i.test(words)) return { kind: "tests" };
  const times =
    /^(?:times|occurrences of|uses of|usages of|mentions of|calls (?:to|of)|lines (?:with|containing))\s*(.*)$/i.exec(
      words,
    );
  const text = quoted[0] ?? (times?.[1] === undefined ? undefined : bareName(withoutArticle(times[1])));
  if (text !== undefined && text !== "") return { kind: "text", text };
  return /^[A-Z]{3,}s?$/.test(words) ? { kind: "text", text: words.replace(/s$/, "") } : undefined;
}

function filesOf(kind: string | undefined): Countable | undefined {
  if (kind === undefined) return { kind: "files" };
  const language = languageNamed(kind);
  if (language !== undefined) return { kind: "files", language };
  const extension = /^[`"']?\*?\.(\w+)[`"']?$/.exec(kind)?.[1];
  return extension === undefined ? undefined : { kind: "files", extension };
}

function linesOf(language: string | undefined): Countable | undefined {
  if (language === undefined || /^code$/i.test(language)) return { kind: "lines" };
  const known = languageNamed(language.replace(/ code$/i, ""));
  return known === undefined ? undefined : { kind: "lines", language: known };
}

function* playCount(task: Task, request: CountRequest): Asking<string> {
  const { countable, path } = request;
  const within = path === undefined ? {} : { path };
  const place = placeOf(within);
  switch (countable.kind) {
    case "files": {
      const pattern = patternOfFiles(countable);
      const found = yield* glob({ pattern, ...within });
      if (found.problem !== undefined) return failed(found.problem);
      const noun = countable.language
        ? `${countable.language.name} file`
        : countable.extension
          ? `.${countable.extension} file`
          : "file";
      if (found.total === undefined)
        return `More than ${countOf(found.paths.length, noun)}${place}: the listing was cut.`;
      return `**${countOf(found.total, noun)}**${place}.\n\nCounted with Glob \`${pattern}\`; ignored files (.gitignore) are left out.`;
    }
    case "lines": {
      const glob = countable.language === undefined ? {} : { glob: globOf(countable.language) };
      const counts = yield* countEverywhere({ pattern: "^", ...glob, ...within });
      if (counts.problem !== undefined) return failed(counts.problem);
      const what = countable.language === undefined ? "line" : `${countable.language.name} line`;
      return `${told(counts, what)}${place}.\n\nCounted with Grep: every line of every text file${countable.language ? ` named ${globOf(countable.language)}` : ""}, blank lines and comments included; ignored and binary files are left out.${topFiles(counts)}`;
    }
    case "definitions":
      return yield* countDefinitions(task, countable, within);
    case "tests":
      return yield* countTests(task, within);
    case "text": {
      const pattern = wholeWord(countable.text);
      const counts = yield* countEverywhere({ pattern, ...within });
      if (counts.problem !== undefined) return failed(counts.problem);
      return `${told(counts, "line")} with \`${countable.text}\`${place}.\n\nCounted with Grep \`${pattern}\`: lines that match, not occurrences.${topFiles(counts)}`;
    }
  }
}

function placeOf({ path }: { path?: string }): string {
  return path === undefined ? "" : ` in ${path}`;
}

function failed(problem: string): string {
  return `The count failed: ${problem}`;
}

function patternOfFiles(countable: { language?: Language; extension?: string }): string {
  if (countable.language !== undefined) return globOf(countable.language);
  return countable.extension === undefined ? "**/*" : `**/*.${countable.extension}`;
}

function* countDefinitions(
  task: Task,
  countable: { what: "function" | "class"; language?: Language },
  within: { path?: string },
): Asking<string> {
  const present = countable.language
    ? [countable.language]
    : (yield* surveyFolder(task)).languages.map(({ language }) => language);
  const counted = present.flatMap((language) => {
    const patterns = patternsOfKind(countable.what, language.name);
    return patterns.length === 0
      ? []
      : [{ language, pattern: patterns.map((one) => `(?:${one})`).join("|") }];
  });
  if (counted.length === 0)
    return `I have no rules to find a ${countable.what} in the languages of these files.`;
  const counts = yield* countAll(
    counted.map(({ language, pattern }) => ({ pattern, glob: globOf(language), ...within })),
  );
  const problem = counts.find((count) => count.problem !== undefined)?.problem;
  if (problem !== undefined) return failed(problem);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  const noun = countable.what === "class" ? "class" : "function or method";
  const lines = counted.map(
    ({ language }, index) =>
      `- ${language.name}: ${groupDigits(counts[index]?.total ?? 0)} in ${countOf(counts[index]?.fileCount ?? 0, "file")}`,
  );
  const limits =
    countable.what === "function"
      ? " Anonymous functions, and methods that no keyword introduces (as in JavaScript classes), are not among them."
      : "";
  return `**${countOf(total, `${noun} definition`)}**${placeOf(within)}.\n\n${lines.join("\n")}\n\nCounted with Grep: lines that begin a ${noun} definition by each language's keyword.${limits}`;
}

function* countTests(task: Task, within: { path?: string }): Asking<string> {
  const survey = yield* surveyFolder(task);
  const present = new Set(survey.languages.map(({ language }) => language.name));
  const patterns = testPatterns.filter((test) => test.languages.some((name) => present.has(name)));
  if (patterns.length === 0) return "I have no rules to find tests in the languages of these files.";
  const counts = yield* countAll(patterns.map(({ pattern, glob }) => ({ pattern, glob, ...within })));
  const problem = counts.find((count) => count.problem !== undefined)?.problem;
  if (problem !== undefined) return failed(problem);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  const lines = patterns.map(
    (test, index) =>
      `- ${test.languages.filter((name) => present.has(name)).join(" and ")}: ${countOf(counts[index]?.total ?? 0, "test")} in ${countOf(counts[index]?.fileCount ?? 0, "file")} (lines with ${test.how})`,
  );
  return `**${countOf(total, "test")}**${placeOf(within)}.\n\n${lines.join("\n")}\n\nCounted with Grep by these marks. A test that runs with many inputs counts once.`;
}
