/** What a prompt says, in the form that rules can be written on. */
export interface Wording {
  /** The request without politeness, short forms and final punctuation, on one line, names as they were spelled. */
  readonly text: string;
  readonly lower: string;
  /** The text without "here", "in this repository" and the like at its end: every request is about this folder. */
  readonly core: string;
  /** What stands in quotes or backticks, in order. */
  readonly quoted: readonly string[];
}

const beginnings: readonly string[] = [
  "(?:hi|hello|hey|hiya|yo)(?: (?:there|cadre|again))?[,!.]*\\s+",
  "(?:ok|okay|so|well|now|then|next|also|and|alright|sorry|thanks|quick question|meanwhile|in the meantime)[,:!.]*\\s+",
  "(?:please|pls|plz|kindly)[,]?\\s+",
  "(?:can|could|would|will) (?:you|u) (?:please |pls |kindly |maybe |quickly )?",
  "(?:i(?:'d| would) like(?: you)? to|i want(?: you)? to|i need(?: you)? to|let's|let us|help me(?: to)?|try to|go ahead and|just)\\s+",
  "(?:i wonder|i was wondering|do you (?:happen to )?know|(?:do you have )?any idea|know)[,]?\\s+(?=(?:what|where|who|how|which|whether|if|when)\\b)",
  "i am (?:new|just new|quite new)(?: (?:here|to (?:this|the) \\w+))?[,.;:]+(?: and| so)?\\s+",
  // "tell me what this does" asks what this does.
  "(?:tell|show|explain|find|figure|let|remind)(?: out)?(?: (?:to )?(?:me|us))?(?: know| out)?\\s+(?=(?:what|where|who|how|which|whether|if|when)\\b)",
];
const politeBeginning = new RegExp(`^(?:${beginnings.join("|")})`, "i");
const politeEnd =
  /(?:[,\s]+(?:please|pls|plz|thanks|thank you|thx|cheers|for me|to me|right now|at the moment|exactly|actually|by the way|btw))?[\s?!.…]*$/i;

const aboutHere =
  /\s+(?:(?:in|of|from|for|inside|within|across|on|to) (?:this|the|my|our|that)(?: (?:current|whole|entire|git))?(?: (?:repo(?:sitory)?|project|code ?base|code|folder|directory|package|app|application|workspace))|(?:in )?here|in total|in all|anywhere|altogether|overall|at all)$/i;

export function readWording(prompt: string): Wording {
  // A long prompt is a task with material; the request itself stands in its first paragraph.
  const first = prompt.trim().split(/\n\s*\n/, 1)[0] ?? "";
  const line = inFull(first.replace(/\s+/g, " ").trim().slice(0, 1_000));
  const text = untilStable(line, (words) => words.replace(politeBeginning, "").replace(politeEnd, ""));
  return {
    text,
    lower: text.toLowerCase(),
    core: untilStable(text, (words) => words.replace(aboutHere, "")),
    quoted: [...text.matchAll(/`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)/g)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? "",
    ),
  };
}

/** `what's` and `whats` are `what is`; what stands in quotes is left as it is. */
function inFull(text: string): string {
  return text.replace(
    /(`[^`]*`|"[^"]*")|\b([Ww]hat|[Ww]here|[Ww]ho|[Hh]ow|[Tt]hat|[Tt]here|[Ww]hen)(?:['’]s|s)\b|\b([Ii])['’]?(m|ve)\b/g,
    (whole, quoted?: string, word?: string, _i?: string, short?: string) => {
      if (quoted !== undefined) return whole;
      return word === undefined ? `i ${short === "m" ? "am" : "have"}` : `${word} is`;
    },
  );
}

function untilStable(text: string, shorten: (text: string) => string): string {
  let rest = text;
  for (;;) {
    const shorter = shorten(rest);
    if (shorter === rest) return rest;
    rest = shorter;
  }
}

/** A name without the quotes, brackets and punctuation it was given in: `"foo()"` is foo. */
export function bareName(words: string): string {
  return words
    .trim()
    .replace(/^["'`“‘]+|["'`”’,;:?!.]+$/g, "")
    .replace(/\(\s*\)$/, "")
    .trim();
}

export function firstWords(text: string, count: number): string {
  return text.trim().split(/\s+/).slice(0, count).join(" ");
}

const articles = /^(?:the|a|an|any|all|every|each|this|that|some|my|our|its)\s+/i;

export function withoutArticle(words: string): string {
  return untilStable(words.trim(), (rest) => rest.replace(articles, ""));
}

/** `foo in src/` is foo, in the folder src. A place is a path: a word with a slash, or one that is called a folder or a file. */
export function splitPlace(words: string): { rest: string; path?: string } {
  const place =
    /^(.+?),?\s+(?:only )?(?:in|under|below|inside|within|of|from)\s+(?:the\s+)?(?:(?:file|folder|directory)\s+)?(?:`([^`]+)`|"([^"]+)"|'([^']+)'|(\S+))(?:\s+(?:folder|directory|file))?(?: only)?$/i.exec(
      words,
    );
  const path = place?.slice(2).find((part) => part !== undefined);
  if (place?.[1] === undefined || path === undefined) return { rest: words };
  return { rest: place[1], path: path.replace(/^\.\/(?=.)/, "").replace(/(.)\/+$/, "$1") };
}
