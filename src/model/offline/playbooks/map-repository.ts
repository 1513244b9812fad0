import { groupDigits } from "../../../base/group-digits.ts";
import { firstParagraph, shortened } from "../doc-comment.ts";
import { type EntryPoint, findEntryPoints } from "../entry-points.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { exploreFolders, type ToldFolders } from "../folder-agents.ts";
import { countOf } from "../folder-contents.ts";
import { describeFolders } from "../folder-lines.ts";
import { isReadme } from "../folder-purpose.ts";
import { folderOf } from "../languages.ts";
import { isLicenceFile, licenceOf } from "../licence.ts";
import type { Asking, Task } from "../playbook.ts";
import { type Project, readProject } from "../project.ts";
import { identityOf } from "../project-identity.ts";
import { type Survey, surveyFolder } from "../survey.ts";
import { type FileText, readAll } from "../tool-calls.ts";
import { type MapPart, partAsked } from "./map-wording.ts";

export const mapRepository = everydayPlaybook({
  name: "map a repository",
  needs: ["Glob", "Read", "Grep"],
  understand: partAsked,
  play: playMap,
});

const entryLimit = 20;

function* playMap(task: Task, part: MapPart): Asking<string> {
  const survey = yield* surveyFolder(task, "I list the files, then read what describes the project.");
  if (survey.problem !== undefined) return `The files could not be listed: ${survey.problem}`;
  if (survey.total === 0) return "This folder is empty: there is no file in it that is not ignored.";
  const project = yield* readProject(survey);
  const heads = yield* readHeads(survey);
  const packages = part === "everything" ? packagesOf(project) : [];
  const wants = (other: MapPart) => part === "everything" || part === other;
  const entries = wants("entries") || part === "commands" ? yield* findEntryPoints(survey, project) : [];
  const folders = wants("folders")
    ? yield* tellFolders(survey, {
        packages: new Set(packages.map(({ folder }) => folder)),
        byAgents: part === "everything" && task.offers("Agent"),
      })
    : undefined;
  return [
    heading(survey, project, heads),
    ...(wants("everything") ? aboutSection(survey, project, heads) : []),
    ...(wants("languages") ? languageSection(survey) : []),
    ...(wants("commands") ? commandSection(project) : []),
    ...(wants("entries") || part === "commands" ? entrySection(entries) : []),
    ...(folders === undefined ? [] : folderSection(survey, folders)),
    ...packageSection(packages),
    ...(wants("licence") ? licenceSection(survey, project, heads) : []),
  ].join("\n");
}

function* tellFolders(
  survey: Survey,
  options: { packages: ReadonlySet<string>; byAgents: boolean },
): Asking<ToldFolders> {
  if (options.byAgents && survey.folders.length > 0) return yield* exploreFolders(survey, options.packages);
  return { lines: yield* describeFolders(survey, options.packages), note: undefined };
}

type Heads = ReadonlyMap<string, FileText>;

const headLines = 60;

function* readHeads(survey: Survey): Asking<Heads> {
  const wanted = survey.rootFiles.filter((path) => isReadme(path) || isLicenceFile(path));
  const texts = yield* readAll(wanted.map((path) => ({ file_path: path, limit: headLines })));
  return new Map(
    wanted.flatMap((path, index) => {
      const text = texts[index];
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
}

function heading(survey: Survey, project: Project, heads: Heads): string {
  const readme = survey.rootFiles.find(isReadme);
  const title = readme === undefined ? undefined : titleOf(heads.get(readme)?.lines ?? []);
  const name = identityOf(project.manifests).name?.text ?? title ?? "This folder";
  const folders = survey.folders.length === 0 ? "no folders" : countOf(survey.folders.length, "top folder");
  return `# ${name}: ${countOf(survey.total, "file")} in ${folders}\n`.replace(
    " in no folders",
    ", no folders",
  );
}

/** The first heading, if it reads like a name. */
function titleOf(lines: readonly string[]): string | undefined {
  const at = lines.findIndex((line) => line.trim() !== "");
  const first = lines[at] ?? "";
  const underlined = /^(?:={3,}|-{3,})\s*$/.test(lines[at + 1] ?? "");
  const title = /^#\s+(.+?)\s*#*$/.exec(first)?.[1] ?? (underlined ? first.trim() : undefined);
  const isName = title !== undefined && title.length <= 60 && !/[[<!]|https?:/.test(title);
  return isName ? title : undefined;
}

function aboutSection(survey: Survey, project: Project, heads: Heads): string[] {
  const readme = survey.rootFiles.find(isReadme);
  const paragraph = readme === undefined ? undefined : firstParagraph(heads.get(readme)?.lines ?? []);
  const stated = identityOf(project.manifests).description;
  const manifest = stated === undefined ? [] : [`${stated.from} says: ${shortened(stated.text, 400)}`];
  if (paragraph !== undefined) return [`${readme} says: ${shortened(paragraph, 400)}`, ""];
  if (readme === undefined) return ["There is no README in the top folder.", ...manifest, ""];
  return [`${readme} has no paragraph of prose in its first ${headLines} lines.`, ...manifest, ""];
}

function languageSection(survey: Survey): string[] {
  const counts = survey.languages.map(({ language, count }) => `${language.name} ${groupDigits(count)}`);
  if (counts.length === 0) return ["## Languages", "No file has a name that tells a known language.", ""];
  return ["## Languages (by number of files)", counts.join(", "), mainLanguage(survey), ""];
}

/** Headers belong to C or to C++: their name does not say which. */
function mainLanguage({ languages }: Survey): string {
  const main = languages.find(({ language }) => language.isCode);
  const headers = languages.find(({ language }) => language.name === "C or C++ header");
  if (headers !== undefined && headers.count > (main?.count ?? 0))
    return `Main language: C or C++ (${countOf(headers.count, "header")}).`;
  return main === undefined
    ? "None of them is a programming language."
    : `Main language: ${main.language.name} (${countOf(main.count, "file")}).`;
}

const commandLimit = 8;

function commandSection(project: Project): string[] {
  const lineOf = (purpose: "build" | "test", word: string) => {
    const found = project.commands.filter((command) => command.purpose === purpose);
    if (found.length === 0) return [`- ${word}: no file that I know says how.`];
    const lines = found
      .slice(0, commandLimit)
      .map(
        ({ command, from, folder }) =>
          `- ${word}${folder === "" ? "" : ` in ${folder}/`}: \`${command}\` (${from})`,
      );
    const more = found.length - lines.length;
    return more > 0 ? [...lines, `- ${word}: in ${countOf(more, "more folder")}`] : lines;
  };
  return ["## Build and test", ...lineOf("build", "Build"), ...lineOf("test", "Test"), ""];
}

function entrySection(entries: readonly EntryPoint[]): string[] {
  if (entries.length === 0) return ["## Entry points", "None found by the usual signs.", ""];
  const shown = entries.slice(0, entryLimit).map(({ what, why }) => `- ${what} (${why})`);
  if (entries.length > entryLimit) shown.push(`- and ${entries.length - entryLimit} more`);
  return ["## Entry points", ...shown, ""];
}

function folderSection(survey: Survey, { lines, note }: ToldFolders): string[] {
  if (survey.folders.length === 0) return [];
  const told = new Set(lines.flatMap(({ name, depth }) => (depth === 0 ? [name] : [])));
  const others = survey.folders.filter(({ name }) => !told.has(name)).map(({ name }) => `${name}/`);
  return [
    "## Folders",
    ...lines.flatMap(({ name, depth, text, facts = [] }) => [
      `${"  ".repeat(depth)}- ${name}/: ${text}`,
      ...facts.map((fact) => `${"  ".repeat(depth + 1)}- ${fact}`),
    ]),
    ...(others.length > 0 ? [`- and ${others.length} more: ${namesOf(others)}`] : []),
    ...(note === undefined ? [] : ["", note]),
    "",
  ];
}

const nameLimit = 60;

function namesOf(names: readonly string[]): string {
  return names.slice(0, nameLimit).join(", ") + (names.length > nameLimit ? ", …" : "");
}

const packageLimit = 30;

interface PackageFolder {
  readonly folder: string;
  readonly text: string;
}

/** The parts of a repository that holds several packages. */
function packagesOf(project: Project): PackageFolder[] {
  const folders = [...new Set([...project.manifests.keys()].map(folderOf))].filter((folder) => folder !== "");
  const packages = folders.flatMap((folder) => {
    const { name, description } = identityOf(project.manifests, folder);
    if (name === undefined) return [];
    const about = description === undefined ? "" : `: ${shortened(description.text, 120)}`;
    return [{ folder, text: `${name.text}${about}` }];
  });
  return packages.length < 2 ? [] : packages;
}

function packageSection(packages: readonly PackageFolder[]): string[] {
  if (packages.length === 0) return [];
  const more = packages.length - packageLimit;
  return [
    `## Packages (${packages.length})`,
    ...packages.slice(0, packageLimit).map(({ folder, text }) => `- ${folder}/: ${text}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    "",
  ];
}

function licenceSection(survey: Survey, project: Project, heads: Heads): string[] {
  const file = survey.rootFiles.find(isLicenceFile);
  const stated = identityOf(project.manifests).licence;
  const known = file === undefined ? undefined : licenceOf(heads.get(file)?.lines ?? []);
  if (file !== undefined && known !== undefined) return [`Licence: ${known} (${file}).`];
  if (stated !== undefined) return [`Licence: ${stated.text} (${stated.from}).`];
  return [
    file === undefined
      ? "Licence: no licence file in the top folder."
      : `Licence: a text that I do not recognise (${file}).`,
  ];
}
