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

import { type AgentLimits, judgeNarrowing, mayStart, narrowingOf } from "./agent-limits.ts";
import { type AgentRules, createAgentRules } from "./agent-rules.ts";
import type { PathSurroundings } from "./inspect-path.ts";
import { judgeFile } from "./judge-file.ts";
import { judgeShell } from "./judge-shell.ts";
import { judgeTool } from "./judge-tool.ts";
import { createPathLocator, type FirstSeenFolders } from "./locate-path.ts";
import { locateOwnFolders, type OwnFolder } from "./own-folders.ts";
import { onlyReads } from "./path-access.ts";
import { canonicalTool } from "./rule.ts";
import { citeRule, createRuleBook, type RuleBook } from "./rule-book.ts";
import { suggestRules } from "./suggest-rules.ts";
import { fileToolOf } from "./tool-kinds.ts";

export interface PermissionEngine {
  /** The very code that guards the loop. Async, because paths are resolved on disk. */
  decide(question: PermissionQuestion): Promise<PermissionDecision>;
  /**
   * For tools that come across many files: whether no rule keeps this one from being read. That it lies in a
   * folder that may be searched was decided before.
   */
  mayRead(path: string, folder: PermissionQuestion["folder"], limits?: AgentLimits): Promise<boolean>;
  /** As a whole: no call of it could be allowed. */
  isDenied(toolName: string): boolean;
  /** Whether a call that starts an agent of this type is not denied: lists leave out the others (PE-8). */
  mayStartAgent(agentType: string, limits?: AgentLimits): boolean;
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
  /** Of the agent that calls; absent for the main one. */
  readonly limits?: AgentLimits;
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
  const policyOnly = options.policyOnly ?? false;
  const book = createRuleBook({ rules: options.rules, ignoreCase, policyOnly });
  const agentRules = createAgentRules(book, { ignoreCase, policyOnly });
  const judgement: Judgement = { ...options, ignoreCase, folders: new Map(), own: new WeakMap(), agentRules };
  return {
    get problems() {
      return book.problems;
    },
    grant({ rule, behavior, source }) {
      book.add({ source, [behavior]: [rule] });
    },
    async mayRead(path, folder, limits) {
      const inForce = agentRules.inForce({ deny: limits?.denied });
      const restricts = (behavior: "deny" | "ask") =>
        inForce.rulesFor(behavior, readers).some((rule) => rule.content !== undefined);
      if (!restricts("deny") && !restricts("ask")) return true;
      const { decision, rule } = await this.decide({
        toolName: "Read",
        aliases: [],
        input: { file_path: path },
        isReadOnly: true,
        mode: "default",
        folder,
        ...(limits?.denied && { limits: { denied: limits.denied } }),
      });
      return decision === "allow" || (decision === "ask" && rule === undefined);
    },
    isDenied: (toolName) =>
      book.rulesFor("deny", new Set([toolName])).some((rule) => rule.content === undefined),
    mayStartAgent(agentType, limits) {
      const narrowing = narrowingOf(limits, agentNames);
      return mayStart(agentType, {
        book: agentRules.inForce({ deny: limits?.denied }),
        narrowing: narrowing && agentRules.alone(narrowing),
      });
    },
    async decide(given) {
      const question = { ...given, toolName: canonicalTool(given.toolName) };
      const names = new Set([question.toolName, given.toolName, ...question.aliases]);
      const decision = await judge(question, names, judgement);
      return finish(decision, question, { names, homeFolder: options.homeFolder });
    },
  };
}

const agentNames = new Set(["Agent", "Task"]);

interface Judgement extends PermissionEngineOptions {
  readonly ignoreCase: boolean;
  readonly folders: FirstSeenFolders;
  readonly agentRules: AgentRules;
  /** Where the folders of agents were when they were first asked for; gone with the agent. */
  readonly own: WeakMap<readonly string[], Promise<OwnFolder[]>>;
}

/** The limits of the agent first: nothing that allows can lift them. */
async function judge(
  question: PermissionQuestion,
  names: ReadonlySet<string>,
  judgement: Judgement,
): Promise<PermissionDecision> {
  const { toolName, limits, mode } = question;
  const { agentRules } = judgement;
  const book = agentRules.inForce({ allow: question.allowInstead, deny: limits?.denied });
  const whole = book.rulesFor("deny", names).find((rule) => rule.content === undefined);
  if (whole !== undefined)
    return {
      decision: "deny",
      reason: `${toolName} is denied by the ${whole.source} rule ${whole.text}`,
      ...citeRule(whole),
    };
  const surroundings = await surroundingsOf(question, book, judgement);
  const narrowing = narrowingOf(limits, names);
  if (narrowing !== undefined) {
    const call = { toolName, names, input: question.input, current: question.folder.current };
    const rules = { ...surroundings, book: agentRules.alone(narrowing) };
    const outside = await judgeNarrowing(call, narrowing, rules);
    if (outside !== undefined) return outside;
  }
  if (mode !== "plan" && isAmong(names, limits?.readOnlyTools)) {
    const asPlan = await judgeCall({ ...question, mode: "plan" }, names, surroundings);
    if (asPlan.decision === "deny")
      return {
        ...asPlan,
        reason: asPlan.reason.replace(onlyReads, `this agent only reads with ${toolName}`),
      };
  }
  return await judgeCall(question, names, surroundings);
}

async function surroundingsOf(
  { folder, sessionFolders = [], limits }: PermissionQuestion,
  book: RuleBook,
  judgement: Judgement,
): Promise<PathSurroundings> {
  const locator = createPathLocator(judgement);
  const roots = folder.roots.includes(folder.root) ? folder.roots : [folder.root, ...folder.roots];
  const { homeFolder, ignoreCase } = judgement;
  const located = { book, locator, homeFolder, ignoreCase, root: folder.root, roots, sessionFolders };
  const given = limits?.ownFolders;
  if (given === undefined) return { ...located, ownFolders: [] };
  const bases = [homeFolder, ...roots, ...sessionFolders];
  const own = judgement.own.get(given) ?? locateOwnFolders(given, { locator, bases });
  judgement.own.set(given, own);
  return { ...located, ownFolders: await own };
}

async function judgeCall(
  question: PermissionQuestion,
  names: ReadonlySet<string>,
  surroundings: PathSurroundings,
): Promise<PermissionDecision> {
  const { toolName, mode, input, folder } = question;
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
  if (fileTool !== undefined)
    return await judgeFile({ fileTool, toolName, input, mode, surroundings, current: folder.current });
  const { book } = surroundings;
  const rules = {
    deny: book.rulesFor("deny", names),
    ask: book.rulesFor("ask", names),
    allow: book.rulesFor("allow", names),
  };
  return judgeTool({ toolName, input, mode, isReadOnly: question.isReadOnly, rules });
}

/** Where nobody is to be asked, a question is a no. What can be asked comes with rules that would answer it. */
function finish(
  decision: PermissionDecision,
  question: PermissionQuestion,
  { names, homeFolder }: { names: ReadonlySet<string>; homeFolder: string },
): PermissionDecision {
  if (decision.decision !== "ask") return decision;
  const { toolName, mode, limits } = question;
  if (mode === "dontAsk") {
    // Which file and which command is more than the name of a tool says.
    const isNamed = toolName !== "Bash" && fileToolOf(toolName) === undefined && decision.rule === undefined;
    if (isNamed && isAmong(names, limits?.grantedTools))
      return { ...decision, decision: "allow", reason: `this agent is there to use ${toolName}` };
    return { ...decision, decision: "deny", reason: `${decision.reason}; this mode never asks` };
  }
  if (decision.protected || decision.rule !== undefined) return decision;
  const { root, current } = question.folder;
  const suggestions = suggestRules({ ...question, root, current, homeFolder, part: decision.part });
  return suggestions.length === 0 ? decision : { ...decision, suggestions };
}

function isAmong(names: ReadonlySet<string>, tools: ReadonlySet<string> | undefined): boolean {
  return tools !== undefined && [...names].some((name) => tools.has(name));
}
