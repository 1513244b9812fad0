/** Manifests that state their commands or their metadata: package.json, Cargo.toml, go.mod, pyproject.toml. */
import type { FolderView, FoundCommand } from "./project-command.ts";

export interface PackageManifest {
  readonly name?: string;
  readonly description?: string;
  readonly license?: string;
  readonly private: boolean;
  readonly main?: string;
  readonly bin: readonly (readonly [string, string])[];
  readonly exports: readonly PackageExport[];
  readonly packageManager?: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly workspaces: readonly string[];
}

export interface PackageExport {
  /** `.` or `./part`. */
  readonly subpath: string;
  /** For the different ways to import it, in the order in which they are named. */
  readonly targets: readonly string[];
}

/** Undefined when it is not valid JSON. */
export function parsePackage(lines: readonly string[]): PackageManifest | undefined {
  let json: unknown;
  try {
    json = JSON.parse(lines.join("\n"));
  } catch {
    return undefined;
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const fields = json as Record<string, unknown>;
  const name = stringOf(fields.name);
  return {
    name,
    description: stringOf(fields.description),
    license: stringOf(fields.license),
    private: fields.private === true,
    main: stringOf(fields.main) ?? stringOf(fields.module),
    bin: binOf(fields.bin, name),
    exports: exportsOf(fields.exports),
    scripts: stringsOf(fields.scripts),
    workspaces: workspacesOf(fields.workspaces),
    packageManager: stringOf(fields.packageManager),
  };
}

export function packageCommands(view: FolderView): FoundCommand[] {
  const lines = view.lines("package.json");
  const manifest = lines === undefined ? undefined : parsePackage(lines);
  if (manifest === undefined) return [];
  const runner = packageRunner(view, manifest);
  const commands: FoundCommand[] = [];
  const from = "package.json";
  if (manifest.scripts.build !== undefined)
    commands.push({ purpose: "build", command: `${runner} run build`, from });
  const test = manifest.scripts.test;
  if (test !== undefined && !/no test specified/.test(test))
    commands.push({ purpose: "test", command: runner === "bun" ? "bun run test" : `${runner} test`, from });
  return commands;
}

function packageRunner(view: FolderView, manifest: PackageManifest): string {
  const stated = /^(npm|pnpm|yarn|bun)@/.exec(manifest.packageManager ?? "")?.[1];
  if (stated !== undefined) return stated;
  if (view.has("pnpm-lock.yaml")) return "pnpm";
  if (view.has("yarn.lock")) return "yarn";
  if (view.has("bun.lockb") || view.has("bun.lock")) return "bun";
  return "npm";
}

export function cargoCommands(view: FolderView): FoundCommand[] {
  const lines = view.lines("Cargo.toml");
  if (lines === undefined) return [];
  const everything = parseToml(lines).has("workspace") ? " --workspace" : "";
  return [
    { purpose: "build", command: `cargo build${everything}`, from: "Cargo.toml" },
    { purpose: "test", command: `cargo test${everything}`, from: "Cargo.toml" },
  ];
}

export function goCommands(view: FolderView): FoundCommand[] {
  if (view.lines("go.mod") === undefined) return [];
  const tested = view.some((path) => path.endsWith("_test.go"));
  return [
    { purpose: "build", command: "go build ./...", from: "go.mod" },
    ...(tested
      ? [{ purpose: "test" as const, command: "go test ./...", from: "go.mod and *_test.go files" }]
      : []),
  ];
}

/** Sections with their `key = value` lines, values as they are written. Enough for manifests; not all of TOML. */
export function parseToml(lines: readonly string[]): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>([["", new Map()]]);
  let section = sections.get("") ?? new Map<string, string>();
  for (const line of lines) {
    const header = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(line)?.[1];
    if (header !== undefined) {
      section = sections.get(header) ?? new Map();
      sections.set(header, section);
      continue;
    }
    const pair = /^\s*["']?([\w.-]+)["']?\s*=\s*(.+?)\s*$/.exec(line);
    if (pair?.[1] !== undefined && pair[2] !== undefined) section.set(pair[1], pair[2]);
  }
  return sections;
}

/** The string that a TOML value holds, if it is one. */
export function tomlString(value: string | undefined): string | undefined {
  return value === undefined
    ? undefined
    : /^"([^"]*)"|^'([^']*)'/
        .exec(value)
        ?.slice(1)
        .find((part) => part !== undefined);
}

function binOf(value: unknown, name: string | undefined): (readonly [string, string])[] {
  if (Array.isArray(value))
    return value.filter((entry) => typeof entry === "string").map((path) => [path, path] as const);
  if (typeof value === "string") return [[name?.replace(/^@[^/]*\//, "") ?? "bin", value]];
  return Object.entries(stringsOf(value));
}

function exportsOf(value: unknown): PackageExport[] {
  const isBySubpath =
    typeof value === "object" && value !== null && Object.keys(value).some((key) => key.startsWith("."));
  const entries = isBySubpath ? Object.entries(value) : [[".", value] as const];
  return entries.map(([subpath, target]) => ({ subpath, targets: [...new Set(targetsIn(target))] }));
}

function targetsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(targetsIn);
}

function workspacesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === "string");
  if (typeof value !== "object" || value === null) return [];
  return workspacesOf((value as Record<string, unknown>).packages);
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function stringsOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
