/** What Explore and Plan have in common: they look and never change. */
import type { AgentTraits } from "../../contracts/agent-definition.ts";

export const toolsThatChange: readonly string[] = [
  "Agent",
  "ExitPlanMode",
  "EnterPlanMode",
  "AskUserQuestion",
  "TaskStop",
  "Edit",
  "Write",
  "NotebookEdit",
];

export const readOnlyTraits: AgentTraits = { oneShot: true, readOnlyTools: ["Bash"], bareContext: true };
