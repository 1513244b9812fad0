/** Starting an agent that has ended once more, because something waits for it (TA-16). */
import { throwIfCancelled } from "../base/cancellation.ts";
import { messageOf } from "../base/errors.ts";
import { escapeText } from "../base/markup.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentMeta } from "../transcript/agent-meta.ts";
import { type AgentContext, livingAbove } from "./agent-context.ts";
import type { AgentHost, EndedAgent } from "./agent-host.ts";
import type { Spawn } from "./spawn.ts";

export interface WokenAgent {
  readonly agentId: string;
  readonly description: string;
  readonly outputFile: string;
}

/**
 * In the background, from its transcript: what waits for it in the queue is its next turn. Twice is once. `toolUseId`:
 * the call that wants it.
 */
export type Wake = (agentId: string, by?: { readonly toolUseId: string }) => Promise<WokenAgent>;

export function createWake(host: AgentHost, spawn: Spawn): Wake {
  const waking = new Map<string, Promise<WokenAgent>>();
  return (agentId, by) => {
    const already = waking.get(agentId);
    if (already) return already;
    const woken = wake(agentId, { host, spawn, toolUseId: by?.toolUseId }).finally(() =>
      waking.delete(agentId),
    );
    waking.set(agentId, woken);
    return woken;
  };
}

async function wake(
  agentId: string,
  { host, spawn, toolUseId }: { host: AgentHost; spawn: Spawn; toolUseId: string | undefined },
): Promise<WokenAgent> {
  const { background } = host;
  if (background === undefined)
    throw new ToolFailure(
      "An agent that has ended cannot be started again: tasks in the background are off.",
    );
  const { scope } = background;
  throwIfCancelled(scope);
  const { loadEarlierRun } = await import("./resume-agent.ts");
  const begin = await loadEarlierRun(agentId, { host, parentOf: (meta) => parentNow(meta, host), scope });
  await new Promise<void>((resolve, reject) => {
    const early = { answer: () => resolve() };
    // Its end is told by its notification; a start that fails is told here.
    spawn({
      ...begin,
      isBackground: true,
      scope,
      early,
      ...(toolUseId !== undefined && { toolUseId }),
    }).catch(reject);
  });
  const outputFile = host.tasks.get(agentId)?.outputFile ?? "";
  return { agentId, description: begin.description, outputFile };
}

/** Whoever started it, if that is alive, else the main agent: at the depth it had. */
function parentNow({ parentAgentId, depth }: AgentMeta, { live }: AgentHost): AgentContext {
  const parent = live.of(parentAgentId) ?? live.of(undefined);
  if (parent === undefined) throw new Error("there is no agent that it could work for");
  return parent.depth === depth - 1 ? parent : { ...parent, depth: depth - 1 };
}

/**
 * An agent has ended, and something came too late for it: notifications go further up, a message starts it again. One
 * that was stopped stays so: whoever stopped it did not want it to go on.
 */
export async function handOver(
  { context, wasStopped }: EndedAgent,
  host: AgentHost,
  wake: Wake,
): Promise<void> {
  const { queue } = host;
  const { agentId } = context.agent;
  if (agentId === undefined) return;
  const above = livingAbove(context, host.live);
  for (const item of [...queue.list(agentId)])
    if (item.mode === "task-notification") await queue.readdress(item, above?.agent.agentId);
  if (queue.waiting(agentId) === 0 || host.live.of(agentId) !== undefined) return;
  // With the session everything ends. What waits is in its transcript.
  if (host.background?.scope.cancelled) return;
  try {
    if (wasStopped) throw new ToolFailure("It was stopped.");
    await wake(agentId);
  } catch (error) {
    await tellUnreachable(agentId, host, messageOf(error));
  }
}

/** Whoever wrote to it believes that it was heard. */
export async function tellUnreachable(
  agentId: string,
  { queue, world }: AgentHost,
  why: string,
): Promise<void> {
  const count = queue.waiting(agentId);
  const text = `${count} ${count === 1 ? "message waits" : "messages wait"} for the agent ${agentId}, which has ended and could not be started again: ${why} They reach it when it is resumed.`;
  await queue.add({
    uuid: world.random.uuid(),
    mode: "task-notification",
    priority: "later",
    content: [{ type: "text", text: `<system-reminder>\n${escapeText(text)}\n</system-reminder>` }],
  });
}
