import { isAbsolute } from "node:path";
import type { AgentDefinition, LoadedAgents } from "../../contracts/agent-definition.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { wrapText } from "../text-table.ts";
import { problemOfModel } from "./agent-model.ts";
import { findMissingTools, knownToolNames, noSuchTools } from "./agent-tools.ts";
import { type AgentsRequest, countOf, fileOf, originOf, pathShower } from "./agents-request.ts";

export interface AgentFinding {
  /** `fail`: it could not be loaded. `warn`: it works, but perhaps not as meant. `info`: good to know. */
  readonly state: "fail" | "warn" | "info";
  readonly kind: "failed" | "repair" | "tool" | "model" | "replaced";
  /** Absent where nothing could be loaded. */
  readonly agent?: string;
  readonly file: string | null;
  readonly line?: number;
  readonly message: string;
}

/** `cadre agents doctor` */
export async function checkAgents(request: AgentsRequest): Promise<number> {
  // Unknown tools are told by this command itself, with what may have been meant.
  const loaded = await request.load();
  const findings = findingsOf(request, loaded);
  const ok = loaded.failedFiles.length === 0;
  const count = loaded.activeAgents.length;
  const text = request.values.json
    ? `${JSON.stringify({ ok, agents: count, findings }, null, 2)}\n`
    : asText(request, findings, count);
  await request.io.stdout.write(text);
  return ok ? exitCodes.success : exitCodes.failed;
}

export function findingsOf(request: AgentsRequest, loaded: LoadedAgents): AgentFinding[] {
  const show = pathShower(request);
  const known = knownToolNames(request);
  return [
    ...loaded.failedFiles.map(
      ({ file, line, reason }): AgentFinding => ({
        state: "fail",
        kind: "failed",
        file,
        line,
        message: reason,
      }),
    ),
    ...loaded.repairs.map(
      ({ file, line, what }): AgentFinding => ({ state: "warn", kind: "repair", file, line, message: what }),
    ),
    ...loaded.activeAgents
      // Ours name tools and aliases that only some sessions have, and do without.
      .filter(({ source }) => source !== "built-in")
      .flatMap((agent) => findingsOfAgent(agent, { request, known })),
    ...loaded.allAgents.flatMap(({ definition, replacedBy }): AgentFinding[] =>
      replacedBy === undefined
        ? []
        : [
            finding(definition, {
              state: "info",
              kind: "replaced",
              message: `the one of ${definition.source} is replaced by that of ${originOf(replacedBy, show)}`,
            }),
          ],
    ),
  ];
}

function findingsOfAgent(
  agent: AgentDefinition,
  { request, known }: { request: AgentsRequest; known: ReadonlySet<string> },
): AgentFinding[] {
  const { tools = [], disallowedTools = [] } = agent;
  const missing = findMissingTools(tools, known);
  const notTaken = findMissingTools(disallowedTools, known);
  const unclosed = [...tools, ...disallowedTools].filter((tool) => tool.includes("(") && !tool.endsWith(")"));
  const model = agent.model === undefined ? undefined : problemOfModel(agent.model, request);
  return [
    ...(missing.length > 0 ? [{ kind: "tool", message: noSuchTools(missing) } as const] : []),
    ...(tools.length > 0 && missing.length === tools.length
      ? [{ kind: "tool", message: "none of its tools exists here, so it has none" } as const]
      : []),
    ...unclosed.map((tool) => ({ kind: "tool", message: `the bracket of "${tool}" is not closed` }) as const),
    ...(notTaken.length > 0
      ? [
          {
            kind: "tool",
            message: `disallowedTools: ${noSuchTools(notTaken)}, so nothing is taken away by that`,
          } as const,
        ]
      : []),
    ...(model === undefined ? [] : [{ kind: "model", message: model } as const]),
  ].map((each) => finding(agent, { state: "warn", ...each }));
}

function finding(
  agent: AgentDefinition,
  rest: Pick<AgentFinding, "state" | "kind" | "message">,
): AgentFinding {
  const { state, kind, message } = rest;
  return { state, kind, agent: agent.agentType, file: fileOf(agent), message };
}

function asText(request: AgentsRequest, findings: readonly AgentFinding[], agents: number): string {
  const show = pathShower(request);
  const width = request.columns ?? Number.POSITIVE_INFINITY;
  const lines = findings.flatMap(({ state, agent, file, line, message }) => {
    const place =
      file === null ? [] : [line === undefined || !isAbsolute(file) ? show(file) : `${show(file)}:${line}`];
    const head = [...(agent === undefined ? [] : [agent]), ...place].join(", ");
    return [
      `${state}  ${head}`,
      ...wrapText(message.replace(/\s+/g, " "), width - 6).map((each) => `      ${each}`),
    ];
  });
  const count = (state: AgentFinding["state"]) => findings.filter((each) => each.state === state).length;
  const parts = [
    countOf(agents, "agent"),
    ...(count("info") > 0 ? [`${count("info")} replaced`] : []),
    `${count("warn")} to look at`,
    `${count("fail")} failed`,
  ];
  return `${[...lines, ...(lines.length > 0 ? [""] : []), parts.join(", ")].join("\n")}\n`;
}
