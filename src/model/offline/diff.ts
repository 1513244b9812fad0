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

/** The files of a whole diff, as git prints it. */
export function filesInDiff(text: string): FileDiff[] {
  return text.split(/^(?=diff --git )/m).flatMap((part) => {
    if (!part.startsWith("diff --git ")) return [];
    const head = part.split(/^@@ /m, 1)[0] ?? "";
    const added = addedLinesOf(part);
    const body = part.slice(head.length).split("\n");
    return [
      {
        path: pathIn(head),
        added,
        addedCount: added.length,
        removedCount: body.filter((line) => line.startsWith("-")).length,
        isNew: /^new file mode/m.test(head),
        isDeleted: /^deleted file mode/m.test(head),
        isBinary: /^(?:Binary files |GIT binary patch)/m.test(head),
        cut: false,
      },
    ];
  });
}

/** Of a file that was deleted, the name it had. */
function pathIn(head: string): string {
  const named = (mark: string) =>
    new RegExp(`^${mark} ("?)(?:[a-z]/)?(.*?)\\1\\t?$`, "m").exec(head)?.[2]?.replace(/^\/dev\/null$/, "");
  return (
    named("\\+\\+\\+") || named("---") || /^diff --git "?a\/(.*?)"? "?b\//.exec(head)?.[1] || "(no name)"
  );
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
