/**
 * config/ owns what people configure: where settings come from, how they are read and merged. It must
 * not know what they are used for.
 */
import { isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { FileSystem, World } from "../base/world.ts";
import { Settings } from "../contracts/settings.ts";
import { lineAndColumn, locateJson } from "./json-positions.ts";

export interface SettingsSource {
  readonly name: "user" | "flag";
  /** A file, or undefined when the text was given on the command line. */
  readonly path: string | undefined;
  /** How messages call it. */
  readonly label: string;
}

export interface SourceContent {
  readonly settings: Settings;
  readonly warnings: readonly string[];
}

export function userSettingsPath(homeFolder: string): string {
  return join(homeFolder, ".cadre", "settings.json");
}

/** The user's own file. It may be missing. */
export async function readUserSettings(
  world: Pick<World, "files" | "homeFolder">,
): Promise<{ source: SettingsSource; content: SourceContent } | undefined> {
  const path = userSettingsPath(world.homeFolder);
  const source: SettingsSource = { name: "user", path, label: path };
  const text = await readSettingsText(world.files, source);
  return text === undefined ? undefined : { source, content: parseSettings(text, source.label) };
}

/** `--settings`: JSON when it begins with a brace, else the path of a file, which must exist. */
export async function readFlagSettings(options: {
  files: FileSystem;
  cwd: string;
  flag: string;
}): Promise<{ source: SettingsSource; content: SourceContent }> {
  if (options.flag.trimStart().startsWith("{")) {
    const source: SettingsSource = { name: "flag", path: undefined, label: "--settings" };
    return { source, content: parseSettings(options.flag, source.label) };
  }
  const path = isAbsolute(options.flag) ? options.flag : resolve(options.cwd, options.flag);
  const source: SettingsSource = { name: "flag", path, label: path };
  const text = await readSettingsText(options.files, source);
  if (text === undefined)
    throw invalid(`The settings file ${path} does not exist. Check the path given with --settings.`);
  return { source, content: parseSettings(text, source.label) };
}

async function readSettingsText(files: FileSystem, source: SettingsSource): Promise<string | undefined> {
  if (source.path === undefined) return undefined;
  try {
    return await files.readText(source.path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw invalid(`Cannot read the settings file ${source.path}: ${reasonOf(code, error)}`, error);
  }
}

function reasonOf(code: string | undefined, error: unknown): string {
  if (code === "EACCES" || code === "EPERM") return "permission denied. Make it readable for you.";
  if (code === "EISDIR") return "it is a folder, not a file.";
  return messageOf(error);
}

/** Strict about types, lenient about names: what is misspelt is reported, what is wrong stops the start. */
export function parseSettings(given: string, label: string): SourceContent {
  const text = given.replace(/^\uFEFF/, "");
  if (text.trim() === "")
    throw invalid(`${label} is empty. Write {} into it or remove it; it may have been cut off.`);
  const positions = locateJson(text);
  if (positions.errorAt !== undefined) {
    const { line, column } = lineAndColumn(text, positions.errorAt);
    throw invalid(
      `${label} is not valid JSON (line ${line}, column ${column}: ${whatStandsAt(text, positions.errorAt)}). Comments and trailing commas are not allowed.`,
    );
  }
  const value: unknown = JSON.parse(text);
  const parsed = Settings.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const { line } = lineAndColumn(text, positions.offsetOf(issue.path));
      const key = issue.path.length > 0 ? issue.path.map(String).join(".") : "the whole";
      return `${label}, line ${line}: ${key}: ${problemOf(issue)}`;
    });
    throw invalid(problems.join("\n"));
  }
  const warnings = strayKeys(Settings, value).map((key) => `${label}: ${warningFor(key)}`);
  return { settings: parsed.data, warnings };
}

function whatStandsAt(text: string, offset: number): string {
  if (offset >= text.length) return "the text ends too early";
  const rest = text.slice(offset, offset + 20).split(/[\r\n]/)[0] ?? "";
  return rest.trim() === "" ? "unexpected end of line" : `unexpected ${JSON.stringify(rest)}`;
}

function problemOf(issue: z.core.$ZodIssue): string {
  // A union only says that nothing fitted; the people who read this want to know what would.
  if (issue.code === "invalid_union" && issue.path[0] === "thinking")
    return 'expected true, false, "on", "off" or { "budgetTokens": 1024 or more }';
  if (issue.code === "invalid_union" && issue.path[0] === "services")
    return 'expected true, false or { "enabled": true or false, "tokens": a number, "usd": a number }';
  return issue.message.replace(/^Invalid input: /, "");
}

/** Keys of the settings table that this version does not act on yet. */
const laterKeys = new Set(
  (
    "effort sandbox backgroundTasks autoBackgroundMs stallMs stallAction forkSubagent staggerFanOut " +
    "hooks disableAllHooks mcpServers enabledMcpServers approvedMcpServers plugins enabledPlugins worktree merge " +
    "teams remote statusLine trace otel proxy caFile cache"
  ).split(" "),
);

function warningFor(key: string): string {
  return laterKeys.has(key)
    ? `"${key}" has no effect in this version`
    : `unknown key "${key}" is ignored (misspelt?)`;
}

/** The dotted names of keys that no schema knows. */
function strayKeys(schema: unknown, value: unknown, prefix = ""): string[] {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return [];
  const shape: Record<string, unknown> = inner.shape;
  return Object.entries(value).flatMap(([key, child]) =>
    key === "$schema"
      ? []
      : Object.hasOwn(shape, key)
        ? strayKeys(shape[key], child, `${prefix}${key}.`)
        : [prefix + key],
  );
}

function invalid(message: string, cause?: unknown): CadreError {
  return new CadreError({ code: "settings-invalid", message, cause });
}
