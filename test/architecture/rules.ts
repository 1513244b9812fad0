/**
 * The rules that hold the sources together, as one pure function from files to violations. Where a linter
 * can say the same, it does so in the editor; here it holds for whoever runs the tests.
 */
import { findDoorViolations } from "./door.ts";
import { findCycles, type ParsedFile, parseFile, type SourceFile } from "./imports.ts";

export interface Violation {
  readonly path: string;
  readonly rule: "layers" | "cycle" | "door" | "default-export" | "length" | "barrel";
  readonly message: string;
}

/** A folder may import itself and folders of strictly lower layers. */
const layers: Readonly<Record<string, number>> = {
  base: 0,
  contracts: 1,
  model: 2,
  tools: 2,
  permissions: 2,
  hooks: 2,
  tasks: 2,
  transcript: 2,
  workspace: 2,
  config: 2,
  loop: 3,
  toolbox: 3,
  mcp: 3,
  skills: 3,
  memory: 3,
  agents: 4,
  commands: 5,
  services: 5,
  teams: 5,
  remote: 5,
  runtime: 6,
  surfaces: 7,
  cli: 8,
};

const entryPoints = ["src/index.ts", "src/testing/index.ts"];
const mostLines = { code: 450, test: 900 };

export function findViolations(files: readonly SourceFile[]): Violation[] {
  const parsed = files.map(parseFile);
  const code = parsed.filter((file) => !isTest(file.path));
  return [
    ...parsed.flatMap(checkLength),
    ...code.flatMap((file) => [
      ...checkLayers(file),
      ...findDoorViolations(file).map((message) => ({ path: file.path, rule: "door" as const, message })),
      ...checkDefaultExport(file),
      ...checkBarrel(file),
    ]),
    ...findCycles(code).map((cycle) => ({
      path: cycle[0] ?? "",
      rule: "cycle" as const,
      message: `imports itself: ${cycle.join(" -> ")}`,
    })),
  ];
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}

function checkLength({ path, text }: ParsedFile): Violation[] {
  const lines = text.trimEnd().split("\n").length;
  const most = isTest(path) ? mostLines.test : mostLines.code;
  if (lines <= most) return [];
  return [
    {
      path,
      rule: "length",
      message: `has ${lines} lines, more than ${most}: look for the second concept in it`,
    },
  ];
}

function checkLayers(file: ParsedFile): Violation[] {
  const violation = (message: string): Violation => ({ path: file.path, rule: "layers", message });
  const own = folderOf(file.path);
  if (own !== undefined && own !== "testing" && layers[own] === undefined) {
    return [
      violation(`is in src/${own}, which has no layer: add it to the table in test/architecture/rules.ts`),
    ];
  }
  return file.imports.flatMap(({ specifier, path }) => {
    if (path === undefined) return [];
    const problem = problemOfImport(own, path);
    return problem === undefined ? [] : [violation(`imports ${specifier}: ${problem}`)];
  });
}

function problemOfImport(own: string | undefined, path: string): string | undefined {
  if (!path.startsWith("src/")) return "it lies outside src";
  if (!path.endsWith(".ts") && !path.endsWith(".tsx")) return "write the extension, .ts";
  if (entryPoints.includes(path)) return "it is an entry point; import the file that defines what you need";
  if (isTest(path)) return "it is a test";
  const other = folderOf(path);
  if (own === "testing" || own === other) return undefined;
  if (other === "testing") return "only tests import testing";
  if (other === undefined || layers[other] === undefined) return "it is in no known folder";
  // src/index.ts offers the library; the command is not part of it.
  if (own === undefined) return other === "cli" ? "the library does not contain the command" : undefined;
  const [mine, theirs] = [layers[own] ?? 0, layers[other]];
  if (theirs < mine) return undefined;
  if (theirs === mine) return `${own} and ${other} are siblings of layer ${mine}`;
  return `${own} (layer ${mine}) is below ${other} (layer ${theirs})`;
}

/** `loop` of `src/loop/turn.ts`; undefined for a file directly in src. */
function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

function checkDefaultExport({ path, code }: ParsedFile): Violation[] {
  if (!/\bexport\s+default\b|\bas\s+default\s*[,}]/.test(code)) return [];
  return [{ path, rule: "default-export", message: "has a default export: name it" }];
}

function checkBarrel({ path, code, text }: ParsedFile): Violation[] {
  const violation = (message: string): Violation[] => [{ path, rule: "barrel", message }];
  if (/\bexport\s*\*/.test(code)) return violation("exports *: name what it exports");
  if (entryPoints.includes(path)) return [];
  if (/(?:^|\/)index\.tsx?$/.test(path)) return violation("is a barrel: only entry points are called index");
  const passedOn = [...code.matchAll(/\bexport\s+(?:type\s+)?\{[^}]*\}\s*from\s*["']/g)];
  // A package may be passed on in part: that is how a bundle leaves out the rest of it.
  if (passedOn.some((match) => text[match.index + match[0].length] === ".")) {
    return violation("passes on what another file defines: import it from there");
  }
  return [];
}
