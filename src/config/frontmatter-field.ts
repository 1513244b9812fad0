/** What the readers of a frontmatter block pass on to each other. */

export interface FrontmatterField {
  /** Scalars, lists, and objects without a prototype. */
  readonly value: unknown;
  /** As it stands in the file: `007`, `1.10` and `[a] | [b]` are more than their values. */
  readonly source: string;
  /** Written in quotes, so that nothing in it is to be guessed. */
  readonly quoted: boolean;
  /** In the file, from 1. */
  readonly line: number;
  /** It stood there more than once, and nobody knows which one was meant. */
  readonly doubtful?: true;
}

/** What was mended, or what a person should look at. */
export interface FrontmatterRepair {
  readonly line: number;
  readonly what: string;
}

/** The lines between the fences. */
export interface FrontmatterBlock {
  readonly text: string;
  /** The line of the file in which it begins. */
  readonly firstLine: number;
}

export interface BlockReading {
  readonly fields: ReadonlyMap<string, FrontmatterField>;
  readonly repairs: readonly FrontmatterRepair[];
}

/** Nobody writes that much into a frontmatter; beyond it, only the line reader looks, whose cost is linear. */
export const maxYamlCharacters = 64 * 1024;

/** Why a block is not the YAML that we take. */
export interface BlockFailure {
  readonly line: number;
  readonly reason: string;
}

/** Spellings of one name: `allowed-tools`, `allowed_tools`, `Allowed Tools`. */
export function plainKey(key: string): string {
  return key.replaceAll(/[-_ ]/g, "").toLowerCase();
}
