/** The outside (clock, chance, files, processes, network) is reached through base/world alone. */
import type { ParsedFile } from "./imports.ts";

export const closedModules = [
  "fs",
  "fs/promises",
  "child_process",
  "http",
  "https",
  "http2",
  "net",
  "tls",
  "dgram",
  "dns",
  "dns/promises",
  "timers",
  "timers/promises",
  "os",
  "worker_threads",
  "cluster",
  "process",
  "perf_hooks",
];

export const closedGlobals = [
  "fetch",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "performance",
  "crypto",
  "WebSocket",
  "EventSource",
  "XMLHttpRequest",
];

/** Parts of closed modules that only compute. */
const pureNames = ["isIP", "isIPv4", "isIPv6", "BlockList"];

/** What the linter cannot say: members of globals, and calls without an argument. */
const closedExpressions: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Date.now", /(?<![\w$.])Date\s*\.\s*now\b/],
  ["new Date()", /\bnew\s+Date\s*(?:\(\s*\)|(?![\w$\s(]))/],
  ["Date()", /(?<!new\s)(?<![\w$.])Date\s*\(/],
  ["Math.random", /(?<![\w$.])Math\s*\.\s*random\b/],
  ["AbortSignal.timeout", /(?<![\w$.])AbortSignal\s*\.\s*timeout\b/],
  ["globalThis", /(?<![\w$.])(?<!typeof\s)globalThis\b/],
];

const stdio = /^std(?:in|out|err)$/;

export function findDoorViolations(file: ParsedFile): string[] {
  if (/^src\/(?:base\/world|testing)\//.test(file.path)) return [];
  const modules = file.imports
    .filter(({ specifier }) => closedModules.includes(specifier.replace(/^node:/, "")))
    .filter(({ names }) => !names?.every((name) => pureNames.includes(name)))
    .map(({ specifier }) => specifier);
  const found = [
    ...modules.map((name) => `imports ${name}`),
    ...closedExpressions.filter(([, pattern]) => pattern.test(file.code)).map(([name]) => `uses ${name}`),
    ...closedGlobals.filter((name) => usesGlobal(file.code, name)).map((name) => `uses the global ${name}`),
    ...processMembers(file).map((name) => `uses process.${name}`),
  ];
  return found.map((what) => `${what}: take it from the World that is handed in`);
}

/** The command owns the process, save its environment; surfaces may use its streams. */
function processMembers({ path, code }: ParsedFile): string[] {
  if (declares(code, "process")) return [];
  const members = [...code.matchAll(/(?<![\w$.])process\s*\??\.\s*(\w+)/g)].map((match) => match[1] ?? "");
  if (path.startsWith("src/cli/")) return members.filter((name) => name === "env");
  if (path.startsWith("src/surfaces/")) return members.filter((name) => !stdio.test(name));
  return members;
}

/** Calls and member reads of a name that the file does not declare itself. Definitions of methods pass. */
function usesGlobal(code: string, name: string): boolean {
  if (declares(code, name)) return false;
  if (new RegExp(`(?<![\\w$.])${name}\\s*\\??\\.\\s*\\w`).test(code)) return true;
  return [...code.matchAll(new RegExp(`(?<![\\w$.])${name}\\s*\\(`, "g"))].some((match) => {
    const after = code.slice(endOfArguments(code, match.index + match[0].length)).trimStart()[0];
    return after !== "{" && after !== ":";
  });
}

function declares(code: string, name: string): boolean {
  return new RegExp(`(?:const|let|var|function)\\s+${name}\\b|[{(,]\\s*${name}\\s*\\??[,}:=)]`).test(code);
}

function endOfArguments(code: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < code.length && depth > 0; at++) {
    if (code[at] === "(") depth++;
    else if (code[at] === ")") depth--;
  }
  return at;
}
