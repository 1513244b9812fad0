/** Looks into one folder, deeper than a map of everything can. */
import { docOfFile, firstSentence } from "./doc-comment.ts";
import { contentsOf, countOf, type FolderFiles } from "./folder-contents.ts";
import { folderCommentFiles, folderCommentPattern, purposeIn, tellingFiles } from "./folder-purpose.ts";
import type { ExploredFolder, FolderFact } from "./folder-report.ts";
import { isTestFile, languageOf } from "./languages.ts";
import { foldersAmong, type Listing, listFilesIn } from "./list-files.ts";
import { hasGrammar, outlineOf } from "./outline.ts";
import type { Asking, Task } from "./playbook.ts";
import { testPatterns } from "./test-marks.ts";
import { type CountList, countAll, countEverywhere, type FileText, grep, readAll } from "./tool-calls.ts";

/** A text instead: why there is nothing to tell. */
export function* exploreFolder(task: Task, folder: string): Asking<ExploredFolder | string> {
  const listing = yield* listFilesIn(folder, { task, text: `I look into ${folder}/.` });
  if (listing.problem !== undefined) return `${folder}/ could not be listed: ${listing.problem}`;
  if (listing.total === 0)
    return `There is no folder \`${folder}\` here that holds files which are not ignored.`;
  const { matches } = yield* grep({ pattern: folderCommentPattern, path: folder });
  const speaking = folderCommentFiles(matches);
  const lines = yield* countEverywhere({ pattern: "^", path: folder });
  const counted = yield* countMarks(folder, listing.paths);
  const longest = longestFiles(lines);
  const own = tellingFiles(folder, listing.paths, speaking);
  const inner = innerFolders(folder, { listing, speaking });
  const texts = yield* readTexts(longest.paths, [...own, ...inner.flatMap(({ telling }) => telling)]);
  const purposeAmong = (telling: readonly string[]) =>
    telling
      .map((path) => purposeIn(path, texts.get(path)?.lines ?? []))
      .find((purpose) => purpose !== undefined);
  const purpose = purposeAmong(own);
  const innerPurposes = inner.map((one) => ({ ...one, purpose: purposeAmong(one.telling) }));
  const tellsMore = inner.length > 1 && innerPurposes.some((one) => one.purpose !== undefined);
  const facts: FolderFact[] = [
    ...(purpose === undefined ? [] : [{ label: "Purpose" as const, text: purpose }]),
    { label: "Holds", text: contentsOf({ name: folder, paths: listing.paths, total: listing.total }) },
    ...longestFact(longest, { lines, texts }),
    ...counted.tests,
    ...sizeFact(lines),
    ...counted.open,
  ];
  return {
    total: listing.total,
    report: {
      facts,
      inner: tellsMore
        ? innerPurposes.map((one) => ({ name: one.shortName, text: one.purpose ?? contentsOf(one) }))
        : [],
    },
  };
}

interface InnerFolder extends FolderFiles {
  readonly shortName: string;
  readonly telling: readonly string[];
}

/** A longer list of folders in a folder is better told by their names. */
const innerLimit = 24;

function innerFolders(
  folder: string,
  known: { listing: Listing; speaking: ReadonlyMap<string, string> },
): InnerFolder[] {
  const { listing, speaking } = known;
  const names = foldersAmong(listing.paths, folder);
  // Of a part of the files one cannot say what a folder holds.
  if (names.length > innerLimit || !listing.complete) return [];
  return names.map((shortName) => {
    const name = `${folder}/${shortName}`;
    const paths = listing.paths.filter((path) => path.startsWith(`${name}/`));
    return { name, shortName, paths, total: paths.length, telling: tellingFiles(name, paths, speaking) };
  });
}

const openMarks = "\\b(?:TODO|FIXME|HACK|XXX)\\b";

function* countMarks(
  folder: string,
  paths: readonly string[],
): Asking<{ tests: FolderFact[]; open: FolderFact[] }> {
  const present = new Set(paths.map((path) => languageOf(path)?.name));
  const wanted = testPatterns.filter(({ languages }) => languages.some((name) => present.has(name)));
  const [open, ...tests] = yield* countAll([
    { pattern: openMarks, path: folder },
    ...wanted.map(({ pattern, glob }) => ({
      pattern,
      path: folder,
      ...(glob === undefined ? {} : { glob }),
    })),
  ]);
  return {
    tests: countFact({
      label: "Tests",
      counts: tests,
      textOf: ({ count, files }) => `${countOf(count, "test")} in ${files}, by their marks`,
    }),
    open: countFact({
      label: "Open",
      counts: open === undefined ? [] : [open],
      textOf: ({ count, files }) => `${countOf(count, "line")} with TODO, FIXME, HACK or XXX in ${files}`,
    }),
  };
}

function sizeFact(lines: CountList): FolderFact[] {
  const files = countOf(lines.fileCount, "text file");
  const textOf = ({ count }: { count: number }) => `${countOf(count, "line")} in ${files}`;
  return countFact({ label: "Size", counts: [lines], textOf });
}

/** None where nothing was counted. */
function countFact(options: {
  label: FolderFact["label"];
  counts: readonly CountList[];
  textOf: (sum: { count: number; files: string }) => string;
}): FolderFact[] {
  const { label, counts, textOf } = options;
  const count = counts.reduce((sum, one) => sum + one.total, 0);
  const files = counts.reduce((sum, one) => sum + one.fileCount, 0);
  const more = counts.every((one) => one.exact) ? "" : "at least ";
  return count === 0 ? [] : [{ label, text: more + textOf({ count, files: countOf(files, "file") }) }];
}

interface Longest {
  readonly label: "Sources" | "Texts";
  readonly paths: readonly string[];
  readonly total: number;
}

const shownFiles = 3;

/** Nothing where the numbers of some files are not known: one of those might be longer. */
function longestFiles(lines: CountList): Longest {
  const ranked =
    lines.counts.size < lines.fileCount
      ? []
      : [...lines.counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([path]) => path);
  // Headers belong to the sources, whatever language they are in.
  const code = ranked.filter((path) => languageOf(path)?.isCode === true || hasGrammar(path));
  const hasCode = code.length > 0;
  const found = hasCode ? code.filter((path) => !isTestFile(path)) : ranked.filter(isDocument);
  return { label: hasCode ? "Sources" : "Texts", paths: found.slice(0, shownFiles), total: found.length };
}

function isDocument(path: string): boolean {
  return /^(?:Markdown|reStructuredText|Text|AsciiDoc|LaTeX|HTML)$/.test(languageOf(path)?.name ?? "");
}

const headLines = 40;
const headLimit = 100;
const outlineLines = 1_500;

function* readTexts(
  whole: readonly string[],
  heads: readonly string[],
): Asking<ReadonlyMap<string, FileText>> {
  const wholes = new Set(whole);
  const others = [...new Set(heads)].filter((path) => !wholes.has(path)).slice(0, headLimit);
  const wanted = [
    ...whole.map((path) => ({ file_path: path, limit: outlineLines })),
    ...others.map((path) => ({ file_path: path, limit: headLines })),
  ];
  const texts = yield* readAll(wanted);
  return new Map(
    wanted.flatMap(({ file_path }, index) => {
      const text = texts[index];
      return text === undefined ? [] : [[file_path, text] as const];
    }),
  );
}

function longestFact(
  longest: Longest,
  known: { lines: CountList; texts: ReadonlyMap<string, FileText> },
): FolderFact[] {
  if (longest.paths.length === 0) return [];
  const told = longest.paths.map((path) => {
    const about = aboutLines(path, known.texts.get(path)?.lines ?? []);
    return `${path} (${countOf(known.lines.counts.get(path) ?? 0, "line")}${about === undefined ? "" : `: ${about}`})`;
  });
  const lead = longest.total > told.length ? "the longest are " : "";
  return [{ label: longest.label, text: lead + told.join(", ") }];
}

const shownNames = 4;

/** The names that a source hands out, else what it says of itself; of any other file its title. */
function aboutLines(path: string, lines: readonly string[]): string | undefined {
  const outline = outlineOf(path, lines);
  if (outline === undefined)
    return /^#\s+(.{1,80}?)\s*#*$/.exec(lines.find((line) => line.trim() !== "") ?? "")?.[1];
  const names = new Set(outline.filter((one) => one.exported && !one.nested).map((one) => `\`${one.name}\``));
  if (names.size > 0)
    return [...names].slice(0, shownNames).join(", ") + (names.size > shownNames ? ", …" : "");
  const doc = docOfFile(path, lines);
  return doc === undefined ? undefined : firstSentence(doc, 80);
}
