/** `--agents JSON`: definitions by name, for one run. */
import { lineAndColumn, locateJson } from "../config/json-positions.ts";
import { UsageError } from "./arguments.ts";

const example = `'{"reviewer":{"description":"Reviews changes","prompt":"You review ..."}}'`;

/** Only the shape of the whole is checked here; the loader reports each entry by its name. */
export function readAgentsFlag(given: string): Record<string, unknown> {
  const text = given.replace(/^\uFEFF/, "");
  const { errorAt } = locateJson(text);
  if (errorAt !== undefined) {
    const { line, column } = lineAndColumn(text, errorAt);
    const rest = text.slice(errorAt, errorAt + 20).split(/[\r\n]/)[0] ?? "";
    const what = errorAt >= text.length ? "it ends too early" : `unexpected ${JSON.stringify(rest)}`;
    throw new UsageError(`--agents is not valid JSON (line ${line}, column ${column}: ${what})`);
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`--agents must be a JSON object, a definition by name, such as ${example}`);
  return Object.fromEntries(Object.entries(value));
}
