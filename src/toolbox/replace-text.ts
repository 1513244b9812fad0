/**
 * Exact replacement in a text whose lines may end in any mix of LF and CRLF. A model does not see line
 * endings, so a line feed in `oldText` stands for either. Everything outside the matches stays as it is.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Matches of `oldText`, first to last, overlapping ones included: two that overlap are still two places. */
export function findMatches(text: string, oldText: string): Span[] {
  const exact = findLiteral(text, oldText);
  // A carriage return in `oldText` that matches as it stands is meant as it stands.
  if (exact.length > 0 && oldText.includes("\r")) return exact;
  const wanted = oldText.replaceAll("\r\n", "\n");
  if (!wanted.includes("\n") || !text.includes("\r\n"))
    return wanted === oldText ? exact : findLiteral(text, wanted);
  return findAnyEnding(text, wanted);
}

function findLiteral(text: string, wanted: string): Span[] {
  const matches: Span[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1))
    matches.push({ start: at, end: at + wanted.length });
  return matches;
}

function findAnyEnding(text: string, wanted: string): Span[] {
  const source = wanted.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll("\n", "\\r?\\n");
  const pattern = new RegExp(source, "g");
  const matches: Span[] = [];
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    // The line feed of a CRLF alone is the same place as the CRLF.
    const isHalf = text[match.index] === "\n" && text[match.index - 1] === "\r";
    if (!isHalf) matches.push({ start: match.index, end: match.index + match[0].length });
    pattern.lastIndex = match.index + 1;
  }
  return matches;
}

/** The spans that can be replaced together, taken from the left. */
export function withoutOverlaps(matches: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const match of matches) if (match.start >= (kept.at(-1)?.end ?? 0)) kept.push(match);
  return kept;
}

export interface Replacement {
  readonly text: string;
  /** Where the new text stands in `text`, one span per replaced one. */
  readonly spans: readonly Span[];
}

/** `newText` is literal; only its line ends are fitted to those of the lines it stands among. */
export function replaceSpans(options: {
  text: string;
  spans: readonly Span[];
  oldText: string;
  newText: string;
}): Replacement {
  const { text, spans, oldText, newText } = options;
  const parts: string[] = [];
  const placed: Span[] = [];
  let copied = 0;
  let length = 0;
  for (const span of spans) {
    const isLiteral = oldText.includes("\r") && text.slice(span.start, span.end) === oldText;
    const inserted = isLiteral ? newText : fitLineEnds({ text, span, oldText, newText });
    parts.push(text.slice(copied, span.start), inserted);
    const start = length + span.start - copied;
    length = start + inserted.length;
    placed.push({ start, end: length });
    copied = span.end;
  }
  parts.push(text.slice(copied));
  return { text: parts.join(""), spans: placed };
}

function fitLineEnds(options: { text: string; span: Span; oldText: string; newText: string }): string {
  const { text, span, oldText, newText } = options;
  if (!newText.includes("\n")) return newText;
  if (!text.includes("\r\n")) return oldText.includes("\r\n") ? newText.replaceAll("\r\n", "\n") : newText;
  const replaced = text.slice(span.start, span.end).match(/\r?\n/g) ?? [];
  const around = lineEndAround(text, span);
  // The nth line end takes the form of the nth that was there, so that an edit within mixed lines keeps them.
  let index = 0;
  return newText.replaceAll(/\r?\n/g, () => replaced[index++] ?? replaced.at(-1) ?? around);
}

function lineEndAround(text: string, span: Span): string {
  const after = text.indexOf("\n", span.end);
  const lineFeed = after === -1 ? text.lastIndexOf("\n", span.start - 1) : after;
  return text[lineFeed - 1] === "\r" ? "\r\n" : "\n";
}
