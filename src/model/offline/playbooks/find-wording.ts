/** What a request asks to find. */
import { globOf, languageNamed } from "../languages.ts";
import { globEscaped } from "../search-patterns.ts";
import { bareName, type Wording, withoutArticle } from "../wording.ts";

export type Search =
  | { kind: "definition"; name: string }
  | { kind: "uses"; name: string }
  | { kind: "imports"; name: string }
  | { kind: "files"; pattern: string; path?: string }
  | { kind: "files-named-like"; word: string }
  | { kind: "text"; text: string }
  /** Names that have all these words in them. */
  | { kind: "words"; words: readonly string[] };

type Reader = (words: string) => Search | undefined;

const find =
  "(?:find|list|show|locate|give|get|search for|look for|look up)(?: me| us)?(?: all| every| any| each)?(?: of)?(?: the)?";
const defined = "(?:defined|declared|implemented|located|define|declare|implement)";
const used = "(?:used|called|referenced|mentioned|invoked|needed|instantiated)";
const uses =
  "(?:uses?|using|calls?|calling|references?|mentions?|invokes?|needs?|depends? on|rel(?:y|ies) on)";
const kinds = "(?:function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|macro)";

const rules: readonly (readonly [string, Reader])[] = [
  [
    `(?:where|which file)(?: is| are| do we| does| did we)? (.+?) (?:is |are |gets? )?${defined}`,
    named("definition"),
  ],
  [
    `(?:${find}|where (?:is|are)(?: the)?) (?:definition|declaration|implementation)s? (?:of|for) (.+)`,
    named("definition"),
  ],
  [`(?:which|what)(?: file| module| code)? (?:defines|declares|implements) (.+)`, named("definition")],
  [`(?:where (?:is|are)|${find})(?: the)? ${kinds} (\\S+)`, named("definition")],
  [`(?:where (?:is|are)|${find})(?: the)? (\\S+) ${kinds}`, named("definition")],
  [`(?:where|how) (?:is|are|does|do) (.+?) (?:still |being |actually )?${used}(?: from| in)?`, named("uses")],
  [
    `where (?:do|did|does|are) (?:we|you|i|they|the code|it)(?: still| actually)? ${uses} (.+)`,
    named("uses"),
  ],
  [`where (.+?) (?:is|are) ${used}(?: from)?`, named("uses")],
  [
    `${find} (?:uses?|usages?|callers?|references|calls|occurrences|mentions|users) (?:of|to|for) (.+)`,
    named("uses"),
  ],
  [
    `(?:who|what|which (?:files?|functions?|modules?|classes|code|tests?|places|parts?|components?)|what (?:code|files?|functions?|tests?))(?: still| else| actually| all)? ${uses} (.+)`,
    named("uses"),
  ],
  [`(?:is|are) (.+?)(?: still| even| ever)? ${used}`, named("uses")],
  [
    `(?:do|does|are|did)(?: we| you| they| anything| anyone| any code| something| it)(?: still| even| ever| actually)? ${uses} (.+)`,
    named("uses"),
  ],
  [
    `(?:which|what|${find})(?: files?| modules?| code)?(?: that| which)? (?:imports?|requires?|includes?) (.+)`,
    named("imports"),
  ],
  [`who (?:imports?|requires?|includes?) (.+)`, named("imports")],
  [`where (?:is|are|do we import) (.+?)(?: imported| included| required)`, named("imports")],
  [
    `(?:do|does|are)(?: we| you| anything| any file)(?: still)? (?:import|importing|include|require) (.+)`,
    named("imports"),
  ],
  [
    `(?:which|what|${find}) files?(?: that| which)? (?:contains?|mentions?|have|has|with|containing|mentioning)(?: the (?:word|text|string))? (.+)`,
    textSearch,
  ],
  [`(?:is there|do we have|does there exist)(?: a| any)? files? (?:named|called|matching) (.+)`, fileSearch],
  [`(?:${find}|where (?:is|are)(?: the)?) (?:a )?files? (?:named|called|matching) (.+)`, fileSearch],
  [`(?:where is|${find})(?: a)? file (\\S+)`, fileSearch],
  [
    "(?:list|show|give)(?: me)?(?: all)?(?: the)? files(?: (?:that are|there are|are))?(?: (?:in|under|of|inside|below|within)(?: the)? (\\S+?)(?: folder| directory)?)?",
    folderListing,
  ],
  [
    "(?:what|which) files (?:are|do we have|exist|live)(?: there)?(?: (?:in|under|inside|below|within)(?: the)? (\\S+?)(?: folder| directory)?)?",
    folderListing,
  ],
  [`(?:${find}|where (?:is|are)(?: the)?|which are|what are) (.+?) files?`, kindOfFiles],
  ["grep(?: -\\w+)*(?: for)? (.+)|search(?: for)?(?: the (?:text|string|word))? (.+)", literalSearch],
  [
    "(?:find|locate|search for|look for|look up|where (?:is|are))(?: me)?(?: all| every| any)?(?: the)? (.+)",
    anySearch,
  ],
  [
    "where (?:do|does|did|can|should|could) (?:we|i|you|it|they|one|the (?:code|program|app|server|project|loop))(?: actually)? (?:find |see |get )?(.+)",
    byWords,
  ],
  ["(?:where (?:is|are)|which (?:code|file|part|module|function)|what (?:code|part))(?: the)? (.+)", byWords],
  ["where (.+?) (?:happens?|is done|takes place)", byWords],
];
const patterns = rules.map(([rule, read]) => [new RegExp(`^(?:${rule})$`, "i"), read] as const);

export function understandFind(wording: Wording): Search | undefined {
  for (const text of new Set([wording.text, wording.core])) {
    for (const [pattern, read] of patterns) {
      const match = pattern.exec(text);
      const understood =
        match === null ? undefined : read(match.slice(1).find((part) => part !== undefined) ?? "");
      if (understood !== undefined) return understood;
    }
  }
  return undefined;
}

const kindBefore =
  /^(?:(?:function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|module|package|macro|word|text|string|library)\s+)/i;

function named(kind: "definition" | "uses" | "imports"): Reader {
  return (words) => {
    const name = bareName(
      withoutArticle(words)
        .replace(kindBefore, "")
        .replace(/\s+(?:function|method|class|type|module|package|library)$/i, ""),
    );
    return /^[\w$@./:#?!-]+$/u.test(name) && !pronouns.test(name) ? { kind, name } : undefined;
  };
}

const pronouns = /^(?:it|this|that|these|those|them|here|there|what|code|which|being)$/i;

function fileSearch(words: string): Search | undefined {
  const name = bareName(words);
  if (name === "") return undefined;
  return {
    kind: "files",
    pattern: /[*?{[]/.test(name) || name.includes("/") ? name : `**/${globEscaped(name)}`,
  };
}

function folderListing(words: string): Search | undefined {
  const path = bareName(words).replace(/\/+$/, "");
  return path === "" || pronouns.test(path)
    ? { kind: "files", pattern: "**/*" }
    : { kind: "files", pattern: "**/*", path };
}

function kindOfFiles(words: string): Search | undefined {
  const kind = withoutArticle(words).replace(/^(?:source|code) /i, "");
  const language = languageNamed(kind);
  if (language !== undefined) return { kind: "files", pattern: globOf(language) };
  const extension = /^[`"']?\*?\.(\w+)[`"']?$/.exec(kind)?.[1];
  if (extension !== undefined) return { kind: "files", pattern: `**/*.${extension}` };
  return /^[\w-]{3,}$/.test(kind) && !/^(?:source|code|test|all|other|these|this)$/i.test(kind)
    ? { kind: "files-named-like", word: kind.toLowerCase() }
    : undefined;
}

function textSearch(words: string): Search | undefined {
  const text = bareName(words);
  return text === "" ? undefined : { kind: "text", text };
}

/** What follows `grep` is meant as it stands, if it is not a whole sentence. */
function literalSearch(words: string): Search | undefined {
  if (isQuoted(words)) return textSearch(words);
  const text = words.trim();
  return text.split(" ").length <= 2 ? { kind: "text", text } : undefined;
}

function isQuoted(words: string): boolean {
  return /^["'`“].*["'`”]$/.test(words.trim());
}

/** One word, a name or something quoted can be searched for as it is; a sentence cannot. */
function anySearch(words: string): Search | undefined {
  const name = bareName(withoutArticle(words).replace(kindBefore, ""));
  if (isQuoted(words)) return textSearch(words);
  if (/^(?:[\w.-]+\/)*[\w-]+\.\w{1,5}$/.test(name) && !name.includes("(")) return fileSearch(name);
  return /^[\w$@./:#-]+$/u.test(name) && !pronouns.test(name) ? { kind: "text", text: name } : undefined;
}

const emptyWords =
  /^(?:the|a|an|our|my|your|its|this|that|we|us|is|are|be|of|in|on|to|for|from|with|by|at|code|logic|part|place|stuff|thing|things|all|actually|done|happening|handled|find|new|some|any|does|do)$/i;
const mostWords = 3;

/** Two or three words that a name may be made of: `parse the config` may be parseConfig or config_parser. */
function byWords(text: string): Search | undefined {
  if (/[^\w\s'"`-]/.test(text) || /\b(?:and|or|not|that|which|when|because|bug|wrong)\b/i.test(text))
    return undefined;
  const words = text
    .split(/\s+/)
    .map(bareName)
    .filter((word) => word !== "" && !emptyWords.test(word));
  const fits =
    words.length >= 2 && words.length <= mostWords && words.every((word) => /^[\w-]{2,}$/.test(word));
  return fits ? { kind: "words", words: words.map((word) => word.toLowerCase()) } : undefined;
}
