/** Which part of the history a request asks for. */
import { splitPlace, type Wording } from "../wording.ts";

export type ChangesRequest =
  | { readonly kind: "branch" }
  | { readonly kind: "authors" }
  | {
      readonly kind: "commits";
      readonly count: number;
      /** A date for `git log --since`, in words that git knows. */
      readonly since?: string;
      /** A tag, branch or hash: what came after it. */
      readonly range?: string;
      readonly author?: string;
      readonly path?: string;
    };

export const mostCommits = 200;

const here =
  "(?:(?:(?:this|the|my|our) )+(?:repo(?:sitory)?|project|code ?base|code|folder|app|package)|this|it|here)";
const asksForBranch =
  /^(?:(?:on )?(?:what|which)(?: git)? branch(?: (?:am i|are we|is this|is it|is that|do we have|is checked out))*(?: on)?|(?:what is )?(?:the |my )?current branch|git branch|branch)$/i;
const asksForAuthors = new RegExp(
  `^(?:who (?:works?|worked|is working|has worked|contributes?|contributed|wrote|made|maintains?|develops?|built|created|owns?)(?: (?:on|to|for))?(?: ${here})?|(?:who are|list|show|name)(?: all)?(?: the)? (?:authors|contributors|maintainers|developers|committers)(?: of ${here})?|(?:authors|contributors))$`,
  "i",
);
const asksForLast =
  /^(?:(?:what|when|who|which) (?:was|is|were|made|did)(?: in)?|show|describe|summari[sz]e|git show)?(?: the| me the)? ?(?:very )?(?:last|latest|most recent|newest) (?:commit|change|update)(?: (?:about|made|done))?$|^when (?:was|did) (?:this|it|the (?:repo(?:sitory)?|project|code))(?: was)? (?:last )?(?:updated|changed|touched|change)(?: last)?$/i;
const asksWhetherActive = new RegExp(
  `^is ${here} (?:still )?(?:active|alive|maintained|dead|abandoned|developed|being (?:maintained|developed|worked on))$`,
  "i",
);
const subject = new RegExp(
  [
    "^(?:what|anything|which files|who)(?: is| has| have| was| did| were| are)?(?: been)? ?(?:changed?(?: what)?|new|happen(?:ed|ing|s)|going on|worked on|done|up)(?: most(?: often)?)?",
    "^(?:show|list|give|summari[sz]e|tell|describe)(?: me)?(?: (?:about|the|all|an overview of|a summary of))*(?: (?:git|recent|latest|last|newest|\\d+))* ?(?:changes|commits|history|log|activity|work)",
    "^(?:the )?(?:recent|latest|last|newest)(?: \\d+)? (?:changes|commits?|activity|work)",
    "^(?:the )?(?:git )?(?:log|history)|^(?:the )?(?:recent )?activity",
    "^which files? (?:are |is |get |gets )?changed?(?: the)? most(?: often)?",
  ].join("|"),
  "i",
);
/** All that may follow: any other word makes it a question that is not understood. */
const restOfQuestion =
  /^(?:[\s,]*(?:lately|recently|today|yesterday|here|now|so far|with this|since (?:yesterday|last week|last month|today)|(?:in |during |over |of |since |from )?(?:the )?(?:this|last|past) (?:\d+ )?(?:days?|weeks?|months?|years?|commits?)|(?:in|of|to|for) (?:this|the|my|our) (?:repo(?:sitory)?|project|code ?base|code|folder)))*$/i;
const asksForPerson =
  /^what (?:did|has|have|was) ([\p{L}][\p{L}.'-]*(?: [\p{Lu}][\p{L}.'-]*)?) (?:do|done|doing|changed?|commit(?:ted)?|worked? on|been doing|been up to)(.*)$/iu;
const notPersons = /^(?:i|we|you|it|this|they|he|she|that|the|someone|anyone|who|people)$/i;
const sinceName =
  /^(.*?\b(?:changed|new|happened|changes|commits|done))\s+since ((?:v|release[-/]?)?\d[\w.-]*|HEAD[~^\d]*|[0-9a-f]{7,40}|[\w.-]+\/[\w./-]+)$/i;

export function understandChanges(wording: Wording): ChangesRequest | undefined {
  const { text, core } = wording;
  if (asksForBranch.test(core) || asksForBranch.test(text)) return { kind: "branch" };
  if (asksForAuthors.test(text) || asksForAuthors.test(core)) return { kind: "authors" };
  if (asksForLast.test(core) || asksForLast.test(text)) return { kind: "commits", count: 1 };
  if (asksWhetherActive.test(text)) return { kind: "commits", count: 5 };
  const person = asksForPerson.exec(text);
  if (person?.[1] !== undefined && !notPersons.test(person[1]) && restOfQuestion.test(person[2] ?? ""))
    return commitsIn(person[2] ?? "", { author: person[1] });
  const since = sinceName.exec(text);
  if (since?.[1] !== undefined && since[2] !== undefined && asksForChanges(since[1]))
    return commitsIn(since[1], { range: since[2] });
  if (asksForChanges(text)) return commitsIn(text, {});
  const { rest, path } = splitPlace(
    text
      .replace(/^(.*\b(?:changes|commits)) to (\S+)$/i, "$1 in $2")
      .replace(/^(who) changed (\S+[./]\S+)$/i, "$1 changed in $2"),
  );
  const isPath = path !== undefined && /[/.]/.test(path);
  return isPath && asksForChanges(rest) ? commitsIn(rest, { path }) : undefined;
}

function asksForChanges(text: string): boolean {
  const asked = subject.exec(text)?.[0];
  return asked !== undefined && restOfQuestion.test(text.slice(asked.length));
}

function commitsIn(text: string, scope: { author?: string; range?: string; path?: string }): ChangesRequest {
  const lower = text.toLowerCase();
  const count = Number(
    /\b(\d+) (?:recent |latest |last |newest )?(?:commits|changes)\b/.exec(lower)?.[1] ?? 20,
  );
  const since = sinceIn(lower);
  return {
    kind: "commits",
    count: Math.max(1, Math.min(count, mostCommits)),
    ...(since === undefined ? {} : { since }),
    ...scope,
  };
}

function sinceIn(text: string): string | undefined {
  if (/\btoday\b/.test(text)) return "midnight";
  if (/\byesterday\b/.test(text)) return "yesterday";
  const span = /\b(?:this|last|past) (\d+ )?(day|week|month|year)s?\b/.exec(text);
  return span === null ? undefined : `${span[1]?.trim() ?? 1} ${span[2]} ago`;
}
