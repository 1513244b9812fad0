/** What can be told of one folder: what it says of itself, and a line for each file and folder in it. */
import { groupDigits } from "../../base/group-digits.ts";
import { docOfFile, firstSentence } from "./doc-comment.ts";
import { contentsOf, countOf } from "./folder-contents.ts";
import { folderCommentFiles, folderCommentPattern, purposeIn, tellingFiles } from "./folder-purpose.ts";
import { baseNameOf, folderOf, languageOf } from "./languages.ts";
import { foldersAmong } from "./list-files.ts";
import { outlineOf } from "./outline.ts";
import type { Asking } from "./playbook.ts";
import { grep, type PathList, readAll } from "./tool-calls.ts";

const shownFiles = 40;
const headLines = 60;

export function* aboutFolder(folder: string, list: PathList): Asking<string> {
  const { paths } = list;
  const total = list.total ?? paths.length;
  const { matches } = yield* grep({ pattern: folderCommentPattern, path: folder });
  const speaking = folderCommentFiles(matches);
  const inner = foldersAmong(paths, folder).map((name) => {
    const whole = `${folder}/${name}`;
    const inside = paths.filter((path) => path.startsWith(`${whole}/`));
    return {
      name: whole,
      paths: inside,
      total: inside.length,
      telling: tellingFiles(whole, inside, speaking),
    };
  });
  const own = tellingFiles(folder, paths, speaking);
  const files = paths.filter((path) => folderOf(path) === folder).sort();
  const shown = files.slice(0, shownFiles);
  const wanted = [...new Set([...own, ...shown, ...inner.flatMap(({ telling }) => telling)])];
  const texts = yield* readAll(wanted.map((path) => ({ file_path: path, limit: headLines })));
  const linesOf = (path: string) => texts[wanted.indexOf(path)]?.lines ?? [];
  const purposeAmong = (telling: readonly string[]) =>
    telling.map((path) => purposeIn(path, linesOf(path))).find((purpose) => purpose !== undefined);
  const purpose = purposeAmong(own);
  return [
    `# ${folder}/: ${countOf(total, "file")}`,
    "",
    purpose === undefined
      ? "No file in it says what the folder is for."
      : `What it says of itself: ${purpose}`,
    "",
    ...(inner.length === 0
      ? []
      : [
          "## Folders",
          ...inner.map(
            (one) => `- ${baseNameOf(one.name)}/: ${purposeAmong(one.telling) ?? contentsOf(one)}`,
          ),
          "",
        ]),
    ...(shown.length === 0 ? [] : ["## Files", ...shown.map((path) => lineOfFile(path, linesOf(path)))]),
    ...(files.length > shown.length ? [`- and ${files.length - shown.length} more`] : []),
    ...(paths.length < total ? ["", `This is of the ${groupDigits(paths.length)} newest files only.`] : []),
  ].join("\n");
}

const shownDefinitions = 4;

function lineOfFile(path: string, lines: readonly string[]): string {
  const name = baseNameOf(path);
  const doc = docOfFile(path, lines);
  if (doc !== undefined) return `- ${name}: ${firstSentence(doc, 120)}`;
  const defined = (outlineOf(path, lines) ?? []).filter((one) => one.exported && !one.nested);
  const names = [...new Set(defined.map((one) => `\`${one.name}\``))];
  if (names.length === 0)
    return `- ${name}${languageOf(path) === undefined ? "" : `: ${languageOf(path)?.name}`}`;
  return `- ${name}: ${names.slice(0, shownDefinitions).join(", ")}${names.length > shownDefinitions ? ", …" : ""}`;
}
