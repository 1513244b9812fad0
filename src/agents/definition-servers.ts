/** The servers of an agent: names, definitions with a name, one-key maps, or a map by name. */
import { splitList } from "../config/frontmatter-list.ts";
import type { AgentMcpServer } from "../contracts/agent-definition.ts";
import type { FieldTaker } from "./definition-fields.ts";

export function readServers(taker: FieldTaker): readonly AgentMcpServer[] | undefined {
  const field = taker.take("mcpServers");
  if (field === undefined || field.value === null) return undefined;
  const { value, line } = field;
  if (typeof value === "string") return splitList(value);
  if (typeof value !== "object") return taker.reject("mcpServers", field, "names or definitions of servers");
  const servers = Array.isArray(value) ? value.map(serverOf) : Object.entries(value).map(namedServer);
  if (servers.includes(undefined))
    taker.report(line, "an entry of `mcpServers` is neither a name nor a definition; it is ignored");
  return servers.filter((server) => server !== undefined);
}

function serverOf(item: unknown): AgentMcpServer | undefined {
  if (typeof item === "string") return item.trim() === "" ? undefined : item.trim();
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  if ("name" in item && typeof item.name === "string")
    return Object.keys(item).length === 1 ? item.name : { ...item, name: item.name };
  const [first, second] = Object.entries(item);
  return first === undefined || second !== undefined ? undefined : namedServer(first);
}

/** A name with nothing behind it means the configured server of that name. */
function namedServer([name, definition]: [string, unknown]): AgentMcpServer | undefined {
  if (definition === null || definition === true) return name;
  if (typeof definition !== "object" || Array.isArray(definition)) return undefined;
  return Object.keys(definition).length === 0 ? name : { ...definition, name };
}
