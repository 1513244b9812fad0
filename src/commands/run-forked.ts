/**
 * commands/ owns what people ask for by name. It must not know where the texts of commands come from, nor who shows
 * what they come to.
 *
 * A forked command runs in an agent of its own: its text is the agent's prompt, and only what that says last reaches
 * the conversation (FK-8 to FK-10). It is no call of the model, unless the model invokes it itself.
 */
import type { AgentContext } from "../agents/agent-context.ts";
import type { AgentHost } from "../agents/agent-host.ts";
import { maxDepthOf } from "../agents/agent-limits.ts";
import type { AgentToolOutput, CompletedAgent, LaunchedAgent } from "../agents/agent-result.ts";
import { findDefinition, requireServers } from "../agents/find-definition.ts";
import { assertNoFork } from "../agents/fork.ts";
import type { Spawn } from "../agents/spawn.ts";
import type { SpawnRequest } from "../agents/spawn-request.ts";
import type { Scope } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { AgentActivity, LoopEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import { textOf } from "../contracts/message-content.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { EarlyAnswer, ToolContext } from "../tools/tool-context.ts";
import { type CommandOutput, commandBlocks, textOfEnd } from "./command-output.ts";

/** Whoever finds and expands commands hands in this. */
export interface ForkedCommand {
  /** Without the slash. */
  readonly name: string;
  /** What the agent is told: expanded. */
  readonly text: string;
  /** What the person typed. Default: a slash and the name. */
  readonly typed?: string | undefined;
  /** Which agent runs it. Default: general-purpose. */
  readonly agent?: string | undefined;
  /** Stand instead of the allow rules of the session; deny and ask rules stay (SP-15). */
  readonly allowedTools?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

export interface ForkedCommandEnd {
  /** `background`: it goes on there, and what it comes to reaches the conversation by itself. */
  readonly status: "completed" | "failed" | "stopped" | "background";
  readonly agentId: string;
  /** For a person. */
  readonly text: string;
}

export interface AgentStarting {
  readonly host: AgentHost;
  readonly spawn: Spawn;
}

export interface ConversationPort {
  /** The main agent, whether it runs or not. */
  main(): AgentContext;
  /** The model knows it at its next turn; if none goes on, this starts none. Resolves when it can no longer be lost. */
  tell(content: Block[]): Promise<void>;
}

export interface ForkedCommandOptions extends AgentStarting, ConversationPort {
  /** `forgotten`: nobody waits for it; what it comes to is a prompt that nobody sees (FK-9). */
  readonly mode: "foreground" | "forgotten";
  /** Stops one that somebody waits for. */
  readonly signal?: AbortSignal | undefined;
  /** What its agent does, as the progress of a call would be told. Not of one that is forgotten. */
  readonly onEvent?: ((event: LoopEvent) => void) | undefined;
}

/** Rejects with what kept it from starting; from then on every end is one that is told. */
export async function runForkedCommand(
  command: ForkedCommand,
  options: ForkedCommandOptions,
): Promise<ForkedCommandEnd> {
  return options.mode === "forgotten" ? await launch(command, options) : await runAndTell(command, options);
}

/**
 * For a tool with which the model invokes one: it runs the same way, and what it comes to is the result of the call
 * (`toAgentResult`).
 */
export async function callForkedCommand(
  command: ForkedCommand,
  { agent, scope, toolUseId, report, early }: ToolContext,
  starting: AgentStarting,
): Promise<AgentToolOutput> {
  const parent = starting.host.live.of(agent.agentId);
  if (parent === undefined) throw new Error("the agent that calls is not alive");
  assertNoFork(parent);
  const request = await requestFor(command, { parent, scope, host: starting.host });
  return await starting.spawn({
    ...request,
    isBackground: false,
    toolUseId,
    report: (data) => report?.({ data }),
    early,
  });
}

async function runAndTell(command: ForkedCommand, options: ForkedCommandOptions): Promise<ForkedCommandEnd> {
  const parent = options.main();
  const scope = parent.cancellation.child();
  const stop = () => scope.cancel("stopped by the user");
  options.signal?.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) stop();
  try {
    const { output, agentId } = await outputOf(command, { ...options, parent, scope });
    await options.tell(commandBlocks(command, output));
    return { status: output.status, agentId, text: textOf(output.content) };
  } finally {
    options.signal?.removeEventListener("abort", stop);
    scope.release();
  }
}

/** Whatever it came to, once its agent has begun. */
async function outputOf(
  command: ForkedCommand,
  options: ForkedCommandOptions & { parent: AgentContext; scope: Scope },
): Promise<{ output: CommandOutput; agentId: string }> {
  const { parent, scope, spawn, onEvent } = options;
  const request = await requestFor(command, options);
  let agentId: string | undefined;
  const report = (activity: AgentActivity) => {
    agentId ??= activity.agentId;
    onEvent?.(progressOf(command, activity));
  };
  try {
    const end = await unlessMoved((early) =>
      spawn({ ...request, isBackground: false, report, early, tellEnd: tellEndOf(command) }),
    );
    return end.status === "completed"
      ? { output: { ...end, content: textOfEnd(end) }, agentId: end.agentId }
      : { output: { status: "background", content: [text(wordsOf(end))] }, agentId: end.agentId };
  } catch (error) {
    // With the session everything ends, and nobody is left to tell.
    if (agentId === undefined || parent.cancellation.cancelled) throw error;
    const isStopped = isCancelled(error) || scope.cancelled;
    const why = isStopped ? "It was stopped before it had a result." : messageOf(error);
    return { output: { status: isStopped ? "stopped" : "failed", content: [text(why)] }, agentId };
  }
}

/** A person may send it to the background: from then on nobody waits here. */
async function unlessMoved(
  start: (early: EarlyAnswer) => Promise<CompletedAgent>,
): Promise<CompletedAgent | LaunchedAgent> {
  return await new Promise((resolve, reject) => {
    start({ answer: ({ output }) => resolve(output as LaunchedAgent) }).then(resolve, reject);
  });
}

async function launch(command: ForkedCommand, options: ForkedCommandOptions): Promise<ForkedCommandEnd> {
  const { host, spawn } = options;
  if (host.background === undefined)
    throw new ToolFailure(
      `/${command.name} was not started: it would run beside the conversation, and tasks in the background are off (setting: backgroundTasks).`,
      { code: "background-off" },
    );
  const { scope } = host.background;
  const request = await requestFor(command, { parent: options.main(), scope, host });
  const launched = await unlessMoved((early) =>
    spawn({ ...request, isBackground: true, early, tellEnd: tellEndOf(command) }),
  );
  return { status: "background", agentId: launched.agentId, text: wordsOf(launched) };
}

async function requestFor(
  command: ForkedCommand,
  { parent, scope, host }: { parent: AgentContext; scope: Scope; host: AgentHost },
): Promise<Omit<SpawnRequest, "isBackground">> {
  const { name, text: prompt, allowedTools, model } = command;
  if (!/\S/.test(prompt)) throw unfit(name, "its text is empty");
  const most = maxDepthOf(host);
  if (parent.depth >= most)
    throw unfit(
      name,
      `it needs an agent, and agents may be nested ${most} deep here (setting: maxAgentDepth)`,
    );
  const definition = await findDefinition(command.agent, host, parent.agent.permissions);
  if (definition.isolation === "remote")
    throw unfit(name, "its agent wants a remote engine, and none is set up");
  await requireServers(definition, host, scope);
  return {
    parent,
    scope,
    definition,
    description: `/${name}`,
    prompt,
    ...(definition.isolation && { isolation: definition.isolation }),
    ...(allowedTools && { allowedTools }),
    ...(model !== undefined && { model }),
  };
}

function tellEndOf(command: ForkedCommand): NonNullable<SpawnRequest["tellEnd"]> {
  return ({ status, text: said, note }) => {
    const content = [said, ...(note === undefined ? [] : [`(${note})`])]
      .filter((part) => part !== "")
      .map(text);
    const ended = { completed: "completed", failed: "failed", killed: "stopped" } as const;
    return commandBlocks(command, { status: ended[status], content, wasForgotten: true });
  };
}

/** The call that it would be the progress of does not exist: agents of one command share this id. */
function progressOf({ name }: ForkedCommand, data: AgentActivity): LoopEvent {
  return {
    type: "call-progress",
    toolUseId: `command:${data.agentId}`,
    toolName: `/${name}`,
    progress: { data },
  };
}

function wordsOf({ agentId }: Pick<LaunchedAgent, "agentId">): string {
  return `It goes on in the background, as task ${agentId}.`;
}

function unfit(name: string, why: string): ToolFailure {
  return new ToolFailure(`/${name} was not started: ${why}.`, { code: "command-unfit" });
}

function text(value: string): Extract<Block, { type: "text" }> {
  return { type: "text", text: value };
}
