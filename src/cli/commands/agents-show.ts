import { basename } from "node:path";
import { describeTools } from "../../agents/agent-prompt.ts";
import type { AgentDefinition, LoadedAgents } from "../../contracts/agent-definition.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { UsageError } from "../arguments.ts";
import { nearestFew } from "../nearest.ts";
import { layoutTable, wrapText } from "../text-table.ts";
import { meaningOfModel } from "./agent-model.ts";
import { knownToolNames } from "./agent-tools.ts";
import { type AgentsRequest, agentJson, originOf, pathShower, promptContextOf } from "./agents-request.ts";

interface Field {
  readonly field: string;
  readonly value: string;
  /** `file`, `settings`, `flag`, `built-in`, `environment` or `default`. */
  readonly from: string;
}

/** `cadre agents show NAME`: the definition that counts, and for each value where it came from. */
export async function showAgent(request: AgentsRequest, words: readonly string[]): Promise<number> {
  const { io, values } = request;
  const loaded = await request.load(knownToolNames(request));
  const agent = find(request, loaded, words);
  const fields = [...fieldsOf(agent, request)];
  const context = promptContextOf(request, loaded);
  const replaces = loaded.allAgents.filter(
    ({ definition, replacedBy }) => definition.agentType === agent.agentType && replacedBy !== undefined,
  );
  const repairs = loaded.repairs.filter(({ file }) => file === agent.file);
  const json = agentJson({ definition: agent }, context);
  if (values.json) {
    const shown = {
      ...json,
      fields,
      replaces: replaces.map(({ definition }) => originOf(definition)),
      repairs,
    };
    await io.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return exitCodes.success;
  }
  const show = pathShower(request);
  const head = [
    `${agent.agentType}, ${originOf(agent, show)}`,
    ...replaces.map(({ definition }) => `replaces ${originOf(definition, show)}`),
    ...repairs.map(({ line, what }) => `line ${line}: ${what}`),
  ];
  const table = layoutTable({
    header: ["FIELD", "FROM", "VALUE"],
    rows: fields.map(({ field, from, value }) => [field, from, value]),
    width: request.columns,
  });
  const lines = head.flatMap((line) => wrapText(line, request.columns ?? Number.POSITIVE_INFINITY));
  await io.stdout.write(`${lines.join("\n")}\n\n${table}\n${json.prompt.trimEnd()}\n`);
  return exitCodes.success;
}

/** Names may have spaces, which a shell takes apart. */
function find(request: AgentsRequest, loaded: LoadedAgents, words: readonly string[]): AgentDefinition {
  const name = words.join(" ");
  const found = loaded.activeAgents.find(({ agentType }) => agentType === name);
  if (found !== undefined) return found;
  const names = loaded.activeAgents.map(({ agentType }) => agentType);
  const failed = loaded.failedFiles.find(({ file }) => basename(file, ".md") === name);
  const close = nearestFew(name, names);
  const hint =
    failed !== undefined
      ? `: ${pathShower(request)(failed.file)}, line ${failed.line}, could not be loaded: ${failed.reason}`
      : close.length > 0
        ? `; did you mean ${close.join(" or ")}?`
        : `; there are: ${names.join(", ")}`;
  throw new UsageError(`there is no agent "${name}"${hint}`);
}

/** The main ones always, the others when they are set. */
function* fieldsOf(agent: AgentDefinition, request: AgentsRequest): Generator<Field> {
  const own = ownOrigin(agent);
  const either = (field: string, value: string | undefined, byDefault: string): Field =>
    value === undefined ? { field, value: byDefault, from: "default" } : { field, value, from: own };
  yield { field: "description", value: agent.whenToUse, from: own };
  yield either("tools", agent.tools && (agent.tools.join(", ") || "none"), "All tools");
  yield either("disallowedTools", agent.disallowedTools?.join(", "), "none");
  if (agent.tools !== undefined && agent.disallowedTools !== undefined)
    yield { field: "tools left", value: describeTools(agent), from: own };
  yield modelOf(agent, request, own);
  yield either("effort", agent.effort?.toString(), "that of whoever starts it");
  yield either("permissionMode", agent.permissionMode, "that of whoever starts it");
  yield either("background", agent.background === undefined ? undefined : yesNo(agent.background), "no");
  yield either("isolation", agent.isolation, "none");
  const turns = request.settings.budgets?.agent?.turns;
  yield agent.maxTurns === undefined && turns !== undefined
    ? { field: "maxTurns", value: String(turns), from: "settings" }
    : either("maxTurns", agent.maxTurns?.toString(), "no limit");
  for (const field of otherFields) {
    const value = agent[field];
    if (value !== undefined) yield { field, value: written(value), from: own };
  }
  for (const [field, value] of Object.entries(agent.unknownFields ?? {}))
    yield { field, value: `${written(value)} (unknown, without effect)`, from: own };
}

const otherFields = [
  "budget",
  "color",
  "memory",
  "mcpServers",
  "requiredMcpServers",
  "skills",
  "hooks",
  "initialPrompt",
  "forkContext",
  "criticalReminder",
  "plugin",
  "traits",
] as const satisfies readonly (keyof AgentDefinition)[];

function ownOrigin({ source, file }: AgentDefinition): string {
  if (source === "built-in") return "built-in";
  if (file === undefined) return source;
  return file.endsWith(".md") ? "file" : source === "flag" ? "flag" : "settings";
}

/** As the start of an agent decides it, but for the model that a call names (SP-8). */
function modelOf(agent: AgentDefinition, request: AgentsRequest, own: string): Field {
  const { settings, world } = request;
  const field = "model";
  const named = (value: string, from: string): Field => {
    const id = meaningOfModel(value, request);
    return { field, value: id === undefined ? value : `${value} (${id})`, from };
  };
  const forced = world.env.CADRE_SUBAGENT_MODEL;
  if (forced && agent.forkContext !== true) return named(forced, "environment");
  if (agent.model !== undefined && agent.model.trim().toLowerCase() !== "inherit")
    return named(agent.model, own);
  if (settings.subagentModel !== undefined && agent.forkContext !== true)
    return named(settings.subagentModel, "settings");
  return { field, value: "inherit", from: agent.model === undefined ? "default" : own };
}

function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}

function written(value: unknown): string {
  if (typeof value === "string") return value;
  const isWords = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isWords ? value.join(", ") : JSON.stringify(value);
}
