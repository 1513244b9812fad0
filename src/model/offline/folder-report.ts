/**
 * What one agent tells another of a folder: how it is asked for, how it is written, how it is read. It reads well
 * by itself, and its lines can be joined into a larger map.
 */
import { shortened } from "./doc-comment.ts";
import { countOf } from "./folder-contents.ts";
import type { Wording } from "./wording.ts";

export interface FolderReport {
  readonly facts: readonly FolderFact[];
  /** The folders in it, where they say what they are for. */
  readonly inner: readonly { readonly name: string; readonly text: string }[];
}

export interface ExploredFolder {
  /** How many files are below it. */
  readonly total: number;
  readonly report: FolderReport;
}

export interface FolderFact {
  readonly label: FactLabel;
  readonly text: string;
}

export type FactLabel = keyof typeof factMeanings;

const factMeanings = {
  Purpose: "what the folder is for, in one sentence, and in brackets the file that says so",
  Holds: "how many files of which kind, and the folders in it",
  Sources: "its longest source files, tests left out, with the names that they define",
  Texts: "its longest documents, if it holds no sources, with their titles",
  Tests: "how many tests, in how many files",
  Size: "how many lines, in how many text files",
  Open: "how many lines say TODO, FIXME, HACK or XXX",
} as const;

const labels = Object.keys(factMeanings) as FactLabel[];

/** The task, in words for whoever explores. Undefined: this name cannot be put into a sentence. */
export function folderTask(folder: string): string | undefined {
  const isPlain = folder.trim() === folder && !/[`\p{Cc}]|\s\s/u.test(folder) && folder !== "";
  if (!isPlain) return undefined;
  return [
    `Explore the folder \`${folder}\` and report what is in it.`,
    "",
    "Only look, change nothing. Answer with a line for each of these, and leave out what you do not find:",
    ...labels.map((label) => `- ${label}: ${factMeanings[label]}`),
    "Then a line for each folder in it that says what it is for: `- NAME/: what it is for`.",
  ].join("\n");
}

/** The folder, if these are the words of `folderTask`. */
export function folderOfTask(wording: Wording): string | undefined {
  return /^explore the folder `([^`]+)` and report what is in it$/i.exec(wording.text)?.[1];
}

export function writeReport(folder: string, explored: ExploredFolder): string {
  const { total, report } = explored;
  const hasPurpose = report.facts.some(({ label }) => label === "Purpose");
  return [
    `# ${folder}/: ${countOf(total, "file")}`,
    "",
    ...report.facts.map(({ label, text }) => `- ${label}: ${text}`),
    ...(hasPurpose ? [] : ["", "No file in it says what the folder is for."]),
    ...(report.inner.length === 0
      ? []
      : ["", "The folders in it:", ...report.inner.map(({ name, text }) => `- ${name}/: ${text}`)]),
  ].join("\n");
}

const longestText = 400;
const mostInner = 24;

/** Lenient: whoever explored may have used bold, other bullets, other capitals. Undefined: nothing of the kind is in it. */
export function readReport(text: string): FolderReport | undefined {
  const facts = new Map<FactLabel, string>();
  const inner = new Map<string, string>();
  for (const line of text.split("\n")) {
    const plain = line.trim().replace(/^[-*•]\s+/, "");
    if (plain === line.trim()) continue;
    const [, labelled, said] = /^\**(\w+)\**:\**\s+(\S.*)$/.exec(plain) ?? [];
    const label = labels.find((known) => known.toLowerCase() === labelled?.toLowerCase());
    const [, name, what] = /^[*`]*(.+?)\/[*`]*:[*`]*\s+(\S.*)$/.exec(plain) ?? [];
    if (label !== undefined && said !== undefined) {
      if (!facts.has(label)) facts.set(label, shortened(said, longestText));
    } else if (name !== undefined && what !== undefined && !/\/|: /.test(name) && inner.size < mostInner)
      inner.set(name, shortened(what, longestText));
  }
  if (!facts.has("Purpose") && !facts.has("Holds")) return undefined;
  return {
    facts: labels.flatMap((label) => {
      const said = facts.get(label);
      return said === undefined ? [] : [{ label, text: said }];
    }),
    inner: [...inner].map(([name, said]) => ({ name, text: said })),
  };
}
