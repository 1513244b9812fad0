/** What a unified diff adds, line by line. */
export interface AddedLine {
  /** In the new file, 1-based. */
  readonly line: number;
  readonly text: string;
}

export interface FileDiff {
  readonly path: string;
  readonly added: readonly AddedLine[];
  readonly addedCount: number;
  readonly removedCount: number;
  readonly isNew: boolean;
  readonly isDeleted: boolean;
  readonly isBinary: boolean;
  /** Not all of it could be seen. */
  readonly cut: boolean;
}

/** Reads the diff of one file, as `git diff --unified=0` prints it. */
export function addedLinesOf(diff: string): AddedLine[] {
  const added: AddedLine[] = [];
  let line = 0;
  let inHunk = false;
  for (const text of diff.split("\n")) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)?.[1];
    if (hunk !== undefined) {
      line = Number(hunk);
      inHunk = true;
    } else if (inHunk && text.startsWith("+")) {
      added.push({ line, text: text.slice(1).replace(/\r$/, "") });
      line += 1;
    } else if (inHunk && text.startsWith(" ")) line += 1;
  }
  return added;
}
