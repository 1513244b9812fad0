/** The form in which a message of somebody else than the user reaches an agent (TA-18). */
import { escapeAttribute, escapeText } from "../base/markup.ts";
import type { TextBlock } from "../contracts/message.ts";

export interface AgentMessage {
  /** Told by the runtime, never by the text: a name, or an id where there is none. */
  readonly from: string;
  /** Of the agent that sent it; the main one has none. */
  readonly id?: string | undefined;
  readonly text: string;
}

/** Nothing in it can close the element, or pose as another message, as a notification or as the user. */
export function agentMessageBlock({ from, id, text }: AgentMessage): TextBlock {
  const attributes = [attribute("from", from), ...(id === undefined ? [] : [attribute("id", id)])];
  return {
    type: "text",
    text: `<agent-message ${attributes.join(" ")}>\n${escapeText(text)}\n</agent-message>`,
  };
}

function attribute(name: string, value: string): string {
  return `${name}="${escapeAttribute(value)}"`;
}
