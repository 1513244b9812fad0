import { posix } from "node:path";
import { blankSource } from "./blank-source.ts";

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface ParsedFile extends SourceFile {
  readonly code: string;
  /** Everything it imports or re-exports, types included. */
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  /** From the root of the repository; undefined for a package. */
  readonly path?: string;
  /** The names between braces, if that is all it imports. */
  readonly names?: readonly string[];
}

const importPattern =
  /(?:\bimport\s+(?:type\s+)?\{(?<names>[^}]*)\}\s*)?\bfrom\s*(?<quote>["'])|\bimport\s*\(?\s*(?<quoteAlone>["'])/g;

export function parseFile(file: SourceFile): ParsedFile {
  const code = blankSource(file.text);
  const imports = [...code.matchAll(importPattern)].map((match) => {
    const { names, quote, quoteAlone } = match.groups ?? {};
    const start = match.index + match[0].length;
    const specifier = file.text.slice(start, code.indexOf(quote ?? quoteAlone ?? "", start));
    return {
      specifier,
      path: resolve(file.path, specifier),
      names: names === undefined ? undefined : splitNames(names),
    };
  });
  return { ...file, code, imports };
}

function splitNames(names: string): string[] {
  const words = names.split(",").map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, ""));
  return words.filter((word) => word !== "");
}

function resolve(from: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : undefined;
}

/** Groups of files that import each other in a circle, types included. */
export function findCycles(files: readonly ParsedFile[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[][] = [];

  const visit = (path: string, trail: readonly string[]) => {
    const known = trail.indexOf(path);
    if (known >= 0) {
      cycles.push([...trail.slice(known), path]);
      return;
    }
    if (done.has(path)) return;
    const next = byPath.get(path)?.imports ?? [];
    for (const { path: target } of next) if (target !== undefined) visit(target, [...trail, path]);
    done.add(path);
  };

  for (const { path } of files) visit(path, []);
  return cycles;
}
