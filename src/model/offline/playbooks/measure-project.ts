import { groupDigits } from "../../../base/group-digits.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { gitProblem } from "../git.ts";
import { globOf, isTestFile } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { readProject } from "../project.ts";
import { identityOf } from "../project-identity.ts";
import { surveyFolder } from "../survey.ts";
import { told } from "../told-counts.ts";
import { countAll, countEverywhere, countMatches, run } from "../tool-calls.ts";
import { bareName, type Wording } from "../wording.ts";

export const measureProject = everydayPlaybook({
  name: "tell how big it is",
  needs: ["Glob", "Grep", "Read"],
  understand: understandMeasure,
  play: playMeasure,
});

type Measure =
  | { kind: "size" }
  | { kind: "largest"; count: number }
  | { kind: "length"; path: string }
  | { kind: "folders" }
  | { kind: "packages" }
  | { kind: "history"; what: "commit" | "author" | "branch" | "tag" };

const here =
  "(?:(?:(?:this|the|my|our|whole|entire) )*(?:repo(?:sitory)?|project|code ?base|code|folder|directory|package|app(?:lication)?|program|thing)|this|it|all this)";
const asksForSize = new RegExp(
  `^(?:how (?:big|large|huge|long)(?: is)? ${here}|how much code(?: (?:is|are|do we have|is there|there is|is in ${here}))*|(?:what is )?(?:the )?(?:code ?base |project |repo(?:sitory)? |code )?size(?: of ${here})?|s?loc|lines of code|(?:project |code )?statistics|stats)$`,
  "i",
);
const asksForLargest =
  /^(?:(?:what|which)(?: is| are)?|list|show(?: me)?|find)?(?: the)?(?: (?:top )?(\d+|ten|five|three))? ?(?:biggest|largest|longest)(?: (\d+))? (?:source |code |text )?files?(?: (?:are|is) (?:the )?(?:biggest|largest|longest))?$|^(?:what|which) files? (?:is|are)(?: the)? (?:biggest|largest|longest)$/i;
const asksForLength =
  /^how (?:long|big|large) is (?:the )?(?:file )?(\S+)$|^how many lines (?:does|has|are in|are there in|of code (?:does|are in|has)|in) (?:the )?(?:file )?(\S+?)(?: (?:have|has|contain))?$/i;
const asksForNumber =
  /^(?:how many|count(?: all)?(?: the)?|(?:what is )?(?:the )?number of) (folders|directories|subfolders|packages|modules|workspaces|commits|contributors|authors|people|developers|committers|branches|tags|releases)(?: (?:are|are there|there are|do we have|does (?:it|this) have|exist|work(?:ed)? on (?:this|it)|contributed|wrote this|have contributed))?$/i;
const numberWords: Readonly<Record<string, number>> = { three: 3, five: 5, ten: 10 };

function understandMeasure(wording: Wording): Measure | undefined {
  if (asksForSize.test(wording.text) || asksForSize.test(wording.core)) return { kind: "size" };
  const largest = asksForLargest.exec(wording.core);
  if (largest !== null) {
    const digits = largest[1] ?? largest[2] ?? "10";
    return { kind: "largest", count: Math.min(50, numberWords[digits.toLowerCase()] ?? Number(digits)) };
  }
  const length = asksForLength.exec(wording.text);
  const path = bareName(length?.[1] ?? length?.[2] ?? "").replace(/^\.\//, "");
  if (path !== "" && (path.includes("/") || /\.\w{1,5}$/.test(path))) return { kind: "length", path };
  const things = asksForNumber.exec(wording.core)?.[1]?.toLowerCase();
  if (things === undefined) return undefined;
  if (/folders|directories/.test(things)) return { kind: "folders" };
  if (/packages|modules|workspaces/.test(things)) return { kind: "packages" };
  if (things === "commits") return { kind: "history", what: "commit" };
  if (things === "branches") return { kind: "history", what: "branch" };
  return { kind: "history", what: /tags|releases/.test(things) ? "tag" : "author" };
}

function* playMeasure(task: Task, measure: Measure): Asking<string> {
  switch (measure.kind) {
    case "size":
      return yield* tellSize(task);
    case "largest":
      return yield* tellLargest(measure.count);
    case "length":
      return yield* tellLength(measure.path);
    case "folders":
      return yield* tellFolders(task);
    case "packages":
      return yield* tellPackages(task);
    case "history":
      return task.offers("Bash") ? yield* tellHistory(measure.what) : "For that I need Bash, to ask git.";
  }
}

const languagesShown = 6;
const lineNote =
  "Lines are counted with Grep, blank ones and comments included; ignored and binary files are left out.";

function* tellSize(task: Task): Asking<string> {
  const survey = yield* surveyFolder(task, "I count files and lines.");
  if (survey.problem !== undefined) return `The files could not be listed: ${survey.problem}`;
  if (survey.total === 0) return "This folder is empty: there is no file in it that is not ignored.";
  const shown = survey.languages.slice(0, languagesShown);
  const [all, ...perLanguage] = yield* countAll([
    { pattern: "^" },
    ...shown.map(({ language }) => ({ pattern: "^", glob: globOf(language) })),
  ]);
  if (all === undefined || all.problem !== undefined) return `The count failed: ${all?.problem ?? ""}`;
  const tests = survey.paths.filter(isTestFile).length;
  return [
    `**${countOf(survey.total, "file")}, ${countOf(all.total, "line")}** in ${countOf(survey.folders.length, "top folder")}.`,
    "",
    ...shown.map(
      ({ language, count }, index) =>
        `- ${language.name}: ${countOf(count, "file")}, ${countOf(perLanguage[index]?.total ?? 0, "line")}`,
    ),
    ...(survey.languages.length > shown.length
      ? [`- and ${countOf(survey.languages.length - shown.length, "more language")}`]
      : []),
    "",
    ...(survey.complete
      ? [`${groupDigits(tests)} of the files ${tests === 1 ? "is a test" : "are tests"}, by name and place.`]
      : []),
    lineNote,
  ].join("\n");
}

function* tellLargest(count: number): Asking<string> {
  const counts = yield* countEverywhere({ pattern: "^" }, "I count the lines of every file.");
  if (counts.problem !== undefined) return `The count failed: ${counts.problem}`;
  if (counts.fileCount === 0) return "There is no text file here that is not ignored.";
  if (counts.counts.size < counts.fileCount)
    return `There are ${countOf(counts.fileCount, "text file")} here, more than I can compare.`;
  const ranked = [...counts.counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, count);
  return [
    `The longest of ${countOf(counts.fileCount, "text file")}, by lines:`,
    "",
    ...ranked.map(([path, lines]) => `- ${path}: ${groupDigits(lines)}`),
    "",
    lineNote,
  ].join("\n");
}

function* tellLength(path: string): Asking<string> {
  const counts = yield* countMatches({ pattern: "^", path });
  if (counts.problem !== undefined) return `The count failed: ${counts.problem}`;
  return `${told(counts, "line")}: ${path}.\n\n${lineNote}`;
}

function* tellFolders(task: Task): Asking<string> {
  const survey = yield* surveyFolder(task);
  if (survey.problem !== undefined) return `The files could not be listed: ${survey.problem}`;
  const all = new Set<string>();
  for (const path of survey.paths)
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) all.add(path.slice(0, at));
  const more = survey.complete ? "" : "at least ";
  return `**${more}${countOf(all.size, "folder")}** with files in them, ${survey.folders.length} of them at the top.\n\nEmpty and ignored folders are left out.`;
}

function* tellPackages(task: Task): Asking<string> {
  const survey = yield* surveyFolder(task);
  const project = yield* readProject(survey);
  const folders = [
    ...new Set(
      [...project.manifests.keys()].map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))),
    ),
  ];
  const named = folders.flatMap((folder) => {
    const { name } = identityOf(project.manifests, folder);
    return name === undefined ? [] : [`- ${name.text} (${name.from})`];
  });
  if (named.length === 0)
    return "No manifest that I know (package.json, Cargo.toml, pom.xml and the like) names a package here.";
  return `**${countOf(named.length, "package")}**, by manifests that have a name, down to four folders deep:\n\n${named.join("\n")}`;
}

const historyCommands = {
  commit: "git rev-list --count HEAD",
  author: "git shortlog --summary --numbered HEAD",
  branch: "git branch --list --format='%(refname:short)'",
  tag: "git tag --list --sort=-creatordate",
} as const;

function* tellHistory(what: keyof typeof historyCommands): Asking<string> {
  const problem = yield* gitProblem("I ask git.");
  if (problem !== undefined) return problem;
  const output = yield* run({ command: historyCommands[what], description: `Count by git: ${what}` });
  if (output.exitCode !== 0) {
    const isEmpty = /unknown revision|ambiguous argument|does not have any commits/i.test(output.text);
    return isEmpty ? "No commit here yet." : `git failed: ${output.text}`;
  }
  if (what === "commit")
    return `**${countOf(Number(output.text.trim()), "commit")}** up to the one that is checked out.`;
  const lines = output.text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, 20).map((line) => `- ${line.trim().replace(/^(\d+)\t(.*)$/, "$2 ($1)")}`);
  if (lines.length > shown.length) shown.push(`- and ${lines.length - shown.length} more`);
  const list = shown.length === 0 ? "" : `\n\n${shown.join("\n")}`;
  return `**${output.cut ? "at least " : ""}${countOf(lines.length, what)}**, by \`${historyCommands[what]}\`.${list}`;
}
