/** Entries of JSON, as fields: copied, so that no key of theirs can reach what everybody shares (AD-4). */
import type { FrontmatterField } from "../config/frontmatter-field.ts";

const maxDepth = 50;

/** Undefined: it is no object. */
export function fieldsOfJson(entry: unknown): Map<string, FrontmatterField> | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return undefined;
  const fields = new Map<string, FrontmatterField>();
  for (const [key, given] of Object.entries(entry)) {
    if (key === "__proto__" || given === undefined) continue;
    const value = copyOf(given, 1);
    const source = typeof value === "string" ? value : JSON.stringify(value);
    fields.set(key, { value, source, quoted: true, line: 1 });
  }
  return fields;
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return null;
  if (typeof value !== "object" || value === null) return value ?? null;
  if (depth > maxDepth) return null;
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value))
    if (key !== "__proto__") copy[key] = copyOf(item, depth + 1);
  return copy;
}
