/**
 * A fork is its parent, with all that it knows, sent off with one directive (FK-2 to FK-6). What is sent for it is byte
 * for byte what the parent's next request would begin with, so that it reads the parent's entry in the prompt cache.
 */
import { neutralizeTags } from "../base/markup.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { Block, Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { describeTool, ToolFailure } from "../tools/tool.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost, Contribution } from "./agent-host.ts";
import type { PreparedPrefix } from "./agent-prefix.ts";
import type { ForkPoint } from "./fork-point.ts";
import { isForForks } from "./select-tools.ts";
import type { SpawnRequest } from "./spawn-request.ts";

export const forkType = "fork";

export const forkDefinition: AgentDefinition = {
  agentType: forkType,
  whenToUse: "",
  prompt: "",
  permissionMode: "bubble",
  background: true,
  maxTurns: 200,
  source: "built-in",
};

/** It cannot fork, nor start other agents. */
export function assertNoFork({ agent, history }: AgentContext): void {
  if (!isFork(agent, history.messages)) return;
  throw new ToolFailure(
    "A fork starts no agents: it is here to do the work itself. Do it with the tools you have, and report.",
    { code: "fork-forks" },
  );
}

export function forkPointOf({ history }: AgentContext): ForkPoint {
  const { messages, sentCount, sentWith } = history;
  if (sentWith === undefined) throw new Error("a fork was asked for before its parent asked its model");
  return { messages: messages.slice(), sentCount, sentWith };
}

/** By the source of the query; and, should that be lost, by the tag in its history (FK-5). */
export function isFork({ source }: Pick<AgentScope, "source">, messages: readonly Message[]): boolean {
  return source.kind === "fork" || messages.some(holdsDirective);
}

function holdsDirective({ role, content }: Message): boolean {
  return role === "user" && content.some(isDirective);
}

/** Nobody but the runtime can open this tag: in all other text it is neutralised. */
export function isDirective(block: Block): boolean {
  return block.type === "text" && block.text.startsWith(directiveStart);
}

const directiveStart = "<fork-directive>";
const placeholder =
  "(You are a fork of the agent that made this call. What comes of it goes to that agent, not to you.)";

/** The same for all forks of one message but for its last block. */
export function forkTurn(
  { messages }: ForkPoint,
  directive: { prompt: string; contributions: readonly Contribution[]; place?: ForkPlace },
): Block[] {
  const calls = toolUsesOf(messages.at(-1)?.content ?? []);
  return [
    ...calls.map(({ id }): Block => ({ type: "tool_result", tool_use_id: id, content: placeholder })),
    { type: "text", text: directiveText(directive) },
  ];
}

export interface ForkPlace {
  readonly root: string;
  readonly parentRoot: string;
}

function directiveText(options: Parameters<typeof forkTurn>[1]): string {
  const { prompt, contributions, place } = options;
  const context = contributions.flatMap((each) =>
    (each.context ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
  return [
    `${directiveStart}
You are a fork: a worker with everything above in mind, sent off with the one task below. The conversation above goes on without you, and nobody reads along.
- Do the task yourself, with your tools. Do not delegate, and do not wait for what others were asked to do above.
- Keep to the task. What you notice beside it goes into the report, not into the files.
- End with a short report: what you found or changed, with paths, and what is left. Only your last message goes back.`,
    ...(place === undefined ? [] : [aboutPlace(place)]),
    ...context,
    `Your task:\n${neutralizeTags(prompt)}\n</fork-directive>`,
  ].join("\n\n");
}

function aboutPlace({ root, parentRoot }: ForkPlace): string {
  return `You work in a worktree of your own: ${neutralizeTags(root)}. Paths above that begin with ${neutralizeTags(parentRoot)} belong to the other conversation: use the same path below your root instead, and read a file again before you edit it.`;
}

/** The parent's own list and prompt. What a fork may not use stays in the list and is refused when it is called (FK-5). */
export function forkPrefix(host: AgentHost, { fork, earlier, parent }: SpawnRequest): PreparedPrefix {
  const before = fork?.sentWith ?? parent.history.sentWith;
  // One that goes on after its end begins with what it was sent then, and has nothing that it had not.
  const known = new Set(earlier?.prefix?.tools.map(({ name }) => name));
  const tools = fork?.sentWith.tools ?? host.tools().filter(({ name }) => known.has(name));
  const system = earlier?.prefix?.system ?? before?.prefix.system ?? "";
  const refusedTools = new Set(tools.flatMap(({ name }) => (isForForks(name) ? [] : [name])));
  return {
    prefix: fork?.sentWith.prefix ?? { system, tools: tools.map(describeTool) },
    tools,
    permissions: { ...(earlier ? earlier.limits : parent.agent.permissions), refusedTools },
    source: { kind: "fork" },
    warnings: [],
  };
}
