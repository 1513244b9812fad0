import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { folderOf, isTestFile } from "../languages.ts";
import { listFiles } from "../list-files.ts";
import { pathsNamed, stemOf } from "../name-search.ts";
import type { Asking, Task } from "../playbook.ts";
import { escapedPattern } from "../search-patterns.ts";
import { testPatterns } from "../test-marks.ts";
import { countEverywhere } from "../tool-calls.ts";
import { bareName, type Wording, withoutArticle } from "../wording.ts";

export const findTests = everydayPlaybook({
  name: "find tests",
  needs: ["Glob", "Grep"],
  understand: understandTests,
  play: playTests,
});

interface TestSearch {
  /** What is tested; absent for all tests. */
  readonly subject?: string;
}

const asksForTests =
  /^(?:which|what|where are|where is|list|show|find|are there|is there|do we have|have we(?: got)?|any)(?: me)?(?: any| a| all| the| some)*(?: (?:unit|existing|integration))? tests?(?: files?| cases?)?(?: (?:exist|exists|are there|is there|do we have|are|cover|covers|covering|test|tests|live|located))*(?:(?: (?:for|of|about|on|that (?:test|cover|touch|exercise)|which (?:test|cover)))? (.+))?$|^is (.+?) (?:tested|covered(?: by (?:a |any )?tests?)?)$|^(?:which|what) tests? (?:test|cover|touch|exercise)s? (.+)$/i;

function understandTests(wording: Wording): TestSearch | undefined {
  const match = asksForTests.exec(wording.core);
  if (match === null) return undefined;
  const words = match.slice(1).find((part) => part !== undefined);
  if (words === undefined) return {};
  const subject = bareName(
    withoutArticle(words).replace(/\s+(?:function|class|method|module|file|folder|code)$/i, ""),
  );
  // A path or one word: what is a sentence asks for something else.
  return /^[\w$./-]+$/.test(subject) &&
    !/^(?:pass|passing|fail|failing|run|green|it|this|here)$/i.test(subject)
    ? { subject }
    : undefined;
}

const shownFiles = 40;

function* playTests(task: Task, { subject }: TestSearch): Asking<string> {
  const { paths, complete, problem } = yield* listFiles(
    task,
    "I look for files that are tests by name and place.",
  );
  if (problem !== undefined) return `The files could not be listed: ${problem}`;
  const tests = [...new Set([...paths.filter(isTestFile), ...(yield* filesWithTestsInside(paths))])].sort();
  const limit = complete ? "" : "\n\nThere are too many files to look at all of them.";
  if (tests.length === 0) return `No file here is a test, by the usual names, places and marks.${limit}`;
  if (subject === undefined)
    return `**${countOf(tests.length, "test file")}**:\n\n${byFolder(tests)}${limit}`;
  const word = (subject.split("/").at(-1) ?? subject)
    .replace(/\.\w+$/, "")
    .replace(/[._-](?:test|spec)$/, "");
  const named = pathsNamed(tests, [word]);
  const counts = yield* countEverywhere({
    pattern: `\\b\\w*${escapedPattern(stemOf(word))}`,
    ignoreCase: true,
  });
  const speaking = tests.filter((path) => counts.counts.has(path) && !named.includes(path));
  if (named.length + speaking.length === 0)
    return `None of the ${countOf(tests.length, "test file")} has \`${word}\` in its path or text.${limit}`;
  const mention = speaking.map((path) => ({ path, lines: counts.counts.get(path) ?? 0 }));
  mention.sort((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1));
  return [
    `**${countOf(named.length, "test file")}** of ${tests.length} ${named.length === 1 ? "has" : "have"} \`${word}\` in the path:`,
    "",
    ...(named.length === 0 ? ["(none)"] : listed(named.map((path) => `- ${path}`))),
    ...(mention.length === 0
      ? []
      : [
          "",
          `${countOf(mention.length, "more test file")} with it in the text:`,
          "",
          ...listed(mention.map(({ path, lines }) => `- ${path}: ${countOf(lines, "line")}`)),
        ]),
    "",
    "Words are matched without their endings and in any case; what a test means I cannot judge.",
  ].join("\n");
}

/** In Rust tests stand beside the code that they test. */
function* filesWithTestsInside(paths: readonly string[]): Asking<string[]> {
  const marks = testPatterns.find(({ languages }) => languages.includes("Rust"));
  if (marks === undefined || !paths.some((path) => path.endsWith(".rs"))) return [];
  const counts = yield* countEverywhere({ pattern: marks.pattern, glob: "*.rs" });
  return [...counts.counts.keys()];
}

function byFolder(tests: readonly string[]): string {
  if (tests.length <= shownFiles) return tests.map((path) => `- ${path}`).join("\n");
  const counts = new Map<string, number>();
  for (const path of tests) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  return listed(
    [...counts].map(([folder, count]) => `- ${folder === "" ? "top folder" : `${folder}/`}: ${count}`),
  ).join("\n");
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length - shownFiles;
  return [...lines.slice(0, shownFiles), ...(more > 0 ? [`- and ${more} more`] : [])];
}
