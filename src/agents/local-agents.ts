/** Messages to agents of this session: to those at work through the queue, and those that have ended are woken. */
import { isCancelled, messageOf, systemCodeOf } from "../base/errors.ts";
import type { Queue } from "../tasks/queue.ts";
import { hasEnded, type TaskRegistry } from "../tasks/registry.ts";
import { ToolFailure } from "../tools/tool.ts";
import { isAgentId } from "../transcript/agent-id.ts";
import {
  type AddressResolver,
  isSpecialAddress,
  mainAgentName,
  type OutgoingMessage,
  type Sender,
  type SentMessage,
} from "./address-book.ts";
import { agentMessageBlock } from "./agent-message.ts";
import type { AgentNames } from "./agent-names.ts";
import { listRecipients } from "./task-choices.ts";
import type { Wake } from "./wake-agent.ts";

export interface LocalAgentPorts {
  readonly queue: Pick<Queue, "add">;
  readonly tasks: Pick<TaskRegistry, "get" | "list">;
  readonly names: Pick<AgentNames, "idOf" | "nameOf" | "list">;
  /** Its loop runs now. */
  readonly isAlive: (agentId: string) => boolean;
  /** There is a transcript with which it could go on. */
  readonly knows: (agentId: string) => Promise<boolean>;
  readonly wake: Wake;
  /** Takes back for good what nobody has taken from the queue. False: somebody has, so it arrives. */
  readonly takeBack: (uuid: string, toolUseId: string) => boolean;
}

/** Stands behind all others: it takes every address that could be a name or an id. */
export function createLocalAgents(ports: LocalAgentPorts): AddressResolver {
  const inOrder = createLine();

  async function send(message: OutgoingMessage): Promise<SentMessage> {
    // What one sender says arrives in its order; that one of its agents wakes slowly does not hold up the rest.
    const agentId = await inOrder(message.sender.agentId, () => enqueue(message));
    const to = agentId === undefined ? mainAgentName : (ports.names.nameOf(agentId) ?? agentId);
    if (agentId === undefined) return { status: "delivered", to };
    if (ports.isAlive(agentId)) return { status: "delivered", to, agentId };
    try {
      const { outputFile, description } = await ports.wake(agentId, message);
      const tellsSender = ports.tasks.get(agentId)?.parentAgentId === message.sender.agentId;
      return { status: "started", to, agentId, outputFile, description, tellsSender };
    } catch (error) {
      // Somebody else may have started it at the same moment: then it arrives there.
      const runs = isStarting(agentId) || systemCodeOf(error) === "agent-running";
      if (runs || !ports.takeBack(message.uuid, message.toolUseId))
        return { status: "delivered", to, agentId };
      throw isCancelled(error) ? error : notWoken(to, error);
    }
  }

  function isStarting(agentId: string): boolean {
    const task = ports.tasks.get(agentId);
    return ports.isAlive(agentId) || (task !== undefined && !hasEnded(task));
  }

  /** Answers with whom it is for; undefined: the main agent. From then on the message will arrive. */
  async function enqueue({ uuid, to, sender, content }: OutgoingMessage): Promise<string | undefined> {
    const target = await recipientOf(to, sender);
    if (target === sender.agentId)
      throw new ToolFailure("Not sent: that is you. An agent cannot write to itself.", {
        code: "message-to-self",
      });
    if (sender.isFork && target !== undefined && !ports.isAlive(target))
      throw new ToolFailure(
        "Not sent: that agent has ended, and a fork starts none again. Do the work yourself, and report.",
        { code: "fork-forks" },
      );
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await ports.queue.add({
      uuid,
      mode: "prompt",
      // A person who talks with the main agent is never held up by machines.
      priority: target === undefined ? "later" : "next",
      ...(target !== undefined && { target }),
      content: [agentMessageBlock({ from: sender.name, id: sender.agentId, text })],
    });
    return target;
  }

  /** An id always means its agent, whatever others are called. */
  async function recipientOf(to: string, sender: Sender): Promise<string | undefined> {
    if (to.toLowerCase() === mainAgentName) return undefined;
    if (await exists(to)) return to;
    const named = ports.names.idOf(to);
    if (named === undefined) throw unknown(to, sender);
    if (await exists(named)) return named;
    throw new ToolFailure(
      `Not sent: the agent named "${to}" (${named}) has ended, and nothing was kept with which it could go on. Start a new one.`,
      { code: "agent-unknown" },
    );
  }

  async function exists(id: string): Promise<boolean> {
    return isAgentId(id) && (ports.isAlive(id) || (await ports.knows(id)));
  }

  function unknown(to: string, sender: Sender): ToolFailure {
    const task = ports.tasks.get(to);
    const what =
      task === undefined || task.agent !== undefined
        ? `no agent of this session has the name or the id "${to.slice(0, 100)}"`
        : `${to} is a task, but no agent`;
    return new ToolFailure(`Not sent: ${what}. ${listRecipients(ports, sender)}`, {
      code: "agent-unknown",
    });
  }

  return { name: "agents", matches: (to) => !isSpecialAddress(to), send };
}

function notWoken(to: string, error: unknown): ToolFailure {
  return new ToolFailure(`Not sent: ${to} has ended and could not be started again. ${messageOf(error)}`, {
    code: "agent-not-woken",
    cause: error,
  });
}

/** One after another for each key, in the order of the calls, whatever becomes of those before. */
function createLine() {
  const last = new Map<string | undefined, Promise<unknown>>();
  return async <T>(key: string | undefined, work: () => Promise<T>): Promise<T> => {
    const mine = last.get(key)?.then(work, work) ?? work();
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
