/** What the runtime says to a model in tags, as values. What stands in them was escaped: it cannot close its tag. */

export interface TaskNotification {
  readonly taskId: string | undefined;
  readonly status: string | undefined;
  readonly summary: string | undefined;
  readonly result: string | undefined;
}

export interface ReceivedMessage {
  readonly from: string;
  /** Absent: the main agent, or somebody who is no agent. */
  readonly id: string | undefined;
  readonly text: string;
}

export function readNotifications(text: string): TaskNotification[] {
  return insidesOf(text, "task-notification").map(({ inside }) => ({
    taskId: inTag(inside, "task-id"),
    status: inTag(inside, "status"),
    summary: inTag(inside, "summary"),
    result: inTag(inside, "result"),
  }));
}

export function readAgentMessages(text: string): ReceivedMessage[] {
  return insidesOf(text, "agent-message").map(({ attributes, inside }) => ({
    from: attributeOf(attributes, "from") ?? "",
    id: attributeOf(attributes, "id"),
    text: unescaped(inside.trim()),
  }));
}

/** The main agent has a name that no other can have, and no id. What it says to an agent is a task. */
export function isFromMain({ from, id }: Pick<ReceivedMessage, "from" | "id">): boolean {
  return from === "main" && id === undefined;
}

/** What an agent did, as the runtime saw it: lines for the reader. */
export function readReceipts(text: string): { taskId: string | undefined; lines: string }[] {
  return insidesOf(text, "task-receipt").map(({ attributes, inside }) => ({
    taskId: attributeOf(attributes, "task-id"),
    lines: unescaped(inside.trim()),
  }));
}

export function readReminders(text: string): string[] {
  return insidesOf(text, "system-reminder").map(({ inside }) => unescaped(inside.trim()));
}

/** What was said before, when the conversation was shortened. */
export function readSummaries(text: string): string[] {
  return insidesOf(text, "conversation-summary").map(({ inside }) => unescaped(inside.trim()));
}

function insidesOf(text: string, tag: string): { attributes: string; inside: string }[] {
  const pattern = new RegExp(`<${tag}\\b([^>]*)>([\\s\\S]*?)</${tag}\\s*>`, "gi");
  return [...text.matchAll(pattern)].map(([, attributes = "", inside = ""]) => ({ attributes, inside }));
}

function inTag(text: string, tag: string): string | undefined {
  const inside = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "i").exec(text)?.[1]?.trim();
  return inside === undefined || inside === "" ? undefined : unescaped(inside);
}

function attributeOf(attributes: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1];
  return value === undefined ? undefined : unescaped(value);
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

function unescaped(text: string): string {
  return text.replace(
    /&(?:(lt|gt|amp|quot)|#(\d{1,5})|#x([0-9a-f]{1,4}));/gi,
    (whole, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return characters[name] ?? whole;
      return String.fromCharCode(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal));
    },
  );
}
