/** Whether a request asks for an agent, for which one, and what that is to do. */
import type { Wording } from "../wording.ts";

export interface AgentWish {
  /** Absent: any that can do it. */
  readonly agentType?: string;
  readonly inBackground: boolean;
  /** What it shall be called. */
  readonly name?: string;
  /** In the person's words. */
  readonly task: string;
}

const builtIn = ["Explore", "Plan", "general-purpose"] as const;
const behind = "(?: in the background)?";
/** Groups: the words between the article and `agent`. */
const agent = `(?:an?|the|one|another|your|some|my)((?: [\`"']?[\\w:.-]+[\`"']?){0,3}?) (?:sub[- ]?)?agent${behind}`;
const bareAgent = `(${builtIn.join("|")})${behind}`;
const starts = "(?:ask|tell|have|let|get|use|start|launch|spawn|send|dispatch|run|employ)";
const link = "(?:,? (?:to|and|that|which|who|for|so that it|in order to)\\b|,|:)?";

/** Each has a group for the words that say which agent, and one for the task. */
const forms: readonly { pattern: RegExp; agentFirst: boolean }[] = [
  { pattern: new RegExp(`^${starts} ${agent}${link} (.+)$`, "i"), agentFirst: true },
  { pattern: new RegExp(`^${starts} ${bareAgent}${link} (.+)$`, "i"), agentFirst: true },
  { pattern: new RegExp(`^(?:with|using|through|via) ${agent},? (.+)$`, "i"), agentFirst: true },
  {
    pattern: new RegExp(
      `^(?:delegate|hand(?: over)?|give)(?: the (?:task|job|question))? to ${agent}:? (.+)$`,
      "i",
    ),
    agentFirst: true,
  },
  { pattern: new RegExp(`^delegate (.+) to ${agent}$`, "i"), agentFirst: false },
  { pattern: new RegExp(`^(.+?),? (?:with|using|through|via|by) ${agent}$`, "i"), agentFirst: false },
];

const naming = /(?<=\bagent),? (?:named|called|with the name) [`"']?([\p{L}\p{N}_.-]+?)[`"']?(?=[,:]? )/iu;

export function agentWish({ text: words }: Wording): AgentWish | undefined {
  const name = naming.exec(words)?.[1];
  const text = words.replace(naming, "");
  for (const { pattern, agentFirst } of forms) {
    const [, first, second] = pattern.exec(text) ?? [];
    if (first === undefined || second === undefined) continue;
    const [which, task] = agentFirst ? [first, second] : [second, first];
    const type = typeIn(which);
    if (type === undefined) continue;
    const inBackground = /\bin the background\b|\bbackground agent\b/i.test(text);
    return {
      ...(type === "" ? {} : { agentType: type }),
      inBackground,
      ...(name === undefined ? {} : { name }),
      task: task.replace(/,? in the background$/i, ""),
    };
  }
  return undefined;
}

const adjectives =
  /^(?:new|fresh|separate|single|second|other|different|quick|small|helper|background|child|own|extra|additional)$/i;

/** Empty: none is named. Undefined: these words are no name. */
function typeIn(words: string): string | undefined {
  const names = words
    .split(" ")
    .map((word) => word.replace(/^[`"']|[`"']$/g, ""))
    .filter((word) => word !== "" && !adjectives.test(word));
  const [name, ...others] = names;
  if (others.length > 0) return undefined;
  return builtIn.find((known) => known.toLowerCase() === name?.toLowerCase()) ?? name ?? "";
}

const ending =
  /,?(?: and)? (?:report(?: back)?(?: to me)?|tell me(?: what (?:it|you) (?:finds?|found|says?))?|give me (?:its|the) (?:answer|report))$/i;

/** What may be meant, as a request of its own: as it stands, without the end that is meant for us, as a direct question. */
export function readings(task: string): string[] {
  const shorter = task.replace(ending, "");
  const forms = [task, shorter].flatMap((words) => [words, asked(words), sentInto(words)]);
  return [...new Set(forms.filter((words) => words !== undefined))];
}

/** "where the parser is" asks "where is the parser". */
function asked(words: string): string | undefined {
  const [, question, subject, verb] = /^(where|what|who|which) (.+) (is|are)$/i.exec(words) ?? [];
  return question === undefined ? undefined : `${question} ${verb} ${subject}`;
}

/** "send an agent into src" asks it to explore src. */
function sentInto(words: string): string | undefined {
  const place = /^(?:into|to|through|over) (.+)$/i.exec(words)?.[1];
  return place === undefined ? undefined : `explore ${place}`;
}
