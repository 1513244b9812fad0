/** A rule as people write it, and as it was understood. */
import type { Rule, RuleProblem, RuleSource } from "../contracts/permission.ts";
import { type CommandRule, parseCommandRule } from "./command-rule.ts";
import { type NameRule, parseNameRule } from "./name-rule.ts";
import { type PathPattern, parsePathPattern } from "./path-pattern.ts";

export type Behavior = RuleProblem["behavior"];

export interface ParsedRule {
  readonly source: RuleSource;
  /** As it was written, for people. */
  readonly text: string;
  /** The name of a tool, or with `*` the names of many. */
  readonly tool: string;
  /** Undefined: the whole tool. */
  readonly content: RuleContent | undefined;
  /** Where relative paths start. */
  readonly folder: string | undefined;
}

export type RuleContent =
  | { readonly kind: "command"; readonly command: CommandRule }
  | { readonly kind: "path"; readonly pattern: PathPattern }
  | { readonly kind: "domain"; readonly domain: string }
  /** Of agents or skills. */
  | { readonly kind: "name"; readonly names: NameRule };

export interface RuleOrigin {
  readonly source: RuleSource;
  readonly folder?: string | undefined;
  readonly ignoreCase: boolean;
}

/** A problem comes with the name of the tool it is about, as far as one was found. */
export function parseRule(
  rule: Rule,
  origin: RuleOrigin,
): { rule: ParsedRule } | { tool: string | undefined; text: string; problem: string } {
  const text = textOf(rule);
  const split = splitRule(rule);
  if ("problem" in split) return { tool: split.tool, text, problem: split.problem };
  const { tool, content } = split;
  const base = { source: origin.source, folder: origin.folder, text, tool };
  if (content === undefined || isEverything(tool, content)) return { rule: { ...base, content: undefined } };
  const parsed = parseContent(tool, content, origin.ignoreCase);
  return typeof parsed === "string"
    ? { tool, text, problem: parsed }
    : { rule: { ...base, content: parsed } };
}

/** One name for tools that have two. */
export function canonicalTool(name: string): string {
  return name.toLowerCase() === "task" ? "Agent" : name;
}

function textOf(rule: unknown): string {
  if (typeof rule === "string") return rule;
  return JSON.stringify(rule) ?? String(rule);
}

type SplitRule =
  | { tool: string; content: string | undefined }
  | { tool: string | undefined; problem: string };

function splitRule(rule: unknown): SplitRule {
  if (typeof rule === "object" && rule !== null && "tool" in rule && typeof rule.tool === "string") {
    const args = "args" in rule ? rule.args : undefined;
    const tool = canonicalTool(rule.tool.trim());
    if (!isToolName(tool)) return { tool: undefined, problem: "it does not name a tool" };
    if (args !== undefined && typeof args !== "string") return { tool, problem: '"args" must be a text' };
    return { tool, content: args };
  }
  if (typeof rule !== "string") return { tool: undefined, problem: 'expected a text or { "tool", "args" }' };
  const text = rule.trim();
  const open = text.indexOf("(");
  const name = canonicalTool((open < 0 ? text : text.slice(0, open)).trim());
  const tool = isToolName(name) ? name : undefined;
  if (tool === undefined) return { tool: nameIn(name), problem: "it does not begin with the name of a tool" };
  if (open < 0) return { tool, content: undefined };
  if (!text.endsWith(")")) return { tool, problem: "the closing parenthesis is missing" };
  return { tool, content: text.slice(open + 1, -1) };
}

function isToolName(name: string): boolean {
  return /^[A-Za-z_][\w.-]*$/.test(name) || /^mcp__[\w.*-]+$/.test(name) || name === "*";
}

/** `Bash)` and `"Edit"` still say which tool was meant. */
function nameIn(text: string): string | undefined {
  const found = /[A-Za-z_][\w-]*/.exec(text)?.[0];
  return found === undefined ? undefined : canonicalTool(found);
}

function isEverything(tool: string, content: string): boolean {
  const text = content.trim();
  return text === "*" || (text === "**" && pathTools.has(tool)) || (text === ":*" && tool === "Bash");
}

const pathTools = new Set([
  "Read",
  "Edit",
  "Write",
  "MultiEdit",
  "NotebookEdit",
  "NotebookRead",
  "Grep",
  "Glob",
  "LS",
]);

function parseContent(tool: string, content: string, ignoreCase: boolean): RuleContent | string {
  if (tool === "Bash") {
    const command = parseCommandRule(content);
    return typeof command === "string" ? command : { kind: "command", command };
  }
  if (pathTools.has(tool)) {
    // Blanks around the path are a matter of style; those inside a name are not.
    const pattern = parsePathPattern(content.trim(), { ignoreCase });
    return typeof pattern === "string" ? pattern : { kind: "path", pattern };
  }
  if (tool === "WebFetch") {
    const domain = parseDomain(content.trim());
    return domain === undefined ? 'expected "domain:" and the name of a host' : { kind: "domain", domain };
  }
  if (tool === "Agent" || tool === "Skill") {
    const names = parseNameRule(content);
    return typeof names === "string" ? names : { kind: "name", names };
  }
  return `a rule for ${tool} can not have a condition in parentheses`;
}

function parseDomain(content: string): string | undefined {
  const name = /^domain:\s*(?:\*\.)?([^\s/:@*?#\\]+)$/i.exec(content)?.[1];
  return name === undefined ? undefined : hostOf(`http://${name}/`);
}

/** The host of an address as the network will be asked for it; undefined when there is none. */
export function hostOf(address: string): string | undefined {
  try {
    const host = new URL(address).hostname.toLowerCase().replace(/\.+$/, "");
    return host === "" ? undefined : host;
  } catch {
    return undefined;
  }
}
