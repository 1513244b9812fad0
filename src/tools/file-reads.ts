/** Which files this agent has seen, and in which state: the ground for "read it again before you edit" (LO-19). */
export interface FileReads {
  /** `hash` of the whole file's bytes as they were when the agent saw them. */
  record(path: string, hash: string): void;
  hashOf(path: string): string | undefined;
  /** Most recent last. */
  paths(): string[];
  /** Nothing of what was seen is before the agent any longer. */
  forget(): void;
  /** For forks, which know what their parent has read. */
  copy(): FileReads;
}

export function createFileReads(seen: Iterable<readonly [string, string]> = []): FileReads {
  const reads = new HashedReads();
  for (const [path, hash] of seen) reads.record(path, hash);
  return reads;
}

/** A class, and empty at first: every agent has one. */
class HashedReads implements FileReads {
  #hashes: Map<string, string> | undefined;

  record(path: string, hash: string): void {
    this.#hashes ??= new Map();
    this.#hashes.delete(path);
    this.#hashes.set(path, hash);
  }

  hashOf(path: string): string | undefined {
    return this.#hashes?.get(path);
  }

  paths(): string[] {
    return [...(this.#hashes?.keys() ?? [])];
  }

  forget(): void {
    this.#hashes = undefined;
  }

  copy(): FileReads {
    return createFileReads(this.#hashes);
  }
}
