/** Reads an argument list by a table of options. It knows no option by name, and needs no other module. */
import { nearest } from "./nearest.ts";

export interface OptionSpec {
  /** In kebab-case; the camelCase spelling is read too. */
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `list`: repeatable, one value each. `rules`: repeatable, each split at commas and spaces. */
  readonly kind: "flag" | "text" | "count" | "amount" | "choice" | "list" | "rules";
  readonly choices?: readonly string[];
  /** The empty text is a value. */
  readonly mayBeEmpty?: boolean;
  /** At the end, or before another option, it needs no value: then that is the empty text. */
  readonly mayBeAlone?: boolean;
  /** What the value is called in the help. */
  readonly value?: string;
  readonly help: string;
}

type ValueOf<Spec extends OptionSpec> = Spec["kind"] extends "flag"
  ? boolean
  : Spec["kind"] extends "list" | "rules"
    ? string[]
    : Spec["kind"] extends "count" | "amount"
      ? number | undefined
      : Spec["kind"] extends "choice"
        ? NonNullable<Spec["choices"]>[number] | undefined
        : string | undefined;

export type OptionValues<Table extends readonly OptionSpec[]> = {
  [Spec in Table[number] as Spec["name"]]: ValueOf<Spec>;
};

export interface ParsedArguments<Table extends readonly OptionSpec[]> {
  readonly values: OptionValues<Table>;
  readonly positionals: readonly string[];
}

/** Something about the arguments is wrong. The message is one line for the person who typed them. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function parseArguments<const Table extends readonly OptionSpec[]>(
  table: Table,
  argv: readonly string[],
): ParsedArguments<Table> {
  const byName = indexByName(table);
  const values: Record<string, unknown> = {};
  for (const spec of table) values[spec.name] = initialValue(spec);
  const positionals: string[] = [];

  for (let at = 0; at < argv.length; at++) {
    const token = argv[at] ?? "";
    if (token === "--") {
      positionals.push(...argv.slice(at + 1));
      break;
    }
    if (!token.startsWith("-") || token === "-") {
      if (token !== "") positionals.push(token);
      continue;
    }
    const { name, inline } = splitToken(token);
    const spec = byName.get(kebabOf(name)) ?? unknownOption(name, byName);
    if (spec.kind === "flag") {
      values[spec.name] = flagValue(name, inline);
      continue;
    }
    const given = inline ?? argv[++at];
    if (given === undefined || (inline === undefined && isOption(given, byName))) {
      if (spec.mayBeAlone) {
        values[spec.name] = "";
        at--;
        continue;
      }
      throw new UsageError(`${name} needs a value${expectation(spec)}`);
    }
    values[spec.name] = merge(values[spec.name], readValue(spec, name, given));
  }
  // Every name of the table was given a value of its kind above.
  return { values: values as OptionValues<Table>, positionals };
}

function indexByName(table: readonly OptionSpec[]): Map<string, OptionSpec> {
  const byName = new Map<string, OptionSpec>();
  for (const spec of table) {
    for (const name of [spec.name, ...(spec.aliases ?? [])]) byName.set(`--${name}`, spec);
    if (spec.short !== undefined) byName.set(`-${spec.short}`, spec);
  }
  return byName;
}

function initialValue(spec: OptionSpec): unknown {
  if (spec.kind === "flag") return false;
  return spec.kind === "list" || spec.kind === "rules" ? [] : undefined;
}

function splitToken(token: string): { name: string; inline: string | undefined } {
  const equals = token.indexOf("=");
  if (equals < 0) return { name: token, inline: undefined };
  return { name: token.slice(0, equals), inline: token.slice(equals + 1) };
}

function kebabOf(name: string): string {
  return name.startsWith("--")
    ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^---+/, "--")
    : name;
}

function isOption(token: string, byName: ReadonlyMap<string, OptionSpec>): boolean {
  return token.startsWith("-") && byName.has(kebabOf(splitToken(token).name));
}

function unknownOption(name: string, byName: ReadonlyMap<string, OptionSpec>): never {
  const close = nearest(kebabOf(name), [...byName.keys()]);
  throw new UsageError(`unknown option ${name}${close === undefined ? "" : ` (did you mean ${close}?)`}`);
}

function flagValue(name: string, inline: string | undefined): boolean {
  if (inline === undefined || inline === "" || inline === "true") return true;
  if (inline === "false") return false;
  throw new UsageError(`${name} takes no value, but got "${inline}"`);
}

function readValue(spec: OptionSpec, name: string, given: string): unknown {
  if (given === "" && spec.mayBeEmpty !== true)
    throw new UsageError(`${name} needs a value that is not empty`);
  switch (spec.kind) {
    case "count":
      if (!/^[1-9]\d{0,14}$/.test(given))
        throw new UsageError(`${name} must be a whole number from 1, not "${given}"`);
      return Number(given);
    case "amount":
      if (!/^\d{1,12}(\.\d+)?$|^\.\d+$/.test(given) || Number(given) <= 0)
        throw new UsageError(`${name} must be a number above 0, not "${given}"`);
      return Number(given);
    case "choice":
      if (!spec.choices?.includes(given))
        throw new UsageError(`${name} "${given}" is not known${expectation(spec)}`);
      return given;
    case "list":
      return [given];
    case "rules":
      return splitRules(given);
    default:
      return given;
  }
}

function expectation(spec: OptionSpec): string {
  return spec.choices === undefined ? "" : `: ${spec.choices.join(", ")}`;
}

function merge(before: unknown, value: unknown): unknown {
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
}

/** `Read,Bash(git log:*, -n 5) Edit` is three rules: what stands in parentheses is not split. */
export function splitRules(text: string): string[] {
  const rules: string[] = [];
  let depth = 0;
  let current = "";
  for (const character of text) {
    if (depth === 0 && (character === "," || /\s/.test(character))) {
      rules.push(current);
      current = "";
      continue;
    }
    if (character === "(") depth++;
    if (character === ")" && depth > 0) depth--;
    current += character;
  }
  rules.push(current);
  return rules.filter((rule) => rule !== "");
}
