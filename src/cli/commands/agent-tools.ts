/** The names of tools that definitions may use here. */
import type { World } from "../../base/world.ts";
import type { Settings } from "../../contracts/settings.ts";
import { buildTools } from "../../runtime/build-tools.ts";
import { nearest } from "../nearest.ts";

/** What a session has beside its toolbox. */
const sessionTools = ["Agent", "Task", "SendMessage", "TaskOutput", "TaskStop", "StructuredOutput"];

export function knownToolNames(options: { world: World; settings: Settings }): ReadonlySet<string> {
  const tools = buildTools({ ...options, surface: undefined, extra: [] });
  return new Set([...tools.flatMap(({ name, aliases }) => [name, ...aliases]), ...sessionTools]);
}

/** What is wrong with an entry of `tools`, or undefined. Tools of servers are known only when these run. */
export function problemOfTool(entry: string, known: ReadonlySet<string>): string | undefined {
  const name = /^[^(]*/.exec(entry)?.[0].trim() ?? entry;
  if (name === "*" || name.startsWith("mcp__") || known.has(name)) return undefined;
  const close = nearest(name, [...known]);
  return `there is no tool "${name}"${close === undefined ? "" : ` (did you mean ${close}?)`}`;
}
