/** Reading what a provider sent: unknown values, looked at field by field. */

export type Fields = Readonly<Record<string, unknown>>;

/** What contradicts itself: nobody could say what the model meant. */
export class MalformedStream extends Error {
  override readonly name = "MalformedStream";
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, problem: string): Fields {
  if (!isFields(value)) throw new MalformedStream(problem);
  return value;
}

export function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

export function countOr(value: unknown, fallback: number): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : fallback;
}

/** The data of a server-sent event, which must be a JSON object. */
export function parseFields(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new MalformedStream(`an event is not valid JSON: ${data}`);
  }
  return fieldsOf(value, `an event is not an object: ${data}`);
}
