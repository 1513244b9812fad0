/** Which tools a definition names (AD-3, rules 5 and 7). In doubt it has none rather than all. */
import type { FrontmatterField } from "../config/frontmatter-field.ts";
import { readList } from "../config/frontmatter-list.ts";
import type { FieldTaker } from "./definition-fields.ts";

/** Undefined: all. `reliable`: what is absent is absent, and not merely overlooked. */
export function readTools(taker: FieldTaker, reliable: boolean): readonly string[] | undefined {
  const field = takeTools(taker);
  if (field?.doubtful) {
    taker.report(field.line, "`tools` is there twice, so the agent gets none");
    return [];
  }
  const names = field && namesOf(field, taker);
  const isAll = names === undefined || names.includes("*");
  if (!isAll) return names;
  if (reliable) return undefined;
  taker.report(field?.line ?? 1, "no `tools` could be read reliably, so the agent gets none");
  return [];
}

export function readDisallowedTools(taker: FieldTaker): readonly string[] | undefined {
  const field = taker.take("disallowedTools");
  if (field === undefined) return undefined;
  if (!isMap(field.value)) return spacedNames(readList(field.value));
  return Object.entries(field.value).flatMap(([name, value]) => (value === false ? [] : [name]));
}

/** Names that nothing here answers to. Those of servers come and go. */
export function findUnknownTools(
  tools: readonly string[],
  known: ReadonlySet<string> | undefined,
): readonly string[] {
  if (known === undefined) return [];
  const names = tools.map((tool) => (tool.split("(", 1)[0] ?? tool).trim());
  return [...new Set(names)].filter((name) => name !== "*" && !name.startsWith("mcp__") && !known.has(name));
}

function takeTools(taker: FieldTaker): (FrontmatterField & { atSpaces?: true }) | undefined {
  const tools = taker.take("tools");
  if (tools !== undefined) return tools;
  const allowed = taker.take("allowed-tools", "allowedTools", "allowed_tools");
  if (allowed === undefined) return undefined;
  taker.report(allowed.line, "`allowed-tools` is a field of skills; it is read as `tools`");
  return { ...allowed, atSpaces: true };
}

function namesOf(
  field: FrontmatterField & { atSpaces?: true },
  taker: FieldTaker,
): readonly string[] | undefined {
  if (!isMap(field.value)) return spacedNames(readList(field.value, { atSpaces: field.atSpaces ?? false }));
  taker.report(field.line, "`tools` should be a list; only those that are set to true are taken");
  return Object.entries(field.value).flatMap(([name, value]) => (value === true ? [name] : []));
}

/** `Read Grep Glob`: what looks like several tools is several. */
function spacedNames(names: readonly string[] | undefined): readonly string[] | undefined {
  return names?.flatMap((name) => {
    const words = name.split(/\s+/);
    return words.every((word) => /^(?:[A-Z]\w*|mcp__[\w-]+)$/.test(word)) ? words : [name];
  });
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
