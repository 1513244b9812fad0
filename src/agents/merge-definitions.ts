/** Which of several definitions of one name counts (AD-5), and what there is to tell about all of them. */
import {
  type AgentDefinition,
  type AgentRepair,
  agentSources,
  type ListedAgent,
  type LoadedAgents,
} from "../contracts/agent-definition.ts";
import type { ParsedDefinition } from "./parse-definition.ts";

/** `given`: weakest first. */
export function mergeDefinitions(given: readonly ParsedDefinition[]): LoadedAgents {
  const definitions = given.flatMap(({ definition }) => definition ?? []);
  const winners = new Map<string, AgentDefinition>();
  for (const definition of definitions) winners.set(definition.agentType, definition);
  return {
    activeAgents: [...winners.values()].sort(byPlace),
    // Sorting is stable: of those with one name in one source the strongest stands last.
    allAgents: definitions.toSorted(byPlace).map((definition) => listed(definition, winners)),
    failedFiles: given
      .flatMap(({ file, failure }) => (failure ? [{ file, line: failure.line, reason: failure.what }] : []))
      .sort(byFile),
    repairs: given
      .flatMap(({ file, repairs }) => repairs.map(({ line, what }): AgentRepair => ({ file, line, what })))
      .sort(byFile),
  };
}

function listed(definition: AgentDefinition, winners: ReadonlyMap<string, AgentDefinition>): ListedAgent {
  const winner = winners.get(definition.agentType);
  return winner === undefined || winner === definition ? { definition } : { definition, replacedBy: winner };
}

function byPlace(a: AgentDefinition, b: AgentDefinition): number {
  return (
    agentSources.indexOf(a.source) - agentSources.indexOf(b.source) || compareText(a.agentType, b.agentType)
  );
}

function byFile(a: { file: string; line: number }, b: { file: string; line: number }): number {
  return compareText(a.file, b.file) || a.line - b.line;
}

/** By code units: the same order on every machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
