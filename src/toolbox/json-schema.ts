/**
 * Whether a value fits a JSON schema (draft 7 and 2020-12, as far as they describe data). Keywords that only
 * describe, and formats that are not known, are let pass; a schema that can not be followed is an error of
 * whoever wrote it, told before the first value.
 */
import { isDeepStrictEqual } from "node:util";
import { CadreError } from "../base/errors.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Misfit {
  /** `items.0.name`; empty for the value as a whole. */
  readonly field: string;
  readonly problem: string;
}

export function createValidator(schema: JsonSchema): (value: unknown) => Misfit[] {
  checkSchema(schema, schema);
  return (value) => check({ root: schema, field: "", depth: 0 }, schema, value);
}

interface Place {
  readonly root: JsonSchema;
  readonly field: string;
  readonly depth: number;
}

const maxDepth = 200;

function check(place: Place, schema: unknown, value: unknown): Misfit[] {
  if (schema === false) return [{ field: place.field, problem: "must not be there" }];
  if (!isObject(schema)) return [];
  if (place.depth > maxDepth) return [{ field: place.field, problem: "is nested too deeply" }];
  const here = { ...place, depth: place.depth + 1 };
  const problem = checkPlain(schema, value);
  // A value of the wrong type would only repeat itself in every other keyword.
  if (problem !== undefined) return [{ field: place.field, problem }];
  return [
    ...(typeof schema.$ref === "string" ? check(here, resolveReference(place.root, schema.$ref), value) : []),
    ...checkCombined(here, schema, value),
    ...(isObject(value) ? checkObject(here, schema, value) : []),
    ...(Array.isArray(value) ? checkArray(here, schema, value) : []),
  ];
}

function checkPlain(schema: JsonSchema, value: unknown): string | undefined {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return `must be ${types.join(" or ")}, not ${nameOfType(value)}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isDeepStrictEqual(allowed, value)))
    return `must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`;
  if ("const" in schema && !isDeepStrictEqual(schema.const, value))
    return `must be ${JSON.stringify(schema.const)}`;
  if (typeof value === "string") return checkString(schema, value);
  return typeof value === "number" ? checkNumber(schema, value) : undefined;
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === nameOfType(value);
}

function nameOfType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const formats: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  time: /^\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?$/,
  email: /^[^\s@]+@[^\s@]+$/,
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
  uri: /^[a-z][a-z\d+.-]*:\S+$/i,
};

function checkString(schema: JsonSchema, value: string): string | undefined {
  const length = [...value].length;
  if (isNumber(schema.minLength) && length < schema.minLength)
    return `must have at least ${schema.minLength} characters`;
  if (isNumber(schema.maxLength) && length > schema.maxLength)
    return `must have at most ${schema.maxLength} characters`;
  if (typeof schema.pattern === "string" && !patternOf(schema.pattern).test(value))
    return `must match ${schema.pattern}`;
  const format = typeof schema.format === "string" ? schema.format : "";
  return Object.hasOwn(formats, format) && !formats[format]?.test(value) ? `must be a ${format}` : undefined;
}

function checkNumber(schema: JsonSchema, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (isNumber(minimum) && value < minimum) return `must be at least ${minimum}`;
  if (isNumber(maximum) && value > maximum) return `must be at most ${maximum}`;
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`;
  if (!isNumber(multipleOf)) return undefined;
  // 0.3 is a multiple of 0.1, although binary fractions do not say so.
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) < 1e-9 ? undefined : `must be a multiple of ${multipleOf}`;
}

function checkCombined(place: Place, schema: JsonSchema, value: unknown): Misfit[] {
  const fits = (option: unknown) => check(place, option, value).length === 0;
  const misfits = listOf(schema.allOf).flatMap((part) => check(place, part, value));
  const tell = (problem: string) => misfits.push({ field: place.field, problem });
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(fits))
    misfits.push(...closestMisfits(place, schema.anyOf, value));
  if (Array.isArray(schema.oneOf)) {
    const count = schema.oneOf.filter(fits).length;
    if (count === 0) misfits.push(...closestMisfits(place, schema.oneOf, value));
    if (count > 1) tell(`fits ${count} of the forms of which it must fit exactly one`);
  }
  if (schema.not !== undefined && fits(schema.not)) tell("has a form that it must not have");
  if (schema.if !== undefined)
    misfits.push(...check(place, fits(schema.if) ? schema.then : schema.else, value));
  return misfits;
}

/** Of several forms, what is wrong with the one that is missed by the least, deepest first. */
function closestMisfits(place: Place, options: readonly unknown[], value: unknown): Misfit[] {
  const attempts = options.map((option) => check(place, option, value));
  const inside = attempts.filter((misfits) => misfits.every((misfit) => misfit.field !== place.field));
  const [closest] = (inside.length > 0 ? inside : attempts).toSorted((a, b) => a.length - b.length);
  const note = { field: place.field, problem: `fits none of its ${options.length} possible forms` };
  return closest === undefined ? [note] : [note, ...closest];
}

function checkObject(place: Place, schema: JsonSchema, value: JsonSchema): Misfit[] {
  const names = Object.keys(value);
  const properties = isObject(schema.properties) ? schema.properties : {};
  const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
  const misfits: Misfit[] = listOf(schema.required)
    .filter((name) => typeof name === "string" && !Object.hasOwn(value, name))
    .map((name) => ({ field: below(place, String(name)), problem: "is missing" }));
  for (const name of names) {
    const inner = { ...place, field: below(place, name) };
    const matching = patterns.filter(([pattern]) => patternOf(pattern).test(name));
    const own = Object.hasOwn(properties, name);
    if (own) misfits.push(...check(inner, properties[name], value[name]));
    for (const [, part] of matching) misfits.push(...check(inner, part, value[name]));
    if (own || matching.length > 0) continue;
    if (schema.additionalProperties === false)
      misfits.push({ field: inner.field, problem: "is not a known field" });
    else misfits.push(...check(inner, schema.additionalProperties, value[name]));
  }
  if (schema.propertyNames !== undefined)
    misfits.push(
      ...names.flatMap((name) => check({ ...place, field: below(place, name) }, schema.propertyNames, name)),
    );
  for (const [name, needed] of Object.entries(
    isObject(schema.dependentRequired) ? schema.dependentRequired : {},
  ))
    if (Object.hasOwn(value, name))
      for (const other of listOf(needed))
        if (!Object.hasOwn(value, String(other)))
          misfits.push({
            field: below(place, String(other)),
            problem: `is missing, because ${name} is there`,
          });
  if (isNumber(schema.minProperties) && names.length < schema.minProperties)
    misfits.push({ field: place.field, problem: `must have at least ${schema.minProperties} fields` });
  if (isNumber(schema.maxProperties) && names.length > schema.maxProperties)
    misfits.push({ field: place.field, problem: `must have at most ${schema.maxProperties} fields` });
  return misfits;
}

function checkArray(place: Place, schema: JsonSchema, value: readonly unknown[]): Misfit[] {
  // Draft 7 wrote a list of schemas as `items`, and what comes after it as `additionalItems`.
  const tuple = Array.isArray(schema.items) ? schema.items : listOf(schema.prefixItems);
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const misfits = value.flatMap((item, index) =>
    check({ ...place, field: below(place, String(index)) }, index < tuple.length ? tuple[index] : rest, item),
  );
  const tell = (problem: string) => misfits.push({ field: place.field, problem });
  if (isNumber(schema.minItems) && value.length < schema.minItems)
    tell(`must have at least ${schema.minItems} items`);
  if (isNumber(schema.maxItems) && value.length > schema.maxItems)
    tell(`must have at most ${schema.maxItems} items`);
  if (schema.uniqueItems === true && hasRepeats(value)) tell("must not have the same item twice");
  if (
    schema.contains !== undefined &&
    !value.some((item) => check(place, schema.contains, item).length === 0)
  )
    tell("has no item of the form that it must contain");
  return misfits;
}

function hasRepeats(items: readonly unknown[]): boolean {
  return items.some((item, index) =>
    items.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item)),
  );
}

function below(place: Place, name: string): string {
  return place.field === "" ? name : `${place.field}.${name}`;
}

/** Only within the schema: nothing is fetched or read for it. */
function resolveReference(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/"))
    throw invalid(`it refers to ${reference}. Put that part into the schema itself`);
  let node: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const holder: unknown = node;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name))
      throw invalid(`it refers to ${reference}, which it does not contain`);
    node = (holder as Record<string, unknown>)[name];
  }
  return node;
}

/** Follows every reference and compiles every pattern once, so that a value can never trip over them. */
function checkSchema(root: JsonSchema, node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  if ("$ref" in node && typeof node.$ref === "string") resolveReference(root, node.$ref);
  if ("pattern" in node && typeof node.pattern === "string") patternOf(node.pattern);
  if ("patternProperties" in node && isObject(node.patternProperties))
    for (const pattern of Object.keys(node.patternProperties)) patternOf(pattern);
  for (const value of Object.values(node)) checkSchema(root, value);
}

function patternOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    throw invalid(`${pattern} is not a regular expression`);
  }
}

function invalid(why: string): CadreError {
  return new CadreError({
    code: "output-schema-invalid",
    message: `The JSON schema for the output can not be used: ${why}.`,
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
