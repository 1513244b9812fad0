/** How to replace a whole word in a text by edits that are each exact and unique. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export interface WordEdits {
  readonly edits: readonly TextEdit[];
  /** Whole words replaced. */
  readonly count: number;
}

/** To be applied in order. `foobar` and `$foo` are other words than `foo`. */
export function planWordEdits(text: string, word: string, replacement: string): WordEdits {
  const whole = wordPattern(word);
  const count = [...text.matchAll(whole)].length;
  if (count === 0) return { edits: [], count };
  const everywhere = text.split(word).length - 1;
  if (everywhere === count)
    return { edits: [{ oldText: word, newText: replacement, replaceAll: true }], count };
  return { edits: planLineEdits(text, whole, replacement), count };
}

/** Unicode letters count as parts of a word, as in most languages. */
export function wordPattern(word: string): RegExp {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped}(?![\\p{L}\\p{N}_$])`, "gu");
}

/** One edit per line that holds the word, with as many lines around it as make it unique. */
function planLineEdits(original: string, whole: RegExp, replacement: string): TextEdit[] {
  const edits: TextEdit[] = [];
  const lines = original.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const renamed = line.replace(whole, () => replacement);
    if (renamed === line) continue;
    edits.push(uniqueEdit(lines, at, renamed));
    lines[at] = renamed;
  }
  return edits;
}

function uniqueEdit(lines: readonly string[], at: number, renamed: string): TextEdit {
  const text = lines.join("\n");
  for (let from = at, to = at + 1; ; ) {
    const oldText = lines.slice(from, to).join("\n");
    const isUnique = text.indexOf(oldText) === text.lastIndexOf(oldText);
    if (isUnique || (from === 0 && to === lines.length)) {
      const newText = [...lines.slice(from, at), renamed, ...lines.slice(at + 1, to)].join("\n");
      return { oldText, newText, replaceAll: false };
    }
    if (to < lines.length) to += 1;
    if (from > 0) from -= 1;
  }
}
