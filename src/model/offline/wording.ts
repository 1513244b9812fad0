/** What a prompt says, in the form that rules can be written on. */
export interface Wording {
  /** The request without polite beginnings and final punctuation, on one line, as it was spelled. */
  readonly text: string;
  readonly lower: string;
  /** What stands in quotes or backticks, in order. */
  readonly quoted: readonly string[];
}

const politeness =
  /^(?:(?:hi|hello|hey)(?: there)?[,!.]?\s+|(?:ok|okay|so|well|now|then|next|also)[,]?\s+|please[,]?\s+|(?:can|could|would|will) you (?:please |kindly )?|(?:i(?:'d| would) like(?: you)? to|i want(?: you)? to|i need(?: you)? to|let's|let us|help me(?: to)?|try to|go ahead and|just)\s+)/i;

export function readWording(prompt: string): Wording {
  // A long prompt is a task with material; the request itself stands in its first paragraph.
  const first = prompt.trim().split(/\n\s*\n/, 1)[0] ?? "";
  let text = first.replace(/\s+/g, " ").trim().slice(0, 1_000);
  for (;;) {
    const shorter = text.replace(politeness, "");
    if (shorter === text) break;
    text = shorter;
  }
  text = text.replace(/(?:,?\s*(?:please|thanks|thank you))?[\s?!.]*$/i, "");
  return {
    text,
    lower: text.toLowerCase(),
    quoted: [...text.matchAll(/`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)/g)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? "",
    ),
  };
}

/** A name without the quotes, brackets and punctuation it was given in: `"foo()"` is foo. */
export function bareName(words: string): string {
  return words
    .trim()
    .replace(/^["'`“‘]+|["'`”’,;:?!.]+$/g, "")
    .replace(/\(\s*\)$/, "")
    .trim();
}

const articles = /^(?:the|a|an|any|all|every|each|this|that|some|my|our|its)\s+/i;

export function withoutArticle(words: string): string {
  let rest = words.trim();
  for (;;) {
    const shorter = rest.replace(articles, "");
    if (shorter === rest) return rest;
    rest = shorter;
  }
}
