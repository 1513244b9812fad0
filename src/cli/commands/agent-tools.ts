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

export interface MissingTool {
  readonly name: string;
  /** What may have been meant. */
  readonly close: string | undefined;
}

/** The entries of `tools` that nothing here answers to. Tools of servers are known only when these run. */
export function findMissingTools(entries: readonly string[], known: ReadonlySet<string>): MissingTool[] {
  return entries.flatMap((entry) => {
    const name = /^[^(]*/.exec(entry)?.[0].trim() ?? entry;
    if (name === "*" || name.startsWith("mcp__") || known.has(name)) return [];
    const close = nearest(name, [...known]);
    // TaskGet is another tool, not Task with a slip of the finger.
    const isLonger = close !== undefined && name.length - close.length > 2;
    return [{ name, close: isLonger ? undefined : close }];
  });
}

export function noSuchTools(missing: readonly MissingTool[]): string {
  const names = missing.map(
    ({ name, close }) => `"${name}"${close === undefined ? "" : ` (did you mean ${close}?)`}`,
  );
  return `${names.length === 1 ? "there is no tool" : "there are no tools"} ${names.join(", ")}`;
}

/** What is wrong with an entry of `tools`, or undefined. */
export function problemOfTool(entry: string, known: ReadonlySet<string>): string | undefined {
  const missing = findMissingTools([entry], known);
  return missing.length === 0 ? undefined : noSuchTools(missing);
}
