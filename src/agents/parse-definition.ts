/** Fields of any origin become one definition (AD-1 to AD-3). */

import { createFrontmatterReader, type FrontmatterReader } from "../config/frontmatter.ts";
import type { FrontmatterField, FrontmatterRepair } from "../config/frontmatter-field.ts";
import type { AgentBudget, AgentDefinition, AgentSource, Effort } from "../contracts/agent-definition.ts";
import { PermissionMode } from "../contracts/permission.ts";
import { createFieldTaker, type FieldTaker, positiveInteger, positiveNumber } from "./definition-fields.ts";
import { readServers } from "./definition-servers.ts";
import { findUnknownTools, readDisallowedTools, readTools } from "./definition-tools.ts";
import { fieldsOfJson } from "./json-fields.ts";

/** Where a definition comes from. */
export interface DefinitionOrigin {
  readonly source: AgentSource;
  /** For messages, and the `file` of the definition. */
  readonly file: string;
  readonly plugin?: PluginOrigin;
  /** Others are reported. */
  readonly toolNames?: ReadonlySet<string>;
}

export interface PluginOrigin {
  readonly name: string;
  readonly trusted: boolean;
  /** The folders between `agents/` and the file: parts of the agent's name. */
  readonly folders: readonly string[];
  /** For agents that name none: that of the file. */
  readonly defaultName: string;
}

export interface ParsedDefinition {
  readonly file: string;
  /** Absent: it could not be saved. */
  readonly definition?: AgentDefinition;
  readonly failure?: FrontmatterRepair;
  readonly repairs: readonly FrontmatterRepair[];
}

/** As they should be written. In files the prompt is the body. */
const fieldNames = [
  "name",
  "description",
  "when-to-use",
  "tools",
  "allowed-tools",
  "disallowedTools",
  "model",
  "effort",
  "permissionMode",
  "background",
  "isolation",
  "maxTurns",
  "budget",
  "color",
  "memory",
  "mcpServers",
  "requiredMcpServers",
  "hooks",
  "skills",
  "initialPrompt",
  "forkContext",
  "criticalSystemReminder",
] as const;

export function createAgentFileReader(): FrontmatterReader {
  return createFrontmatterReader({ knownKeys: fieldNames });
}

/** An agent file: its frontmatter, and its body as the prompt. */
export async function parseAgentFile(
  bytes: Uint8Array | string,
  origin: DefinitionOrigin,
  reader: FrontmatterReader = createAgentFileReader(),
): Promise<ParsedDefinition> {
  const { fields, body, present, reliable, repairs } = await reader.read(bytes);
  if (present) return parseDefinition({ fields, body, reliable, repairs, origin });
  const cause = repairs.find(({ what }) => what.startsWith("the frontmatter"));
  const what =
    cause?.what ??
    "it has no frontmatter: an agent begins with `---`, `name: ...`, `description: ...`, `---`";
  return { file: origin.file, failure: { line: 1, what }, repairs: repairs.filter((one) => one !== cause) };
}

/** An entry of settings or of `--agents`: the same fields as in a file, and `prompt`. */
export function parseJsonDefinition(
  name: string,
  entry: unknown,
  origin: DefinitionOrigin,
): ParsedDefinition {
  const given = fieldsOfJson(entry);
  if (given === undefined)
    return {
      file: origin.file,
      failure: { line: 1, what: `agents.${name}: it should be an object with "description" and "prompt"` },
      repairs: [],
    };
  const fields = new Map(given).set("name", { value: name, source: name, quoted: true, line: 1 });
  const parsed = parseDefinition({ fields, body: "", reliable: true, repairs: [], origin });
  const named = ({ line, what }: FrontmatterRepair) => ({ line, what: `agents.${name}: ${what}` });
  return {
    ...parsed,
    ...(parsed.failure && { failure: named(parsed.failure) }),
    repairs: parsed.repairs.map(named),
  };
}

function parseDefinition(options: {
  fields: ReadonlyMap<string, FrontmatterField>;
  body: string;
  reliable: boolean;
  repairs: readonly FrontmatterRepair[];
  origin: DefinitionOrigin;
}): ParsedDefinition {
  const { fields, origin } = options;
  const { file, source, plugin } = origin;
  const repairs = [...options.repairs];
  const taker = createFieldTaker(fields, repairs);
  const failed = (what: string, line = 1): ParsedDefinition => ({ file, failure: { line, what }, repairs });

  const name = taker.word("name") ?? plugin?.defaultName;
  if (name === undefined) return failed("it has no `name`: give it one, such as that of the file");
  const path = [...(plugin?.folders ?? []), name];
  const problem = path.map(problemOfName).find((found) => found !== undefined);
  if (problem !== undefined) return failed(problem, taker.lineOf("name"));
  const whenToUse =
    taker.text("description", "when-to-use", "whenToUse") ??
    (plugin && `The agent ${name} of the plugin ${plugin.name}`);
  if (whenToUse === undefined) return failed("it has no `description`: say when the agent is to be used");

  const prompt = readPrompt(taker, options.body);
  const tools = readTools(taker, options.reliable);
  const disallowedTools = readDisallowedTools(taker);
  const definition: AgentDefinition = {
    agentType: plugin === undefined ? name : [plugin.name, ...path].join(":"),
    whenToUse,
    prompt,
    ...definedOnly({ tools, disallowedTools, ...readPlainFields(taker), ...readGrants(taker, plugin) }),
    ...definedOnly({ unknownFields: taker.rest() }),
    source,
    file,
    ...(plugin && { plugin: plugin.name }),
  };
  const unknown = findUnknownTools([...(tools ?? []), ...(disallowedTools ?? [])], origin.toolNames);
  if (unknown.length > 0) {
    taker.report(
      taker.lineOf("tools", "allowed-tools", "disallowedTools"),
      `there are no such tools here: ${unknown.join(", ")}`,
    );
  }
  return { file, definition, repairs };
}

/** A colon parts a plugin from its agents, and a dash begins an option of the command line. */
function problemOfName(name: string): string | undefined {
  if (name.includes(":"))
    return `the name "${name}" holds a colon, which only the names of plugins' agents do`;
  return name.startsWith("-") ? `the name "${name}" begins with a dash` : undefined;
}

function readPrompt(taker: FieldTaker, body: string): string {
  const text = body.trim();
  // With a body, a field of that name is one of those that nobody here knows.
  const prompt = text === "" ? (taker.text("prompt") ?? "") : text;
  if (prompt === "") taker.report(1, "it has no prompt");
  return prompt;
}

function readPlainFields(taker: FieldTaker) {
  const forkContext = taker.flag("forkContext");
  return {
    model: readModel(taker, forkContext === true),
    effort: readEffort(taker),
    background: taker.flag("background"),
    isolation: taker.choice("isolation", ["worktree", "remote"]),
    maxTurns: taker.count("maxTurns"),
    budget: readBudget(taker),
    color: taker.word("color"),
    memory: taker.choice("memory", ["user", "project", "local"]),
    requiredMcpServers: taker.list("requiredMcpServers"),
    skills: taker.list("skills"),
    initialPrompt: taker.text("initialPrompt"),
    forkContext,
    criticalReminder: taker.text("criticalSystemReminder", "criticalReminder"),
  };
}

/** What only somebody who is trusted may bring along. */
function readGrants(taker: FieldTaker, plugin: PluginOrigin | undefined) {
  if (plugin === undefined || plugin.trusted)
    return {
      permissionMode: taker.choice("permissionMode", PermissionMode.options),
      mcpServers: readServers(taker),
      hooks: readHooks(taker),
    };
  for (const name of ["permissionMode", "mcpServers", "hooks"]) {
    const field = taker.take(name);
    if (field !== undefined)
      taker.report(field.line, `\`${name}\` is ignored: the plugin ${plugin.name} is not trusted`);
  }
  return {};
}

function readModel(taker: FieldTaker, seesConversation: boolean): string | undefined {
  const model = taker.word("model");
  if (!seesConversation || model === undefined || model === "inherit") return model;
  taker.report(
    taker.lineOf("model"),
    "`model` must be `inherit`, since the agent goes on with the conversation (`forkContext`)",
  );
  return "inherit";
}

function readEffort(taker: FieldTaker): Effort | undefined {
  const words = ["low", "medium", "high", "max"] as const;
  const field = taker.take("effort");
  if (field === undefined || field.value === null) return undefined;
  const word = words.find((one) => one === field.value);
  return (
    word ?? positiveNumber(field.value) ?? taker.reject("effort", field, `${words.join(", ")} or a number`)
  );
}

function readBudget(taker: FieldTaker): AgentBudget | undefined {
  const field = taker.take("budget");
  if (field === undefined || field.value === null) return undefined;
  if (!isRecord(field.value))
    return taker.reject("budget", field, "turns, tokens, usd and minutes with numbers");
  const limits: Record<string, number> = {};
  const readers: Record<string, (value: unknown) => number | undefined> = {
    turns: positiveInteger,
    tokens: positiveInteger,
    usd: positiveNumber,
    minutes: positiveNumber,
  };
  for (const [name, value] of Object.entries(field.value)) {
    const limit = Object.hasOwn(readers, name) ? readers[name]?.(value) : undefined;
    if (limit !== undefined) limits[name] = limit;
    else taker.report(field.line, `\`budget.${name}\` is no limit that can be kept; it is ignored`);
  }
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function readHooks(taker: FieldTaker): Readonly<Record<string, unknown>> | undefined {
  const field = taker.take("hooks");
  if (field === undefined || field.value === null) return undefined;
  return isRecord(field.value) ? field.value : taker.reject("hooks", field, "events with their hooks");
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function definedOnly<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // What is left has the same keys with the same types.
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
