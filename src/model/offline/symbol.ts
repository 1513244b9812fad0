/** Where a name is defined: Grep proposes, the outline of the file confirms. */
import { type Definition, definitionPattern, hasGrammar, outlineOf } from "./outline.ts";
import type { Asking } from "./playbook.ts";
import { grep, readAll } from "./tool-calls.ts";

export interface FoundDefinition {
  readonly path: string;
  readonly definition: Definition;
  readonly lines: readonly string[];
}

const fileLimit = 20;

export function* findDefinitions(name: string, text?: string): Asking<FoundDefinition[]> {
  const { matches } = yield* grep({ pattern: definitionPattern(name) }, { text });
  const paths = [...new Set(matches.map((match) => match.path))]
    .filter(hasGrammar)
    .sort()
    .slice(0, fileLimit);
  const files = yield* readAll(paths.map((path) => ({ file_path: path })));
  return paths.flatMap((path, index) => {
    const lines = files[index]?.lines ?? [];
    const definitions = outlineOf(path, lines) ?? [];
    return definitions.filter((one) => one.name === name).map((definition) => ({ path, definition, lines }));
  });
}
