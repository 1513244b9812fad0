/**
 * Joins the judgement with the mode of the moment and the person who can be asked. It judges the very input
 * that will run: whoever changes an input binds it anew and comes here again.
 */
import { isoTime } from "../base/iso-time.ts";
import type { Clock } from "../base/world.ts";
import type { AskingAgent, PermissionDecision } from "../contracts/permission.ts";
import type { PermissionBroker, Verdict } from "../permissions/broker.ts";
import type { PermissionEngine } from "../permissions/engine.ts";
import type { Gate } from "../tools/executor.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { DecisionRecord } from "../transcript/record.ts";
import { resolvedTargets } from "./resolved-targets.ts";

export interface GateOptions {
  readonly engine: PermissionEngine;
  readonly broker: Pick<PermissionBroker, "ask">;
  readonly clock: Clock;
  readonly record: (decision: DecisionRecord) => void;
  /** Of the session's own files, which may be read without asking. */
  readonly sessionFolders: readonly string[];
  /** How long a question waits for a person. Absent: as long as it takes. */
  readonly questionTimeoutMs?: number;
  /** Name and colour of an agent, where there is more to say than its id. */
  readonly describeAgent?: (agentId: string) => Omit<AskingAgent, "id"> | undefined;
}

type Call = Parameters<Gate>[0];

/** What came of a call: for the record, and for the model where it is a refusal. */
interface Outcome {
  readonly allowed: boolean;
  readonly by: DecisionRecord["by"];
  readonly reason: string;
  readonly rule?: PermissionDecision["rule"];
  readonly message: string;
  readonly targets?: PermissionDecision["targets"];
}

export function createPermissionGate(options: GateOptions): Gate {
  return async (call) => {
    const judge = () => judgeCall(call, options);
    const first = await judge();
    const outcome =
      first.decision === "ask" ? await askPerson({ call, first, judge }, options) : outcomeOf(first);
    options.record(recordOf(call, outcome, options.clock));
    if (!outcome.allowed) return { allowed: false, message: outcome.message };
    return { allowed: true, ...(outcome.targets && { targets: outcome.targets }) };
  };
}

/** The stricter of what the rules say and of what the tool itself thinks. */
async function judgeCall(call: Call, options: GateOptions): Promise<PermissionDecision> {
  const { tool, bound, context } = call;
  const { agent } = context;
  if (agent.permissions?.refusedTools?.has(tool.name))
    return {
      decision: "deny",
      reason: `${tool.name} is not for forks: do the task with the other tools, and report`,
    };
  const mode = agent.mode.current;
  const own = await bound.checkPermissions(context);
  const judged = await options.engine.decide({
    toolName: tool.name,
    aliases: tool.aliases,
    input: bound.input,
    isReadOnly: bound.isReadOnly,
    mode,
    folder: agent.folder,
    ...(agent.agentId !== undefined && { agentId: agent.agentId }),
    sessionFolders: options.sessionFolders,
    ...(agent.permissions && { limits: agent.permissions }),
    ...(agent.permissions?.allowInstead && { allowInstead: agent.permissions.allowInstead }),
  });
  if (own === undefined || strictness[own.decision] <= strictness[judged.decision]) return judged;
  return own.decision === "ask" && mode === "dontAsk" ? { ...own, decision: "deny" } : own;
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

interface Question {
  readonly call: Call;
  readonly first: PermissionDecision;
  readonly judge: () => Promise<PermissionDecision>;
}

async function askPerson(question: Question, options: GateOptions): Promise<Outcome> {
  const { call, first, judge } = question;
  const { tool, bound, context } = call;
  const agent = agentOf(context, options);
  const before = await resolvedTargets(bound.input, context);
  const verdict = await options.broker.ask({
    request: {
      toolName: tool.name,
      toolUseId: call.call.id,
      input: bound.input,
      reason: first.reason,
      ...(first.suggestions && { suggestions: first.suggestions }),
      ...(agent && { agent }),
    },
    signal: context.signal,
    judge,
    ...(options.questionTimeoutMs !== undefined && { timeoutMs: options.questionTimeoutMs }),
  });
  const outcome = outcomeOfVerdict(verdict, question);
  if (verdict.kind !== "allowed") return outcome;
  // Time has passed since the person read the question: does what they said yes to still stand?
  const now = await judge();
  if (now.decision === "deny") return outcomeOf(now);
  const after = await resolvedTargets(bound.input, context);
  if (before.join("\0") === after.join("\0") && (first.protected || !now.protected))
    return { ...outcome, ...(now.targets && { targets: now.targets }) };
  return {
    allowed: false,
    by: "mode",
    reason: "the path led elsewhere when the question was answered",
    message:
      "Not run: the path led to another place when the question was answered than when it was asked. Nothing was done.",
  };
}

function agentOf({ agent }: ToolContext, options: GateOptions): AskingAgent | undefined {
  if (agent.agentId === undefined) return undefined;
  return {
    id: agent.agentId,
    ...(agent.source.kind === "agent" && { type: agent.source.agentType }),
    ...(agent.source.kind === "fork" && { type: "fork" }),
    ...options.describeAgent?.(agent.agentId),
  };
}

function outcomeOf(decision: PermissionDecision): Outcome {
  return {
    allowed: decision.decision === "allow",
    by: decision.rule ? "rule" : "mode",
    reason: decision.reason,
    ...(decision.rule && { rule: decision.rule }),
    message: `Not allowed: ${sentence(decision.reason)}`,
    ...(decision.targets && { targets: decision.targets }),
  };
}

function outcomeOfVerdict(verdict: Verdict, { call, first }: Question): Outcome {
  switch (verdict.kind) {
    case "allowed": {
      const rules = verdict.rules.length === 0 ? "" : `: ${verdict.rules.join(", ")}`;
      const scope = verdict.scope === "once" ? "once" : `for the ${verdict.scope}`;
      return { allowed: true, by: "person", reason: `allowed by the user ${scope}${rules}`, message: "" };
    }
    case "refused": {
      const words = verdict.message ? ` They said: ${verdict.message}` : "";
      return {
        allowed: false,
        by: "person",
        reason: `refused by the user${verdict.message ? `: ${verdict.message}` : ""}`,
        message: `The user did not allow this call.${words}`,
      };
    }
    case "decided":
      return outcomeOf(verdict.decision);
    case "unanswered":
      return {
        allowed: false,
        by: "nobody",
        reason: `${first.reason}; ${unanswered[verdict.why]}`,
        message: `Not allowed: ${first.reason}, and ${unanswered[verdict.why]}. ${howToAllow(first, call.tool.name)}`,
      };
  }
}

const unanswered: Readonly<Record<Extract<Verdict, { kind: "unanswered" }>["why"], string>> = {
  "nobody-there": "nobody can be asked here",
  "everybody-left": "nobody is there any longer to be asked",
  deadline: "nobody answered the question in time",
};

function howToAllow(decision: PermissionDecision, toolName: string): string {
  if (decision.protected) return "No rule allows it: it needs a person who is asked.";
  if (decision.rule) return `The ${decision.rule.source} rule ${decision.rule.rule} makes it ask.`;
  const rule = decision.suggestions?.[0] ?? toolName;
  return `The user can allow it at the start with --allowed-tools ${quoted(rule)}.`;
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function sentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

function recordOf({ tool, call, context }: Call, outcome: Outcome, clock: Clock): DecisionRecord {
  return {
    type: "decision",
    timestamp: isoTime(clock.now()),
    toolUseId: call.id,
    ...(context.agent.agentId !== undefined && { agentId: context.agent.agentId }),
    tool: tool.name,
    decision: outcome.allowed ? "allow" : "deny",
    reason: outcome.reason,
    ...(outcome.rule && { rule: outcome.rule }),
    by: outcome.by,
  };
}
