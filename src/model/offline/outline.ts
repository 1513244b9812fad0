/** What a source file defines and imports, read line by line with a few rules per language. No parser. */
import { languageOf } from "./languages.ts";

export interface Definition {
  readonly kind: string;
  readonly name: string;
  /** 1-based. */
  readonly line: number;
  readonly signature: string;
  /** Inside something else: a method, a nested function. */
  readonly nested: boolean;
  readonly exported: boolean;
}

interface Rule {
  readonly kind: string;
  /** Group 1 is the name. Also understood by ripgrep: no look-around, no back-references. */
  readonly pattern: string;
}

interface Grammar {
  readonly rules: readonly Rule[];
  readonly imports: RegExp;
  /** Whether a line that defines something at the top makes it visible outside. */
  exported(line: string, name: string): boolean;
}

const identifier = "([A-Za-z_$][\\w$]*)";

const scriptGrammar: Grammar = {
  rules: [
    {
      kind: "class",
      pattern: `^\\s*(?:export\\s+)?(?:default\\s+)?(?:declare\\s+)?(?:abstract\\s+)?class\\s+${identifier}`,
    },
    { kind: "interface", pattern: `^\\s*(?:export\\s+)?(?:declare\\s+)?interface\\s+${identifier}` },
    { kind: "type", pattern: `^\\s*(?:export\\s+)?(?:declare\\s+)?type\\s+${identifier}\\s*(?:<[^=]*)?=` },
    { kind: "enum", pattern: `^\\s*(?:export\\s+)?(?:declare\\s+)?(?:const\\s+)?enum\\s+${identifier}` },
    {
      kind: "function",
      pattern: `^\\s*(?:export\\s+)?(?:default\\s+)?(?:declare\\s+)?(?:async\\s+)?function\\s*\\*?\\s*${identifier}`,
    },
    {
      kind: "function",
      pattern: `^\\s*(?:export\\s+)?(?:const|let|var)\\s+${identifier}\\s*(?::[^=]+)?=\\s*(?:async\\s+)?(?:function\\b|\\([^)]*\\)\\s*(?::[^=]+)?=>|[A-Za-z_$][\\w$]*\\s*=>)`,
    },
    { kind: "constant", pattern: `^(?:export\\s+)?(?:const|let|var)\\s+${identifier}\\s*[:=]` },
  ],
  imports:
    /^\s*(?:import\s+(?:[^"']*?\bfrom\s*)?|export\s[^"']*?\bfrom\s*)["']([^"']+)["']|\brequire\(\s*["']([^"']+)["']\s*\)/,
  exported: (line) => /^\s*export\b/.test(line),
};

const cRules: readonly Rule[] = [
  { kind: "struct", pattern: "^\\s*(?:typedef\\s+)?struct\\s+(\\w+)\\s*(?:\\{|$)" },
  { kind: "enum", pattern: "^\\s*(?:typedef\\s+)?enum\\s+(?:class\\s+)?(\\w+)" },
  { kind: "macro", pattern: "^\\s*#\\s*define\\s+(\\w+)" },
  {
    kind: "function",
    pattern: "^(?:[A-Za-z_][\\w:<>,*& ]*[\\s*&])([A-Za-z_]\\w*)\\s*\\([^;{]*(?:\\{.*)?$",
  },
];

/** A header says what there is; the definition stands elsewhere. */
const declarationRule: Rule = {
  kind: "declaration",
  pattern: "^(?:[A-Za-z_][\\w:<>,*& ]*[\\s*&])([A-Za-z_]\\w*)\\s*\\([^;{}]*\\)[^;{}()]*;",
};

const grammars: Readonly<Record<string, Grammar>> = {
  TypeScript: scriptGrammar,
  JavaScript: scriptGrammar,
  Vue: scriptGrammar,
  Svelte: scriptGrammar,
  Python: {
    rules: [
      { kind: "class", pattern: "^\\s*class\\s+(\\w+)" },
      { kind: "function", pattern: "^\\s*(?:async\\s+)?def\\s+(\\w+)" },
      { kind: "constant", pattern: "^([A-Z][A-Z0-9_]+)\\s*(?::[^=]+)?=[^=]" },
    ],
    imports: /^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w.]+))/,
    exported: (_line, name) => !name.startsWith("_"),
  },
  Go: {
    rules: [
      { kind: "method", pattern: "^func\\s+\\([^)]*\\)\\s*(\\w+)" },
      { kind: "function", pattern: "^func\\s+(\\w+)" },
      { kind: "type", pattern: "^type\\s+(\\w+)" },
      { kind: "constant", pattern: "^(?:const|var)\\s+(\\w+)" },
    ],
    imports: /^(?:import\s+(?:\w+\s+)?|\t(?:[\w.]+\s+)?)"([^"]+)"\s*$/,
    exported: (_line, name) => /^[A-Z]/.test(name),
  },
  Rust: {
    rules: [
      {
        kind: "function",
        pattern:
          '^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:default\\s+)?(?:const\\s+)?(?:async\\s+)?(?:unsafe\\s+)?(?:extern\\s+"[^"]*"\\s+)?fn\\s+(\\w+)',
      },
      { kind: "struct", pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?struct\\s+(\\w+)" },
      { kind: "enum", pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?enum\\s+(\\w+)" },
      { kind: "trait", pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:unsafe\\s+)?trait\\s+(\\w+)" },
      { kind: "type", pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?type\\s+(\\w+)" },
      {
        kind: "constant",
        pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:const|static)\\s+(?:mut\\s+)?([A-Z]\\w*)\\s*:",
      },
      { kind: "macro", pattern: "^\\s*macro_rules!\\s*(\\w+)" },
      { kind: "module", pattern: "^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?mod\\s+(\\w+)" },
    ],
    imports: /^\s*(?:pub\s+)?use\s+([\w:]+)/,
    exported: (line) => /^\s*pub\b/.test(line),
  },
  Java: javaLike(/^\s*import\s+(?:static\s+)?([\w.*]+)\s*;/),
  "C#": javaLike(/^\s*(?:global\s+)?using\s+(?:static\s+)?([\w.]+)\s*;/),
  Kotlin: {
    rules: [
      { kind: "class", pattern: "^\\s*(?:[a-z]+\\s+)*(?:class|interface|object)\\s+(\\w+)" },
      { kind: "function", pattern: "^\\s*(?:[a-z]+\\s+)*fun\\s+(?:<[^>]*>\\s*)?(?:[\\w<>?]+\\.)?(\\w+)" },
    ],
    imports: /^\s*import\s+([\w.*]+)/,
    exported: (line) => !/\b(?:private|internal)\b/.test(line),
  },
  C: {
    rules: cRules,
    imports: /^\s*#\s*include\s*[<"]([^>"]+)[>"]/,
    exported: (line) => !/^\s*static\b/.test(line),
  },
  "C or C++ header": {
    rules: [...cRules, declarationRule],
    imports: /^\s*#\s*include\s*[<"]([^>"]+)[>"]/,
    exported: () => true,
  },
  "C++": {
    rules: [
      { kind: "class", pattern: "^\\s*(?:template\\s*<[^>]*>\\s*)?class\\s+(\\w+)\\s*(?:[:{]|final\\b|$)" },
      ...cRules,
    ],
    imports: /^\s*#\s*include\s*[<"]([^>"]+)[>"]/,
    exported: (line) => !/^\s*static\b/.test(line),
  },
  Ruby: {
    rules: [
      { kind: "class", pattern: "^\\s*class\\s+([A-Z]\\w*(?:::\\w+)*)" },
      { kind: "module", pattern: "^\\s*module\\s+([A-Z]\\w*(?:::\\w+)*)" },
      { kind: "method", pattern: "^\\s*def\\s+(?:self\\.)?(\\w+[?!=]?)" },
    ],
    imports: /^\s*(?:require|require_relative|load)\s*\(?["']([^"']+)["']/,
    exported: () => true,
  },
  PHP: {
    rules: [
      { kind: "class", pattern: "^\\s*(?:abstract\\s+|final\\s+|readonly\\s+)*class\\s+(\\w+)" },
      { kind: "interface", pattern: "^\\s*(?:interface|trait|enum)\\s+(\\w+)" },
      {
        kind: "function",
        pattern:
          "^\\s*(?:abstract\\s+|final\\s+|public\\s+|protected\\s+|private\\s+|static\\s+)*function\\s+&?(\\w+)",
      },
    ],
    imports: /^\s*(?:use\s+([\w\\]+)|(?:require|include)(?:_once)?\s*\(?\s*["']([^"']+)["'])/,
    exported: (line) => !/\b(?:private|protected)\b/.test(line),
  },
  Shell: {
    rules: [
      { kind: "function", pattern: "^\\s*function\\s+([\\w-]+)" },
      { kind: "function", pattern: "^\\s*([A-Za-z_][\\w-]*)\\s*\\(\\)" },
    ],
    imports: /^\s*(?:source|\.)\s+["']?([^"'\s;]+)/,
    exported: () => true,
  },
};

function javaLike(imports: RegExp): Grammar {
  const modifiers =
    "(?:public|protected|private|internal|static|final|abstract|sealed|partial|async|override|virtual|readonly|synchronized|default)\\s+";
  return {
    rules: [
      { kind: "class", pattern: `^\\s*(?:${modifiers})*(?:class|record|struct)\\s+(\\w+)` },
      { kind: "interface", pattern: `^\\s*(?:${modifiers})*(?:@?interface)\\s+(\\w+)` },
      { kind: "enum", pattern: `^\\s*(?:${modifiers})*enum\\s+(\\w+)` },
      {
        kind: "method",
        pattern: `^\\s*(?:${modifiers})+(?:<[^>]+>\\s+)?[\\w<>\\[\\],.? ]+\\s+(\\w+)\\s*\\(`,
      },
      { kind: "constructor", pattern: `^\\s*(?:public|protected|private|internal)\\s+([A-Z]\\w*)\\s*\\(` },
    ],
    imports,
    exported: (line) => /\bpublic\b/.test(line),
  };
}

const notNames = new Set([
  "if",
  "for",
  "while",
  "switch",
  "return",
  "else",
  "sizeof",
  "catch",
  "do",
  "new",
  "in",
]);

/** Undefined when there are no rules for the language. */
export function outlineOf(path: string, lines: readonly string[]): Definition[] | undefined {
  const grammar = grammarOf(path);
  if (grammar === undefined) return undefined;
  const rules = grammar.rules.map((rule) => ({ kind: rule.kind, pattern: new RegExp(rule.pattern) }));
  const definitions: Definition[] = [];
  for (const [index, line] of withoutBlockComments(path, lines).entries()) {
    const found =
      rules
        .map((rule) => ({ kind: rule.kind, name: rule.pattern.exec(line)?.[1] }))
        .find(({ name }) => name !== undefined && !notNames.has(name)) ?? afterItsType(path, lines, index);
    if (found?.name === undefined) continue;
    const isMethod =
      found.kind === "function" && languageOf(path)?.name === "Python" && isInClass(lines, index);
    definitions.push({
      kind: isMethod ? "method" : found.kind,
      name: found.name,
      line: index + 1,
      signature: signatureAt(lines, index),
      nested: /^\s/.test(line),
      exported: grammar.exported(line, found.name),
    });
  }
  return definitions;
}

/** In C the type of a function may stand on the line above its name. */
function afterItsType(
  path: string,
  lines: readonly string[],
  index: number,
): { kind: string; name: string } | undefined {
  if (!/^C(?:\+\+)?$/.test(languageOf(path)?.name ?? "")) return undefined;
  const name = /^([A-Za-z_]\w*)\s*\([^;{]*(?:\{.*)?$/.exec(lines[index] ?? "")?.[1];
  const isType = /^(?:[A-Za-z_]\w*[\s*]+)*[A-Za-z_]\w*[\s*]*$/.test(lines[index - 1] ?? "");
  return name === undefined || !isType || notNames.has(name) ? undefined : { kind: "function", name };
}

/** The nearest line above that is indented less begins a class. */
function isInClass(lines: readonly string[], index: number): boolean {
  const indentOf = (text: string) => text.length - text.trimStart().length;
  const indent = indentOf(lines[index] ?? "");
  for (let at = index - 1; at >= 0 && indent > 0; at--) {
    const line = lines[at] ?? "";
    if (line.trim() !== "" && indentOf(line) < indent) return /^\s*class\b/.test(line);
  }
  return false;
}

export function importsOf(path: string, lines: readonly string[]): string[] {
  const grammar = grammarOf(path);
  if (grammar === undefined) return [];
  const found = new Set<string>();
  for (const line of withoutBlockComments(path, lines)) {
    const match = grammar.imports.exec(line);
    const name = match?.[1] ?? match?.[2];
    if (name !== undefined) found.add(name);
  }
  return [...found];
}

/** For ripgrep: lines that may define `name`, in any of the languages; to be confirmed with `outlineOf`. */
export function definitionPattern(name: string): string {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return `(?:\\b(?:class|interface|type|enum|struct|trait|function|def|func|fn|fun|module|mod|record|object|const|let|var|static|macro_rules!|define)\\b[^=;]*?\\b|^\\s*(?:[\\w*&<>:,\\[\\]. ]+[ *&])?)${escaped}\\b`;
}

/** Patterns to count definitions of a kind with, per language. */
export function patternsOfKind(kind: string, languageName: string): string[] {
  const kinds = kind === "function" ? ["function", "method"] : [kind];
  return (grammars[languageName]?.rules ?? [])
    .filter((rule) => kinds.includes(rule.kind))
    .map((rule) => rule.pattern);
}

export function hasGrammar(path: string): boolean {
  return grammarOf(path) !== undefined;
}

function grammarOf(path: string): Grammar | undefined {
  const language = languageOf(path)?.name;
  return language === undefined ? undefined : grammars[language];
}

/** Lines of block comments and of Python's long strings become empty; the numbering stays. */
function withoutBlockComments(path: string, lines: readonly string[]): string[] {
  if (languageOf(path)?.name === "Python") return withoutLongStrings(lines);
  let inside = false;
  return lines.map((line) => {
    if (inside) {
      if (line.includes("*/")) inside = false;
      return "";
    }
    if (/^\s*\/\*/.test(line)) {
      inside = !line.includes("*/");
      return "";
    }
    return /^\s*\/\//.test(line) ? "" : line;
  });
}

function withoutLongStrings(lines: readonly string[]): string[] {
  let end: string | undefined;
  return lines.map((line) => {
    if (end !== undefined) {
      if (line.includes(end)) end = undefined;
      return "";
    }
    const quote = /("""|''')/.exec(line);
    if (quote?.[1] !== undefined && line.split(quote[1]).length === 2) end = quote[1];
    return line;
  });
}

const signatureLines = 4;

/** From the line of the definition to where its head ends, at most a few lines. */
function signatureAt(lines: readonly string[], index: number): string {
  let text = "";
  for (let at = index; at < Math.min(lines.length, index + signatureLines); at++) {
    text += `${text === "" ? "" : " "}${(lines[at] ?? "").trim()}`;
    if ((text.match(/\(/g)?.length ?? 0) <= (text.match(/\)/g)?.length ?? 0)) break;
  }
  return text
    .replace(/\s*\{\s*\}?\s*$/, "")
    .replace(/:\s*$/, "")
    .slice(0, 240);
}
