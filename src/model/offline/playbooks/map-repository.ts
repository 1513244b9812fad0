import { firstParagraph, shortened } from "../doc-comment.ts";
import { type EntryPoint, findEntryPoints } from "../entry-points.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { contentsOf, countOf, purposeIn, tellingFiles } from "../folder-purpose.ts";
import { baseNameOf, folderOf } from "../languages.ts";
import { isLicenceFile, licenceOf } from "../licence.ts";
import type { Asking, Task } from "../playbook.ts";
import { type Project, readProject } from "../project.ts";
import { parsePackage, parseToml, tomlString } from "../project-manifests.ts";
import { type FolderSurvey, type Survey, surveyFolder } from "../survey.ts";
import { type FileText, readAll } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";

export const mapRepository = everydayPlaybook({
  name: "map a repository",
  needs: ["Glob", "Read", "Grep"],
  understand: understandMap,
  play: playMap,
});

const place =
  "(?:repo(?:sitory)?|project|code ?base|code|folder|directory|workspace|package|app(?:lication)?|program|here)";
const asksForMap = new RegExp(
  [
    `^(?:map|describe|summari[sz]e|outline|overview|explain|explore|analy[sz]e|inspect|survey|introduce)(?: me)?(?: (?:of|to))?(?: (?:this|the|my|our|current|whole|entire))*(?: \\w+)? ?${place}(?: (?:for me|to me|structure|layout|briefly|here))*$`,
    `^(?:give|show|draw|tell|get)(?: (?:me|us))?(?: (?:an?|the))?(?: \\w+)? ?(?:overview|map|summary|tour|outline|structure|layout|description)(?: (?:of|through) (?:this|the|my|it|everything|what is here)(?: \\w+)?(?: ${place})?)?$`,
    `^(?:overview|map|summary|tour|structure|layout)(?: (?:of|through) (?:this|the|my|it|everything|what is here)(?: \\w+)?(?: ${place})?)?$|^(?:map|describe|explain|summari[sz]e|explore) (?:this|it|everything)(?: for me| to me| here)?$`,
    `^what(?:'s| is| does| are)(?: (?:in|this|the|here))*(?: \\w+)? ?${place}(?: (?:about|do|for|doing|all about))*$`,
    `^what (?:is|does) this(?: (?:about|do))?$|^what(?:'s| is) this(?: all)?(?: about)?$|^what(?:'s| is) (?:in )?here$|^where am i$`,
    `^how is (?:this|the) ${place} (?:structured|organi[sz]ed|laid out|built up)$`,
    `^(?:tell me about|walk me through|orient me in|get to know|read|look at|take a look at|understand) (?:this|the|my)(?: \\w+)? ?${place}$`,
    `^how (?:do|can|should) (?:i|we|you) (?:build|test|run|start)(?: (?:and|or) \\w+)* (?:this|it|the ${place})(?: ${place})?$`,
    `^what languages? (?:is|are|does)\\b.*$|^which (?:programming )?languages?\\b.*$`,
  ].join("|"),
  "i",
);

function understandMap(wording: Wording): true | undefined {
  return asksForMap.test(wording.text) ? true : undefined;
}

const folderLimit = 40;
const entryLimit = 20;

function* playMap(task: Task): Asking<string> {
  const survey = yield* surveyFolder(task, "I list the files, then read what describes the project.");
  if (survey.total === 0) return "This folder is empty: there is no file in it that is not ignored.";
  const project = yield* readProject(survey);
  const described = yield* readDescriptions(survey);
  const entries = yield* findEntryPoints(survey, project);
  return [
    heading(survey, project),
    ...aboutSection(survey, described),
    ...languageSection(survey),
    ...commandSection(project),
    ...entrySection(entries),
    ...folderSection(survey, described),
    ...packageSection(project),
    ...licenceSection(survey, project, described),
  ].join("\n");
}

type Descriptions = ReadonlyMap<string, FileText>;

const headLines = 60;

function* readDescriptions(survey: Survey): Asking<Descriptions> {
  const wanted = [
    ...survey.rootFiles.filter((path) => isReadme(path) || isLicenceFile(path)),
    ...survey.folders.slice(0, folderLimit).flatMap(tellingFiles),
  ];
  const texts = yield* readAll(wanted.map((path) => ({ file_path: path, limit: headLines })));
  const found = new Map<string, FileText>();
  for (const [index, path] of wanted.entries()) {
    const text = texts[index];
    if (text !== undefined) found.set(path, text);
  }
  return found;
}

function isReadme(path: string): boolean {
  return /^readme(?:\.(?:md|rst|txt|markdown|adoc))?$/i.test(baseNameOf(path));
}

function heading(survey: Survey, project: Project): string {
  const name = projectName(project);
  return `# ${name === undefined ? "This folder" : name}: ${countOf(survey.total, "file")} in ${countOf(survey.folders.length, "top folder")}\n`;
}

function projectName(project: Project): string | undefined {
  const manifest = project.manifests.get("package.json");
  const fromPackage = manifest === undefined ? undefined : parsePackage(manifest)?.name;
  const toml = (path: string, section: string) => {
    const lines = project.manifests.get(path);
    return lines === undefined ? undefined : tomlString(parseToml(lines).get(section)?.get("name"));
  };
  const goModule = project.manifests.get("go.mod")?.find((line) => line.startsWith("module "));
  return (
    fromPackage ??
    toml("pyproject.toml", "project") ??
    toml("Cargo.toml", "package") ??
    goModule?.slice(7).trim()
  );
}

function aboutSection(survey: Survey, described: Descriptions): string[] {
  const readme = survey.rootFiles.find(isReadme);
  const paragraph = readme === undefined ? undefined : firstParagraph(described.get(readme)?.lines ?? []);
  if (readme === undefined) return ["There is no README in the top folder.", ""];
  return paragraph === undefined
    ? [`${readme} has no paragraph of prose in its first ${headLines} lines.`, ""]
    : [`${readme} says: ${shortened(paragraph, 400)}`, ""];
}

function languageSection(survey: Survey): string[] {
  const main = survey.languages.find(({ language }) => language.isCode);
  const counts = survey.languages.map(
    ({ language, count }) => `${language.name} ${count.toLocaleString("en-US")}`,
  );
  if (counts.length === 0) return ["## Languages", "No file has a name that tells a known language.", ""];
  return [
    "## Languages (by number of files)",
    counts.join(", "),
    main === undefined
      ? "None of them is a programming language."
      : `Main language: ${main.language.name} (${countOf(main.count, "file")}).`,
    "",
  ];
}

function commandSection(project: Project): string[] {
  const lineOf = (purpose: "build" | "test", word: string) => {
    const found = project.commands.filter((command) => command.purpose === purpose);
    if (found.length === 0) return [`- ${word}: no file that I know says how.`];
    return found.map(
      ({ command, from, folder }) =>
        `- ${word}${folder === "" ? "" : ` in ${folder}/`}: \`${command}\` (${from})`,
    );
  };
  return ["## Build and test", ...lineOf("build", "Build"), ...lineOf("test", "Test"), ""];
}

function entrySection(entries: readonly EntryPoint[]): string[] {
  if (entries.length === 0) return ["## Entry points", "None found by the usual signs.", ""];
  const shown = entries.slice(0, entryLimit).map(({ what, why }) => `- ${what} (${why})`);
  if (entries.length > entryLimit) shown.push(`- and ${entries.length - entryLimit} more`);
  return ["## Entry points", ...shown, ""];
}

function folderSection(survey: Survey, described: Descriptions): string[] {
  if (survey.folders.length === 0) return ["There are no folders.", ""];
  const lines = survey.folders
    .slice(0, folderLimit)
    .map((folder) => `- ${folder.name}/: ${lineOfFolder(folder, described)}`);
  if (survey.folders.length > folderLimit) lines.push(`- and ${survey.folders.length - folderLimit} more`);
  return ["## Folders", ...lines, ""];
}

const packageLimit = 30;

/** The parts of a repository that holds several packages. */
function packageSection(project: Project): string[] {
  const packages = [...project.manifests]
    .filter(([path]) => path.includes("/"))
    .flatMap(([path, lines]) => {
      const stated = statedIn(path, lines);
      return stated === undefined ? [] : [`- ${folderOf(path)}/: ${stated}`];
    });
  if (packages.length < 2) return [];
  const more = packages.length - packageLimit;
  return [
    `## Packages (${packages.length})`,
    ...packages.slice(0, packageLimit),
    ...(more > 0 ? [`- and ${more} more`] : []),
    "",
  ];
}

function statedIn(path: string, lines: readonly string[]): string | undefined {
  const section = { "Cargo.toml": "package", "pyproject.toml": "project" }[baseNameOf(path)];
  const toml = section === undefined ? undefined : parseToml(lines).get(section);
  const manifest = baseNameOf(path) === "package.json" ? parsePackage(lines) : undefined;
  const name = manifest?.name ?? tomlString(toml?.get("name"));
  const description = manifest?.description ?? tomlString(toml?.get("description"));
  if (name === undefined) return undefined;
  return description === undefined ? name : `${name}: ${shortened(description, 120)}`;
}

function lineOfFolder(folder: FolderSurvey, described: Descriptions): string {
  for (const path of tellingFiles(folder)) {
    const purpose = purposeIn(path, described.get(path)?.lines ?? []);
    if (purpose !== undefined) return purpose;
  }
  return contentsOf(folder);
}

function licenceSection(survey: Survey, project: Project, described: Descriptions): string[] {
  const file = survey.rootFiles.find(isLicenceFile);
  const manifest = project.manifests.get("package.json");
  const stated = manifest === undefined ? undefined : parsePackage(manifest)?.license;
  if (file !== undefined) {
    const known = licenceOf(described.get(file)?.lines ?? []);
    return [`Licence: ${known ?? "a text that I do not recognise"} (${file}).`];
  }
  return [
    stated === undefined
      ? "Licence: no licence file in the top folder."
      : `Licence: ${stated} (package.json).`,
  ];
}
