/** Names that agents were given, for whoever writes to them (TA-17). Only agents with a name take any room here. */
import { ToolFailure } from "../tools/tool.ts";

export interface AgentNames {
  /**
   * Gives the name to an agent that counts as running from this moment; until it does, another could claim the same.
   * Throws a `ToolFailure`: it is no name, or a running agent has it. What is returned undoes it, for a start that fails.
   */
  claim(name: string, agentId: string, isRunning: (agentId: string) => boolean): () => void;
  idOf(name: string): string | undefined;
  /** As it was written. Undefined: it has none, or a newer agent has it now. */
  nameOf(agentId: string): string | undefined;
  /** Some agent has been given one. */
  readonly exist: boolean;
  /** The latest last. */
  list(): readonly NamedAgent[];
  /** Those of an earlier process, in the order of their start. What is no name is left out. */
  restore(agents: Iterable<{ readonly name?: string | undefined; readonly agentId: string }>): void;
}

export interface NamedAgent {
  readonly name: string;
  readonly agentId: string;
}

export function createAgentNames(): AgentNames {
  const byKey = new Map<string, NamedAgent>();
  const keys = new Map<string, string>();

  /** One name for each agent, one agent for each name. */
  function give(name: string, agentId: string): void {
    const key = keyOf(name);
    const holder = byKey.get(key);
    if (holder !== undefined) take(holder.agentId);
    take(agentId);
    byKey.set(key, { name, agentId });
    keys.set(agentId, key);
  }

  function take(agentId: string): void {
    const key = keys.get(agentId);
    if (key === undefined) return;
    keys.delete(agentId);
    byKey.delete(key);
  }

  /** Unless either has found another meanwhile. */
  function giveBack(name: string | undefined, agentId: string | undefined): void {
    if (name === undefined || agentId === undefined) return;
    if (!byKey.has(keyOf(name)) && !keys.has(agentId)) give(name, agentId);
  }

  const nameOf = (agentId: string) => byKey.get(keys.get(agentId) ?? "")?.name;

  return {
    claim(given, agentId, isRunning) {
      const name = plainName(given);
      const problem = problemOf(name);
      if (problem !== undefined) throw unfit(name, problem);
      const holder = byKey.get(keyOf(name));
      if (holder !== undefined && holder.agentId !== agentId && isRunning(holder.agentId))
        throw inUse(holder.name, holder.agentId);
      const before = nameOf(agentId);
      give(name, agentId);
      return () => {
        if (nameOf(agentId) !== name) return;
        take(agentId);
        giveBack(holder?.name, holder?.agentId);
        giveBack(before, agentId);
      };
    },
    idOf: (name) => byKey.get(keyOf(plainName(name)))?.agentId,
    nameOf,
    get exist() {
      return byKey.size > 0;
    },
    list: () => [...byKey.values()],
    restore(agents) {
      for (const { name, agentId } of agents) {
        const plain = plainName(name ?? "");
        if (problemOf(plain) === undefined) give(plain, agentId);
      }
    },
  };
}

const mostChars = 64;

/** They mean somebody else, or everybody. */
const reserved = new Set(["main", "user"]);

function plainName(given: string): string {
  return given.normalize("NFC").trim().replace(/ +/g, " ");
}

/** Names that look the same to whoever reads in a hurry are the same. */
function keyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function problemOf(name: string): string | undefined {
  if (name === "") return "it is empty";
  if ([...name].length > mostChars) return `it is longer than ${mostChars} characters`;
  // Letters and marks that nobody sees are not among them.
  if (!/^[\p{L}\p{M}\p{N}_. -]+$/u.test(name) || /\p{Default_Ignorable_Code_Point}/u.test(name))
    return "it has other characters";
  // `mаin` with a letter of another alphabet is read as `main`.
  if (/\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name))
    return "it mixes alphabets";
  return reserved.has(keyOf(name)) ? "it means somebody else" : undefined;
}

function unfit(name: string, problem: string): ToolFailure {
  const shown = [...name].slice(0, mostChars).join("");
  return new ToolFailure(
    `"${shown}" cannot be the name of an agent: ${problem}. A name has 1 to ${mostChars} characters: letters, digits, "_", "-", ".", and blanks inside; "main" and "user" are taken.`,
    { code: "agent-name" },
  );
}

function inUse(name: string, agentId: string): ToolFailure {
  return new ToolFailure(
    `The name "${name}" belongs to an agent that is running (${agentId}). Take another name, write to that agent, or wait for its end.`,
    { code: "agent-name-in-use" },
  );
}
