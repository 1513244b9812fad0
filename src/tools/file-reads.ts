/** Which files this agent has seen, and in which state: the ground for "read it again before you edit" (LO-19). */
export interface FileReads {
  /** `hash` of the whole file's bytes as they were when the agent saw them. */
  record(path: string, hash: string): void;
  hashOf(path: string): string | undefined;
  /** Most recent last. */
  paths(): string[];
  /** For forks, which know what their parent has read. */
  copy(): FileReads;
}

export function createFileReads(seen: Iterable<readonly [string, string]> = []): FileReads {
  const hashes = new Map(seen);
  return {
    record(path, hash) {
      hashes.delete(path);
      hashes.set(path, hash);
    },
    hashOf: (path) => hashes.get(path),
    paths: () => [...hashes.keys()],
    copy: () => createFileReads(hashes),
  };
}
