/**
 * The source with comments, strings and regular expressions blanked out, character for character, so that
 * a search finds code only and offsets stay those of the original. Code inside `${}` stays.
 */
export function blankSource(source: string): string {
  const out = source.split("");
  // Open template literals, each with the depth of the braces inside its current `${}`.
  const templates: number[] = [];
  let at = 0;

  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== "\n") out[i] = " ";
  };
  const blankThrough = (end: number) => {
    blank(at, end);
    at = end;
  };
  const skipTemplateText = () => {
    const end = endOfTemplateText(source, at);
    blank(at, end);
    if (source.startsWith("${", end)) templates.push(0);
    at = end + (source.startsWith("${", end) ? 2 : 1);
  };

  while (at < source.length) {
    const char = source[at];
    if (source.startsWith("//", at)) blankThrough(indexOrEnd(source, "\n", at));
    else if (source.startsWith("/*", at)) blankThrough(indexOrEnd(source, "*/", at) + 2);
    else if (char === '"' || char === "'") {
      const end = endOfQuoted(source, at + 1, char);
      blank(at + 1, end);
      at = end + 1;
    } else if (char === "`") {
      at++;
      skipTemplateText();
    } else if (char === "/" && startsRegex(out, at)) blankThrough(endOfRegex(source, at + 1) + 1);
    else if (char === "}" && templates.at(-1) === 0) {
      templates.pop();
      at++;
      skipTemplateText();
    } else {
      const depth = templates.at(-1);
      if (depth !== undefined && (char === "{" || char === "}")) {
        templates[templates.length - 1] = depth + (char === "{" ? 1 : -1);
      }
      at++;
    }
  }
  return out.join("");
}

function indexOrEnd(source: string, text: string, from: number): number {
  const at = source.indexOf(text, from);
  return at < 0 ? source.length : at;
}

function endOfQuoted(source: string, from: number, quote: string): number {
  let at = from;
  while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
  return at;
}

function endOfTemplateText(source: string, from: number): number {
  let at = from;
  while (at < source.length && source[at] !== "`" && !source.startsWith("${", at)) {
    at += source[at] === "\\" ? 2 : 1;
  }
  return at;
}

function endOfRegex(source: string, from: number): number {
  let inClass = false;
  let at = from;
  for (; at < source.length && source[at] !== "\n"; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "[") inClass = true;
    else if (source[at] === "]") inClass = false;
    else if (source[at] === "/" && !inClass) break;
  }
  return at;
}

/** After a value a slash divides; after an operator or a keyword it opens a regular expression. */
function startsRegex(out: readonly string[], at: number): boolean {
  const before = out
    .slice(Math.max(0, at - 40), at)
    .join("")
    .trimEnd();
  if (before === "") return true;
  if (/(?:^|[^\w$.])(?:return|typeof|case|await|yield|in|of|else|void|delete)$/.test(before)) return true;
  return /[=([{,;:!&|?+\-*%<>~^]$/.test(before);
}
