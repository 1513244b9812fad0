import { describeTools } from "../../agents/agent-prompt.ts";
import type { AgentDefinition, ListedAgent, LoadedAgents } from "../../contracts/agent-definition.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { layoutTable, wrapText } from "../text-table.ts";
import { knownToolNames } from "./agent-tools.ts";
import { type AgentsRequest, agentJson, countOf, promptContextOf } from "./agents-request.ts";

/** `cadre agents` */
export async function listAgents(request: AgentsRequest): Promise<number> {
  const loaded = await request.load(knownToolNames(request));
  const text = request.values.json ? asJson(request, loaded) : asTable(request, loaded);
  await request.io.stdout.write(text);
  return exitCodes.success;
}

/** Put together from the JSON of each agent, which is made once: most stand in both lists, and prompts are long. */
function asJson(request: AgentsRequest, loaded: LoadedAgents): string {
  const context = promptContextOf(request, loaded);
  const made = new Map<AgentDefinition, string>();
  const jsonOf = (listed: ListedAgent): string => {
    const known = listed.replacedBy === undefined ? made.get(listed.definition) : undefined;
    const json = known ?? JSON.stringify(agentJson(listed, context));
    if (listed.replacedBy === undefined) made.set(listed.definition, json);
    return json;
  };
  const lists = {
    activeAgents: loaded.activeAgents.map((definition) => jsonOf({ definition })),
    allAgents: loaded.allAgents.map(jsonOf),
    failedFiles: loaded.failedFiles.map(({ file, line, reason }) => JSON.stringify({ file, line, reason })),
    repairs: loaded.repairs.map(({ file, line, what }) => JSON.stringify({ file, line, what })),
  };
  const members = Object.entries(lists).map(([name, items]) => `  "${name}": ${arrayOf(items)}`);
  return `{\n${members.join(",\n")}\n}\n`;
}

/** One item a line. */
function arrayOf(items: readonly string[]): string {
  return items.length === 0 ? "[]" : `[\n    ${items.join(",\n    ")}\n  ]`;
}

function asTable(request: AgentsRequest, loaded: LoadedAgents): string {
  const table = layoutTable({
    header: ["NAME", "SOURCE", "MODEL", "TOOLS"],
    rows: loaded.activeAgents.map((agent) => [
      agent.agentType,
      agent.source,
      agent.model ?? "inherit",
      describeTools(agent),
    ]),
    width: request.columns,
  });
  const summary = wrapText(summaryOf(loaded), request.columns ?? Number.POSITIVE_INFINITY);
  return `${table}\n${summary.join("\n")}\n`;
}

function summaryOf({ activeAgents, allAgents, failedFiles, repairs }: LoadedAgents): string {
  const replaced = allAgents.filter(({ replacedBy }) => replacedBy !== undefined).length;
  const parts = [
    countOf(activeAgents.length, "agent"),
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(failedFiles.length > 0 ? [`${failedFiles.length} failed`] : []),
    ...(repairs.length > 0 ? [`${repairs.length} to look at`] : []),
  ];
  return `${parts.join(", ")}${parts.length > 1 ? " (see cadre agents doctor)" : ""}`;
}
