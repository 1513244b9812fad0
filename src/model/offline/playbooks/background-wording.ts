/** Whether a request asks for work beside the conversation, and for what. */
import type { Wording } from "../wording.ts";

export interface BackgroundWish {
  /** In the person's words. */
  readonly task: string;
  /** A command that was given word for word. */
  readonly command?: string;
}

const beside = "(?:(?:in|on) (?:the )?background|as an? background (?:task|job|process))";
/** What is said of the end: it is told in any case. */
const tellMe =
  "(?:,? and (?:then )?(?:report(?: back)?(?: to me)?|(?:tell|notify|inform|let) me(?: know)?(?: (?:when|once|if|what|how) (?:it|they|that|you|comes|came)\\b.*| about it| the (?:result|outcome)s?)?|say (?:when|what|how) (?:it|they|that)\\b.*))?";

const forms: readonly RegExp[] = [
  new RegExp(`^(.+?),? ${beside}${tellMe}$`, "i"),
  new RegExp(`^${beside}[,:]? (.+?)${tellMe}$`, "i"),
  new RegExp(
    `^(?:start|run|launch) an? background (?:task|job|process)(?: (?:to|that|which)|:)? (.+?)${tellMe}$`,
    "i",
  ),
];

export function backgroundWish({ text }: Wording): BackgroundWish | undefined {
  const task = forms.map((form) => form.exec(text)?.[1]).find((words) => words !== undefined);
  if (task === undefined) return undefined;
  const command = commandIn(task);
  return { task, ...(command === undefined ? {} : { command }) };
}

/** Only in quotes: other words are not meant for a shell. */
function commandIn(task: string): string | undefined {
  const [, ticked, quoted] =
    /^(?:run|start|execute|launch)(?: the)?(?: (?:shell )?command)? (?:`([^`]+)`|"([^"]+)")$/i.exec(task) ??
    [];
  const command = (ticked ?? quoted)?.trim();
  return command === "" ? undefined : command;
}
