import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-purpose.ts";
import { globOf, type Language, languageNamed } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { findDefinitions } from "../symbol.ts";
import { countMatches, type GrepInput, glob, grep, type Match } from "../tool-calls.ts";
import { bareName, type Wording, withoutArticle } from "../wording.ts";
import { escapedPattern, told, topFiles, wholeWord } from "./count-things.ts";

export const findThings = everydayPlaybook({
  name: "find something",
  needs: ["Glob", "Grep", "Read"],
  understand: understandFind,
  play: playFind,
});

type Search =
  | { kind: "definition"; name: string }
  | { kind: "uses"; name: string }
  | { kind: "imports"; name: string }
  | { kind: "files"; pattern: string; language?: Language }
  | { kind: "text"; text: string };

const rules: readonly (readonly [RegExp, (words: string) => Search | undefined])[] = [
  [
    /^(?:where(?:'s| is| are| do we| does)?|find where|show me where) (.+?) (?:is |are )?(?:defined|declared|implemented|define|declare)$/i,
    named("definition"),
  ],
  [
    /^(?:find|show|locate|where(?:'s| is))(?: me)? (?:the )?(?:definition|declaration|implementation)s? of (.+)$/i,
    named("definition"),
  ],
  [/^(?:which|what) file (?:defines|declares|implements) (.+)$/i, named("definition")],
  [
    /^(?:where(?:'s| is| are)|find where|show me where) (.+?) (?:is |are |being )?(?:used|called|referenced|mentioned|invoked)$/i,
    named("uses"),
  ],
  [
    /^(?:find|show|list)(?: me)? (?:all |every )?(?:the )?(?:uses?|usages?|callers?|references|calls|occurrences|mentions) (?:of|to) (.+)$/i,
    named("uses"),
  ],
  [/^(?:who|what|which files?)(?: code)? (?:uses?|calls?|references?|mentions?) (.+)$/i, named("uses")],
  [
    /^(?:which|what|find|list|show)(?: me)?(?: all| the)? (?:files?|modules?)(?: that| which)? (?:imports?|requires?|includes?) (.+)$/i,
    named("imports"),
  ],
  [/^(?:who|what) (?:imports?|requires?|includes?) (.+)$/i, named("imports")],
  [/^where is (.+?) imported$/i, named("imports")],
  [
    /^(?:which|what|find|list|show)(?: me)?(?: all| the)* files?(?: that| which)? (?:contains?|mentions?|have|has|with)(?: the (?:word|text|string))? (.+)$/i,
    textSearch,
  ],
  [
    /^(?:find|list|show|locate)(?: me)?(?: all)?(?: the)? (?:files? (?:named|called)|files? matching) (.+)$/i,
    fileSearch,
  ],
  [/^(?:find|list|show|locate)(?: me)?(?: all)?(?: the)? (.+?) files?$/i, languageSearch],
  [/^where is (?:the )?file (.+)$/i, fileSearch],
  [
    /^(?:find|locate|search(?: for)?|grep(?: for)?|look for|where(?:'s| is| are))(?: all| every)?(?: the)? (.+)$/i,
    anySearch,
  ],
];

function understandFind(wording: Wording): Search | undefined {
  for (const [pattern, search] of rules) {
    const words = pattern.exec(wording.text)?.[1];
    const understood = words === undefined ? undefined : search(words);
    if (understood !== undefined) return understood;
  }
  return undefined;
}

const kindWords =
  /^(?:(?:function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|module|package|macro|word|text|string|library)\s+)/i;

function named(kind: "definition" | "uses" | "imports"): (words: string) => Search | undefined {
  return (words) => {
    const name = bareName(
      withoutArticle(words)
        .replace(kindWords, "")
        .replace(/\s+(?:function|method|class|type|module|package)$/i, ""),
    );
    return /^[\w$@./:#?!-]+$/u.test(name) ? { kind, name } : undefined;
  };
}

function fileSearch(words: string): Search | undefined {
  const name = bareName(words);
  if (name === "") return undefined;
  return {
    kind: "files",
    pattern: /[*?{[]/.test(name) || name.includes("/") ? name : `**/${globEscaped(name)}`,
  };
}

function languageSearch(words: string): Search | undefined {
  const language = languageNamed(withoutArticle(words));
  if (language !== undefined) return { kind: "files", pattern: globOf(language), language };
  const extension = /^[`"']?\*?\.(\w+)[`"']?$/.exec(words)?.[1];
  return extension === undefined ? undefined : { kind: "files", pattern: `**/*.${extension}` };
}

function textSearch(words: string): Search | undefined {
  const text = bareName(words);
  return text === "" ? undefined : { kind: "text", text };
}

/** One word, a name or something quoted can be searched for as it is; a sentence cannot. */
function anySearch(words: string): Search | undefined {
  const isQuoted = /^["'`“].*["'`”]$/.test(words.trim());
  const rest = withoutArticle(words).replace(kindWords, "");
  const name = bareName(rest);
  if (isQuoted) return textSearch(words);
  if (/^[\w-]+\.\w{1,5}$/.test(name) && !name.includes("(")) return fileSearch(name);
  return /^[\w$@./:#-]+$/u.test(name) && name !== "" ? { kind: "text", text: name } : undefined;
}

/** A glob that matches the name itself. */
export function globEscaped(name: string): string {
  return name.replace(/[*?[\]{}()!@+|\\]/g, "\\$&");
}

function* playFind(_task: Task, search: Search): Asking<string> {
  switch (search.kind) {
    case "definition":
      return yield* findDefinition(search.name);
    case "uses":
      return yield* findMatches({ pattern: wholeWord(search.name) }, `\`${search.name}\` as a whole word`);
    case "imports":
      return yield* findImports(search.name);
    case "files":
      return yield* findFiles(search);
    case "text":
      return yield* findMatches({ pattern: escapedPattern(search.text) }, `\`${search.text}\``);
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
  return `${told(counts, "line")} with ${what}.\n\n${matchLines(matches, counts.total)}\n\nSearched with Grep \`${input.pattern}\`; ignored files (.gitignore) are left out.`;
}

function matchLines(matches: readonly Match[], total: number): string {
  const lines = matches
    .slice(0, shownMatches)
    .map(({ path, line, text }) => `- ${path}:${line}: ${text.trim().slice(0, 120)}`);
  if (total > lines.length) lines.push(`- and ${(total - lines.length).toLocaleString("en-US")} more lines`);
  return lines.join("\n");
}

function* findImports(name: string): Asking<string> {
  const word = escapedPattern(name);
  const pattern = `^\\s*(?:import|from|use|using|require|require_relative|include|#\\s*include|export|load|source)\\b.*\\b${word}\\b|require\\(\\s*['"][^'"]*${word}|^\\s+(?:\\w+ )?"(?:[^"]*/)?${word}"$|\\bfrom\\s+['"][^'"]*${word}`;
  const counts = yield* countMatches({ pattern });
  if (counts.problem !== undefined) return `The search failed: ${counts.problem}`;
  if (counts.total === 0)
    return `No file imports \`${name}\`: no import, include, use or require line names it.`;
  const paths = [...counts.counts.keys()].sort().map((path) => `- ${path}`);
  return `**${countOf(counts.fileCount, "file")}** import \`${name}\`:\n\n${paths.slice(0, shownMatches).join("\n")}${paths.length > shownMatches ? `\n- and ${paths.length - shownMatches} more` : ""}\n\nFound with Grep: import, include, use and require lines that name it.`;
}

function* findFiles(search: { pattern: string }): Asking<string> {
  const found = yield* glob({ pattern: search.pattern });
  if (found.problem !== undefined) return `The search failed: ${found.problem}`;
  if (found.paths.length === 0)
    return `No file matches \`${search.pattern}\`; ignored files (.gitignore) are left out.`;
  const lines = [...found.paths]
    .sort()
    .slice(0, 100)
    .map((path) => `- ${path}`);
  const total = found.total ?? found.paths.length;
  if (total > lines.length) lines.push(`- and ${(total - lines.length).toLocaleString("en-US")} more`);
  return `**${countOf(total, "file")}** match \`${search.pattern}\`:\n\n${lines.join("\n")}`;
}
