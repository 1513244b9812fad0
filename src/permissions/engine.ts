/** The judgement of every call: rules, modes, paths and shell commands in, a decision with its reason out. */
import type { FileSystem } from "../base/world.ts";
import type {
  PermissionDecision,
  PermissionMode,
  Rule,
  RuleProblem,
  RuleSource,
  SourcedRules,
} from "../contracts/permission.ts";

import type { PathSurroundings } from "./inspect-path.ts";
import { judgeShell } from "./judge-shell.ts";
import { judgeTool } from "./judge-tool.ts";
import { createPathLocator, type FirstSeenFolders } from "./locate-path.ts";
import { factsOf, type PathUse, permissionFor, restrictionOn } from "./path-access.ts";
import { canonicalTool } from "./rule.ts";
import { citeRule, createRuleBook, type RuleBook } from "./rule-book.ts";
import { suggestRules } from "./suggest-rules.ts";
import { type FileTool, fileToolOf } from "./tool-kinds.ts";

export interface PermissionEngine {
  /** The very code that guards the loop. Async, because paths are resolved on disk. */
  decide(question: PermissionQuestion): Promise<PermissionDecision>;
  /**
   * For tools that come across many files: whether no rule keeps this one from being read. That it lies in a
   * folder that may be searched was decided before.
   */
  mayRead(path: string, folder: PermissionQuestion["folder"]): Promise<boolean>;
  /** Adds a rule that a person granted while the session runs. */
  grant(grant: Grant): void;
  /** Rules that could not be parsed. */
  readonly problems: readonly RuleProblem[];
}

export interface Grant {
  readonly rule: string;
  readonly behavior: "allow" | "deny" | "ask";
  readonly source: Extract<RuleSource, "session" | "project-local">;
}

export interface PermissionQuestion {
  readonly toolName: string;
  readonly aliases: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
  /** The tool's own word. For Bash the engine classifies by itself. */
  readonly isReadOnly: boolean;
  readonly mode: PermissionMode;
  readonly folder: { readonly root: string; readonly roots: readonly string[]; readonly current: string };
  readonly agentId?: string;
  /** The session's own files: they can be read without asking. */
  readonly sessionFolders?: readonly string[];
  /** Stands instead of all allow rules but those a person granted for the session (SP-15). */
  readonly allowInstead?: readonly Rule[];
}

export interface PermissionEngineOptions {
  readonly files: Pick<FileSystem, "realPath" | "lstat" | "stat">;
  readonly homeFolder: string;
  readonly platform: NodeJS.Platform;
  /** In any order: deny wins over ask and ask over allow, whatever the source. */
  readonly rules: readonly SourcedRules[];
  /** Policy forbids the rules of users and projects altogether. */
  readonly policyOnly?: boolean;
}

const readers = new Set(["Read"]);

export function createPermissionEngine(options: PermissionEngineOptions): PermissionEngine {
  const ignoreCase = options.platform === "darwin" || options.platform === "win32";
  const folders: FirstSeenFolders = new Map();
  const book = createRuleBook({ rules: options.rules, ignoreCase, policyOnly: options.policyOnly ?? false });
  return {
    get problems() {
      return book.problems;
    },
    grant({ rule, behavior, source }) {
      book.add({ source, [behavior]: [rule] });
    },
    async mayRead(path, folder) {
      const restricts = (behavior: "deny" | "ask") =>
        book.rulesFor(behavior, readers).some((rule) => rule.content !== undefined);
      if (!restricts("deny") && !restricts("ask")) return true;
      const question = {
        toolName: "Read",
        aliases: [],
        input: { file_path: path },
        isReadOnly: true,
        folder,
      };
      const { decision, rule } = await this.decide({ ...question, mode: "default" });
      return decision === "allow" || (decision === "ask" && rule === undefined);
    },
    async decide(question) {
      const toolName = canonicalTool(question.toolName);
      const inForce = question.allowInstead === undefined ? book : book.withAllow(question.allowInstead);
      const decision = await judge({ ...question, toolName }, inForce, { ...options, ignoreCase, folders });
      return finish(decision, { ...question, toolName }, options.homeFolder);
    },
  };
}

async function judge(
  question: PermissionQuestion,
  book: RuleBook,
  options: PermissionEngineOptions & { ignoreCase: boolean; folders: FirstSeenFolders },
): Promise<PermissionDecision> {
  const { toolName, mode, input, folder } = question;
  const names = new Set([toolName, ...question.aliases]);
  const rules = {
    deny: book.rulesFor("deny", names),
    ask: book.rulesFor("ask", names),
    allow: book.rulesFor("allow", names),
  };
  const whole = rules.deny.find((rule) => rule.content === undefined);
  if (whole !== undefined)
    return {
      decision: "deny",
      reason: `${toolName} is denied by the ${whole.source} rule ${whole.text}`,
      ...citeRule(whole),
    };

  const surroundings: PathSurroundings = {
    book,
    locator: createPathLocator(options),
    homeFolder: options.homeFolder,
    ignoreCase: options.ignoreCase,
    root: folder.root,
    roots: folder.roots.includes(folder.root) ? folder.roots : [folder.root, ...folder.roots],
    sessionFolders: question.sessionFolders ?? [],
  };
  if (toolName === "Bash") {
    if (typeof input.command !== "string") return { decision: "ask", reason: "there is no command" };
    return await judgeShell({
      command: input.command,
      toolNames: names,
      mode,
      folder: folder.current,
      surroundings,
    });
  }
  const fileTool = fileToolOf(toolName);
  if (fileTool === undefined)
    return judgeTool({ toolName, input, mode, isReadOnly: question.isReadOnly, rules });
  return await judgeFile({ fileTool, toolName, input, mode, surroundings, current: folder.current });
}

async function judgeFile(options: {
  fileTool: FileTool;
  toolName: string;
  input: PermissionQuestion["input"];
  mode: PermissionMode;
  surroundings: PathSurroundings;
  current: string;
}): Promise<PermissionDecision> {
  const { fileTool, toolName, mode, surroundings } = options;
  const paths = fileTool.pathsOf(options.input);
  if (paths === undefined || paths.includes(""))
    return { decision: "ask", reason: `which file ${toolName} is about is not known` };
  const judged = await Promise.all(
    paths.map(async (path) => {
      const use: PathUse = { path, folder: options.current, access: fileTool.access, tool: toolName };
      const facts = await factsOf(surroundings, use);
      const decision = restrictionOn(facts, use, mode) ?? permissionFor(facts, use, mode);
      const part = decision.part === undefined ? facts.path : decision.part;
      return { decision: { ...decision, part }, real: facts.real };
    }),
  );
  const decisions = judged.map(({ decision }) => decision);
  const strictest =
    decisions.find((each) => each.decision === "deny") ??
    decisions.find((each) => each.protected) ??
    decisions.find((each) => each.decision === "ask") ??
    decisions[0];
  if (strictest === undefined)
    return { decision: "ask", reason: `which file ${toolName} is about is not known` };
  const targets = judged.flatMap(({ real }) => (real === undefined ? [] : [real]));
  return targets.length < judged.length ? strictest : { ...strictest, targets };
}

/** Where nobody is to be asked, a question is a no. What can be asked comes with rules that would answer it. */
function finish(
  decision: PermissionDecision,
  question: PermissionQuestion,
  homeFolder: string,
): PermissionDecision {
  if (decision.decision !== "ask") return decision;
  if (question.mode === "dontAsk")
    return { ...decision, decision: "deny", reason: `${decision.reason}; this mode never asks` };
  if (decision.protected || decision.rule !== undefined) return decision;
  const { root, current } = question.folder;
  const suggestions = suggestRules({ ...question, root, current, homeFolder, part: decision.part });
  return suggestions.length === 0 ? decision : { ...decision, suggestions };
}
