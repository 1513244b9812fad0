/**
 * Small models are known to write a tool call into their answer instead of making it. It is taken for a call
 * only if the whole answer is one: a tool that was offered, with arguments that its schema knows.
 */
import type { ToolDescription } from "./model.ts";
import { type Fields, isFields } from "./wire-fields.ts";

export interface WrittenCall {
  readonly name: string;
  readonly input: Fields;
}

const openers = ["<tool_call>", "```json", "```tool_call", "```", ""];
const keysOfCall = ["name", "arguments", "parameters", "input", "id", "type", "function"];
const keysOfInput = ["arguments", "parameters", "input"];

/** Whether an answer that begins like this could still turn out to be a call. Until then it is held back. */
export function mayBecomeCall(text: string, offered: ReadonlyMap<string, unknown>): boolean {
  const begun = text.trimStart();
  return openers.some((opener) => {
    if (!begun.startsWith(opener)) return opener.startsWith(begun);
    const rest = begun.slice(opener.length).trimStart();
    const [whole, key = "", quote] = /^(?:\{\s*(?:"(\w*)("|$)|$)|$)/.exec(rest) ?? [];
    if (whole === undefined) return false;
    const fits = keysOfCall.some((known) => (quote === '"' ? known === key : known.startsWith(key)));
    const name = /^\{\s*"name"\s*:\s*"([^"\\]*)"/.exec(rest)?.[1];
    return fits && (name === undefined || offered.has(name));
  });
}

/** `offered`: by the names that the model knows. */
export function callWrittenIn(
  text: string,
  offered: ReadonlyMap<string, ToolDescription>,
): WrittenCall | undefined {
  const value = parse(unwrap(text.trim()));
  if (!isFields(value) || !hasOnly(value, keysOfCall)) return undefined;
  const call = isFields(value.function) ? value.function : value;
  const { name } = call;
  const tool = typeof name === "string" ? offered.get(name) : undefined;
  const inputKeys = keysOfInput.filter((key) => Object.hasOwn(call, key));
  if (tool === undefined || inputKeys.length !== 1 || !hasOnly(call, ["name", "id", "type", ...inputKeys]))
    return undefined;
  const given = call[inputKeys[0] ?? ""];
  const input = typeof given === "string" ? parse(given) : given;
  return isFields(input) && fitsSchema(input, tool.inputSchema) ? { name: tool.name, input } : undefined;
}

/** The end mark of a call is often lost, because the server takes it for the end of the answer. */
function unwrap(text: string): string {
  const tagged = /^<tool_call>(.*?)(?:<\/tool_call>)?$/s.exec(text);
  const fenced = /^```(?:json|tool_call)?\s*\n(.*)\n\s*```$/s.exec(text);
  return tagged?.[1] ?? fenced?.[1] ?? text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasOnly(fields: Fields, keys: readonly string[]): boolean {
  return Object.keys(fields).every((key) => keys.includes(key));
}

function fitsSchema(input: Fields, schema: Fields): boolean {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const known = isFields(schema.properties) ? Object.keys(schema.properties) : [];
  return required.every((key) => Object.hasOwn(input, String(key))) && hasOnly(input, known);
}
