/** What a person calls the agents of a conversation: `Explore`, and the next one of that type `Explore 2`. */
import { cut, oneLine } from "./describe-call.ts";

export interface AgentLabels {
  /** A new name, which no agent has had before. */
  give(agent: { id: string; type: string }): string;
  /** Of an agent at work. */
  of(id: string): string | undefined;
  /** The agent has ended. */
  drop(id: string): void;
}

const maxTypeChars = 24;

export function createAgentLabels(): AgentLabels {
  const byId = new Map<string, string>();
  const given = new Map<string, number>();
  return {
    give({ id, type }) {
      const name = cut(oneLine(type), maxTypeChars) || "agent";
      const number = (given.get(name) ?? 0) + 1;
      given.set(name, number);
      const label = number === 1 ? name : `${name} ${number}`;
      byId.set(id, label);
      return label;
    },
    of: (id) => byId.get(id),
    drop: (id) => void byId.delete(id),
  };
}
