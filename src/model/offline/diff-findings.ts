/** What rules find in the lines that a change adds. Each rule names what it looks for; none judges meaning. */
import type { FileDiff } from "./diff.ts";
import { isTestFile, languageOf } from "./languages.ts";

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly what: string;
  readonly text: string;
}

interface LineRule {
  readonly what: string;
  /** Absent: any text file. */
  readonly languages?: readonly string[];
  readonly skipTests?: boolean;
  readonly pattern: RegExp;
}

const scripts = ["TypeScript", "JavaScript", "Vue", "Svelte"];

const lineRules: readonly LineRule[] = [
  { what: "conflict marker", pattern: /^(?:<{7}|>{7}|={7}|\|{7})(?: |$)/ },
  { what: "looks like a secret", pattern: secretPattern() },
  {
    what: "debug output left in",
    languages: scripts,
    skipTests: true,
    pattern: /\bconsole\.(?:log|debug|trace)\s*\(/,
  },
  { what: "debugger statement", languages: scripts, pattern: /(?:^|[;{\s])debugger\s*;?\s*$/ },
  {
    what: "debug output left in",
    languages: ["Python"],
    skipTests: true,
    pattern: /^\s*print\s*\(|\bpprint\s*\(/,
  },
  { what: "debugger call", languages: ["Python"], pattern: /\b(?:breakpoint\(\)|pdb\.set_trace\(\))/ },
  { what: "debug output left in", languages: ["Rust"], pattern: /\bdbg!\s*\(/ },
  {
    what: "debug output left in",
    languages: ["Go"],
    skipTests: true,
    pattern: /^\s*fmt\.Print(?:ln|f)?\s*\(\s*"?(?:debug|DEBUG|here|XXX)/,
  },
  {
    what: "debug output left in",
    languages: ["Java"],
    skipTests: true,
    pattern: /\bSystem\.(?:out|err)\.print|\.printStackTrace\(/,
  },
  { what: "debug output left in", languages: ["Ruby"], pattern: /\bbinding\.(?:pry|irb)\b|\bbyebug\b/ },
  { what: "debug output left in", languages: ["PHP"], pattern: /\b(?:var_dump|dd|print_r)\s*\(/ },
  { what: "TODO, FIXME, HACK or XXX added", pattern: /\b(?:TODO|FIXME|HACK|XXX)\b/ },
  {
    what: "only some tests run",
    pattern: /\b(?:describe|it|test|context)\.only\s*\(|^\s*(?:fdescribe|fit)\s*\(/,
  },
  {
    what: "test skipped",
    pattern:
      /\b(?:describe|it|test)\.(?:skip|todo)\s*\(|^\s*(?:xdescribe|xit)\s*\(|@pytest\.mark\.(?:skip|xfail)|@unittest\.skip|\bt\.Skip\(|#\[ignore\b|@Disabled\b|@Ignore\b/,
  },
  {
    what: "error swallowed",
    languages: [...scripts, "Java", "C#", "C++", "PHP", "Kotlin"],
    pattern: /\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}/,
  },
  { what: "error swallowed", languages: ["Python"], pattern: /^\s*except\b[^:]*:\s*pass\b/ },
  { what: "catches every error", languages: ["Python"], pattern: /^\s*except\s*:/ },
  { what: "error ignored", languages: ["Go"], pattern: /^\s*_\s*=\s*\w+.*\berr\b/ },
  {
    what: "type check turned off",
    languages: ["TypeScript"],
    pattern: /@ts-(?:ignore|nocheck)|\bas any\b|:\s*any\b/,
  },
  {
    what: "lint rule turned off",
    pattern: /eslint-disable|#\s*noqa\b|#\s*type:\s*ignore|\/\/\s*nolint\b|@SuppressWarnings/,
  },
  { what: "trailing white space", pattern: /[ \t]+$/ },
];

/** What all rules together look for, for an honest "nothing found". */
export const checkedFor = [
  "conflict markers",
  "secrets",
  "debug output and debuggers",
  "added TODOs",
  "tests skipped or singled out",
  "swallowed errors",
  "checks turned off",
  "commented-out code",
  "trailing white space",
  "long lines and long functions",
  "large or binary files",
  "source changed without tests",
].join(", ");

const longLine = 160;

export function findingsIn(file: FileDiff): Finding[] {
  const language = languageOf(file.path)?.name;
  const isTest = isTestFile(file.path);
  const isProse = language === "Markdown" || language === "reStructuredText" || language === "Text";
  const rules = lineRules.filter(
    (rule) =>
      (rule.languages === undefined || (language !== undefined && rule.languages.includes(language))) &&
      !(rule.skipTests === true && isTest) &&
      // Two spaces at the end of a line mean something there, and examples are not code.
      !(isProse && /white space|TODO|skipped|some tests|lint/.test(rule.what)),
  );
  const found: Finding[] = [];
  for (const { line, text } of file.added) {
    for (const rule of rules)
      if (rule.pattern.test(text))
        found.push({ path: file.path, line, what: rule.what, text: shown(rule.what, text) });
    if (languageOf(file.path)?.isCode === true && text.length > longLine)
      found.push({
        path: file.path,
        line,
        what: `line of ${text.length} characters`,
        text: text.trim().slice(0, 60),
      });
  }
  return [...found, ...emptyHandlers(file), ...commentedCode(file), ...longFunctions(file)].sort(
    (a, b) => a.line - b.line,
  );
}

/** A secret must not be repeated in an answer. */
function shown(what: string, text: string): string {
  return what === "looks like a secret" ? "(not shown)" : text.trim().slice(0, 100);
}

function secretPattern(): RegExp {
  return new RegExp(
    [
      "-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
      "\\bAKIA[0-9A-Z]{16}\\b",
      "\\bgh[pousr]_[A-Za-z0-9]{30,}",
      "\\bxox[abprs]-[A-Za-z0-9-]{10,}",
      "\\bsk-[A-Za-z0-9_-]{20,}",
      "\\bAIza[0-9A-Za-z_-]{35}\\b",
      "\\beyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}",
      "(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)\\w*[\"']?\\s*[:=]\\s*[\"'][^\"'\\s$<{]{8,}[\"']",
      "[a-z]+://[^/\\s:@]+:[^/\\s:@$<{]{4,}@",
    ].join("|"),
    "i",
  );
}

/** `except:` or `catch` whose only line is `pass` or the closing brace. */
function emptyHandlers(file: FileDiff): Finding[] {
  return file.added.flatMap((added, index) => {
    const next = file.added[index + 1];
    if (next === undefined || next.line !== added.line + 1) return [];
    const isEmpty =
      (/^\s*except\b[^:]*:\s*$/.test(added.text) && /^\s*(?:pass|\.\.\.)\s*$/.test(next.text)) ||
      (/\bcatch\s*(?:\([^)]*\))?\s*\{\s*$/.test(added.text) && /^\s*\}/.test(next.text));
    return isEmpty
      ? [{ path: file.path, line: added.line, what: "error swallowed", text: added.text.trim() }]
      : [];
  });
}

const codeInComment =
  /^\s*(?:\/\/|#)\s*(?:(?:const|let|var|return|import|from|def|if|for|while|class|func|fn|pub|use|await|async|self\.|this\.)\b.*[;:{(=].*|[\w.$]+\(.*\);?|[\w.$[\]]+\s*=\s*\S.*;|[}\])];?)\s*$/;

/** Two comment lines in a row that read like code: one alone is too often a sentence. */
function commentedCode(file: FileDiff): Finding[] {
  if (languageOf(file.path)?.isCode !== true) return [];
  const found: Finding[] = [];
  let run = 0;
  for (const [index, { line, text }] of file.added.entries()) {
    const follows = index > 0 && file.added[index - 1]?.line === line - 1;
    run = codeInComment.test(text) ? (follows ? run + 1 : 1) : 0;
    if (run === 2)
      found.push({
        path: file.path,
        line: line - 1,
        what: "commented-out code",
        text: (file.added[index - 1]?.text ?? "").trim().slice(0, 100),
      });
  }
  return found;
}

const longFunctionLines = 80;
const functionStart =
  /^(\s*)(?:export\s+)?(?:pub\s+|public\s+|private\s+|static\s+|async\s+)*(?:function\b|def\b|func\b|fn\b)/;

/** Only functions that were added whole: of others a diff shows too little. */
function longFunctions(file: FileDiff): Finding[] {
  const found: Finding[] = [];
  for (const [index, start] of file.added.entries()) {
    const indent = functionStart.exec(start.text)?.[1]?.length;
    if (indent === undefined) continue;
    let length = 1;
    for (let at = index + 1; at < file.added.length; at++) {
      const next = file.added[at];
      if (next === undefined || next.line !== start.line + length) break;
      const isBlank = next.text.trim() === "";
      if (!isBlank && (/^\s*/.exec(next.text)?.[0].length ?? 0) <= indent) break;
      length += 1;
    }
    if (length > longFunctionLines)
      found.push({
        path: file.path,
        line: start.line,
        what: `function of ${length} lines`,
        text: start.text.trim().slice(0, 100),
      });
  }
  return found;
}
