import { aboutFile } from "../about-file.ts";
import { aboutFolder } from "../about-folder.ts";
import { aboutSymbol, definitionsOf } from "../about-symbol.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { extensionOf, folderOf, languageOf } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { globEscaped } from "../search-patterns.ts";
import { correctSpelling } from "../spelling.ts";
import { glob, globAll, type PathList } from "../tool-calls.ts";
import { bareName, splitPlace, type Wording, withoutArticle } from "../wording.ts";

export const explainCode = everydayPlaybook({
  name: "explain a file or a symbol",
  needs: ["Read", "Grep", "Glob"],
  understand: understandExplain,
  play: playExplain,
});

export interface ExplainRequest {
  readonly name: string;
  /** `thing`: a plain word, which may be the name of a folder, a file or a symbol. */
  readonly kind: "file" | "folder" | "symbol" | "thing";
  /** Only what is defined there. */
  readonly path?: string;
}

interface Question {
  readonly pattern: RegExp;
  /** A plain word can only be a name here: the sentence asks for nothing else. */
  readonly takesWords?: boolean;
}

const questions: readonly Question[] = [
  {
    pattern:
      /^(?:explain|describe|summari[sz]e|outline)(?: (?:how|what))? (.+?)(?: (?:works|does|is|briefly|in short|in detail))*$/i,
    takesWords: true,
  },
  { pattern: /^what is (?:the )?(?:purpose|point|job|role|use|meaning) of (.+)$/i },
  {
    pattern:
      /^(?:what|which)(?: are)?(?: the)? (?:functions|classes|methods|definitions|exports|symbols|types)(?: (?:are|are there|does|is|it|defined|exported))* (?:in|of|by|from) (.+?)$/i,
  },
  {
    pattern:
      /^(?:list|show)(?: me)?(?: all)?(?: the)? (?:functions|classes|methods|definitions|exports|symbols|types) (?:in|of) (.+)$/i,
  },
  {
    pattern:
      /^what(?: is| does| are)(?: (?:in|inside))? (.+?)(?: (?:do|does|for|about|good for|used for|mean|export|define|contain))*$/i,
  },
  { pattern: /^what (.+?) (?:does|is|is for|means|is used for|is about|contains)$/i },
  { pattern: /^how (?:does |do )?(.+?) works?$/i },
  {
    pattern: /^(?:tell me (?:more )?about|walk me through|show me|show|look at|read|open|view|print) (.+)$/i,
  },
];

function understandExplain(wording: Wording): ExplainRequest | undefined {
  for (const { pattern, takesWords } of questions) {
    const words = pattern.exec(wording.text)?.[1];
    if (words === undefined) continue;
    const understood = nameIn(words, wording.quoted, takesWords === true);
    if (understood !== undefined) return understood;
  }
  return undefined;
}

const kinds =
  "(file|module|script|folder|directory|function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|macro)";
const kindWord = new RegExp(`^${kinds}\\s+`, "i");
const kindAfter = new RegExp(`\\s+${kinds}$`, "i");

/** A name, not a sentence: what has spaces must be quoted or look like a path. */
export function nameIn(
  words: string,
  quoted: readonly string[],
  takesWords: boolean,
): ExplainRequest | undefined {
  const whole = withoutArticle(words);
  const placed = splitPlace(whole);
  const { rest, path } = placed.path !== undefined && isPathLike(placed.path) ? placed : { rest: whole };
  const kind = (kindWord.exec(rest) ?? kindAfter.exec(rest))?.[1]?.toLowerCase() ?? "";
  const name = bareName(quoted[0] ?? rest.replace(kindWord, "").replace(kindAfter, "")).replace(/^\.\//, "");
  if (name === "") return undefined;
  if (/^(?:folder|directory)$/.test(kind)) return { name, kind: "folder" };
  if (/^(?:file|module|script)$/.test(kind)) return { name, kind: "file" };
  if (isPathLike(name)) return { name, kind: name.endsWith("/") ? "folder" : "file" };
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}\p{N}_$]+)*[?!]?$/u.test(name)) return undefined;
  const within = path === undefined ? {} : { path };
  const isPlainWord = /^[a-z]+$/.test(name) && kind === "" && quoted.length === 0 && !words.includes("(");
  if (!isPlainWord) return { name, kind: "symbol", ...within };
  // A slip of the finger is no name: another playbook reads what was meant.
  return takesWords && correctSpelling(name) === name ? { name, kind: "thing", ...within } : undefined;
}

function isPathLike(name: string): boolean {
  return name.includes("/") || (extensionOf(name) !== undefined && languageOf(name) !== undefined);
}

export function* playExplain(_task: Task, request: ExplainRequest): Asking<string> {
  const { name, kind } = request;
  if (kind === "symbol") {
    const found = yield* definitionsOf(name, request.path);
    if (found.length > 0) return yield* aboutSymbol(name, found);
    const files = yield* filesNamed(name);
    return files.length > 0 ? yield* explainFiles(files) : yield* aboutSymbol(name, found);
  }
  if (kind !== "file") {
    const folder = yield* folderNamed(name);
    if (folder !== undefined) return yield* aboutFolder(folder.path, folder.list);
    if (kind === "folder")
      return `There is no folder \`${name}\` here that holds files which are not ignored.`;
  }
  const files = yield* filesNamed(name);
  if (files.length > 0) return yield* explainFiles(files);
  if (kind === "thing") return yield* aboutSymbol(name, yield* definitionsOf(name, request.path));
  const folder = yield* folderNamed(name);
  if (folder !== undefined) return yield* aboutFolder(folder.path, folder.list);
  return `There is no file \`${name}\` here; ignored files (.gitignore) are left out.`;
}

function* explainFiles(paths: readonly string[]): Asking<string> {
  const [only, ...others] = paths;
  if (only !== undefined && others.length === 0) return yield* aboutFile(only);
  const shown = paths.slice(0, 20).map((path) => `- explain ${path}`);
  return `Several files have that name; which one?\n\n${shown.join("\n")}`;
}

function* filesNamed(name: string): Asking<readonly string[]> {
  const clean = name.replace(/\/+$/, "");
  const exact = yield* glob({ pattern: globEscaped(clean) }, `I look for ${clean}.`);
  if (exact.paths.length > 0) return exact.paths;
  const stem = `**/${globEscaped(clean)}`;
  const [ending, anyExtension] = yield* globAll([{ pattern: stem }, { pattern: `${stem}.*` }]);
  return ending !== undefined && ending.paths.length > 0 ? ending.paths : (anyExtension?.paths ?? []);
}

/** The folder at this path, or the only one of this name anywhere. */
export function* folderNamed(name: string): Asking<{ path: string; list: PathList } | undefined> {
  const clean = name.replace(/\/+$/, "");
  const [here, anywhere] = yield* globAll(
    [{ pattern: `${globEscaped(clean)}/**/*` }, { pattern: `**/${globEscaped(clean)}/**/*` }],
    `I look for ${clean}.`,
  );
  if (here !== undefined && here.paths.length > 0) return { path: clean, list: here };
  const folders = new Set((anywhere?.paths ?? []).map((path) => folderAbove(path, clean)));
  const [only, ...others] = folders;
  return only === undefined || others.length > 0 || anywhere === undefined
    ? undefined
    : { path: only, list: anywhere };
}

function folderAbove(path: string, name: string): string {
  let folder = folderOf(path);
  let found = folder;
  while (folder !== "") {
    if (folder === name || folder.endsWith(`/${name}`)) found = folder;
    folder = folderOf(folder);
  }
  return found;
}
