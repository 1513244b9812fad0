/** The rules of all sources together. A rule that is broken forbids more than it says, never less. */
import type { PermissionDecision, Rule, RuleProblem, SourcedRules } from "../contracts/permission.ts";
import { matchesChunks } from "./command-rule.ts";
import { type Behavior, canonicalTool, type ParsedRule, parseRule, type RuleOrigin } from "./rule.ts";

export interface RuleBook {
  /** Those that are about one of these tools, strictest source first. */
  rulesFor(behavior: Behavior, names: ReadonlySet<string>): readonly ParsedRule[];
  add(rules: SourcedRules): void;
  readonly problems: readonly RuleProblem[];
}

export interface RuleBookOptions {
  readonly rules: readonly SourcedRules[];
  readonly ignoreCase: boolean;
  readonly policyOnly: boolean;
}

const behaviors = ["deny", "ask", "allow"] as const satisfies readonly Behavior[];

export function createRuleBook(options: RuleBookOptions): RuleBook {
  const parsed = { deny: [] as ParsedRule[], ask: [] as ParsedRule[], allow: [] as ParsedRule[] };
  const problems: RuleProblem[] = [];
  const found = new Map<string, readonly ParsedRule[]>();

  const add = (rules: SourcedRules): void => {
    found.clear();
    const origin: RuleOrigin = {
      source: rules.source,
      folder: rules.folder,
      ignoreCase: options.ignoreCase,
    };
    for (const behavior of behaviors) {
      // What restricts always counts; what grants only where policy lets others grant.
      if (behavior === "allow" && options.policyOnly && !["policy", "session"].includes(rules.source))
        continue;
      for (const rule of rules[behavior] ?? []) addOne(rule, behavior, origin);
    }
  };

  const addOne = (rule: Rule, behavior: Behavior, origin: RuleOrigin): void => {
    const result = parseRule(rule, origin);
    const { source } = origin;
    if ("rule" in result && !(behavior === "allow" && result.rule.tool === "*")) {
      parsed[behavior].push(result.rule);
      return;
    }
    const broken =
      "rule" in result
        ? { tool: undefined, text: result.rule.text, problem: "an allow rule must name its tool" }
        : result;
    problems.push({ source, behavior, rule: broken.text, problem: describe(broken, behavior) });
    if (behavior === "allow" || broken.tool === undefined) return;
    parsed[behavior].push({
      source,
      text: broken.text,
      tool: broken.tool,
      content: undefined,
      folder: undefined,
    });
  };

  for (const rules of options.rules) add(rules);

  return {
    add,
    problems,
    rulesFor(behavior, names) {
      const key = `${behavior} ${[...names].join(" ")}`;
      const known = found.get(key);
      if (known !== undefined) return known;
      const rules = parsed[behavior].filter((rule) => isAbout(rule, names, behavior));
      found.set(key, rules);
      return rules;
    },
  };
}

/** How a decision names the rule that made it. */
export function citeRule(rule: ParsedRule): Required<Pick<PermissionDecision, "rule">> {
  return { rule: { source: rule.source, rule: rule.text } };
}

function describe(broken: { tool: string | undefined; problem: string }, behavior: Behavior): string {
  if (behavior === "allow") return `${broken.problem}; it allows nothing`;
  if (broken.tool === undefined) return `${broken.problem}; it has no effect`;
  return `${broken.problem}; it ${behavior === "deny" ? "denies" : "asks for"} all of ${broken.tool}`;
}

function isAbout(rule: ParsedRule, names: ReadonlySet<string>, behavior: Behavior): boolean {
  for (const name of names) if (namesTool(rule.tool, canonicalTool(name), behavior)) return true;
  return false;
}

/** `given` may be `*`, an MCP server (`mcp__server`) or a pattern of MCP tools (`mcp__server__*`). */
export function namesTool(given: string, toolName: string, behavior: Behavior): boolean {
  if (given === "*") return true;
  // A name in the wrong case must not make a restriction void.
  const fold = (text: string) => (behavior === "allow" ? text : text.toLowerCase());
  const [rule, name] = [fold(given), fold(toolName)];
  if (rule === name) return true;
  if (!rule.startsWith("mcp__")) return false;
  if (!rule.includes("*")) return /^mcp__(?:(?!__).)+$/.test(rule) && name.startsWith(`${rule}__`);
  return matchesChunks(rule.split(/\*+/), name);
}
