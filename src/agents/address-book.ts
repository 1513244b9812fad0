/**
 * To whom an address leads (TA-14). The first resolver that matches sends; what is known above this folder, such as
 * teams and other sessions, comes in as resolvers.
 */
import { ToolFailure } from "../tools/tool.ts";

/** Of the one that talks with the user. */
export const mainAgentName = "main";

export interface AddressResolver {
  readonly name: string;
  /** Whether this address is one of its own. Looked at in the order of the list, without waiting. */
  matches(to: string): boolean;
  /** Called in the order of the sender's calls, which is kept (TA-18). Throws what the sender should know. */
  send(message: OutgoingMessage): Promise<SentMessage>;
  /** Its addresses each mean one teammate, who understands structured messages. */
  readonly takesStructured?: boolean;
}

export interface OutgoingMessage {
  readonly uuid: string;
  readonly to: string;
  /** From the runtime, never from what a model says. */
  readonly sender: Sender;
  readonly content: string | StructuredMessage;
  /** Present with plain text: 5 to 10 words for lists. */
  readonly summary?: string | undefined;
  /** The call that sends it. */
  readonly toolUseId: string;
}

export interface Sender {
  /** Its name, else its id; `main` of the main agent. */
  readonly name: string;
  /** Absent: the main agent. */
  readonly agentId?: string | undefined;
  /** A fork starts no agents, and so wakes none. */
  readonly isFork?: boolean;
}

export type StructuredMessage =
  | { readonly type: "shutdown_request"; readonly reason?: string | undefined }
  | {
      readonly type: "shutdown_response";
      readonly request_id: string;
      readonly approve: boolean;
      readonly reason?: string | undefined;
    }
  | {
      readonly type: "plan_approval_response";
      readonly request_id: string;
      readonly approve: boolean;
      readonly feedback?: string | undefined;
    };

export type SentMessage =
  /** It is at work, or will be, and hears it there. */
  | { readonly status: "delivered"; readonly to: string; readonly agentId?: string; readonly note?: string }
  /** It had ended and goes on in the background. */
  | {
      readonly status: "started";
      readonly to: string;
      readonly agentId: string;
      readonly description: string;
      readonly outputFile: string;
      /** The notification of its end comes to the sender, and not to somebody else. */
      readonly tellsSender: boolean;
    };

export interface AddressBook {
  send(message: OutgoingMessage): Promise<SentMessage>;
}

export function createAddressBook(resolvers: () => readonly AddressResolver[]): AddressBook {
  return {
    // Not an async function: whoever is meant is asked before the next call of the same sender begins.
    send(message) {
      const { to, content } = message;
      const resolver = resolvers().find((each) => each.matches(to));
      if (resolver === undefined) return Promise.reject(nobody(to));
      if (typeof content !== "string" && (to === "*" || !resolver.takesStructured))
        return Promise.reject(plainTextOnly(to, content));
      return resolver.send(message);
    },
  };
}

/** A session elsewhere: whoever writes there says something beyond this machine. */
export function leadsElsewhere(to: string): boolean {
  return /^bridge:/i.test(to);
}

/** Whether it has the form of an address that is no name and no id. */
export function isSpecialAddress(to: string): boolean {
  return to === "*" || to.includes(":");
}

function nobody(to: string): ToolFailure {
  if (to === "*") return unreachable('"*" means all teammates, and there is no team in this session.');
  if (leadsElsewhere(to)) return unreachable(`${to} cannot be reached: this session has no bridge.`);
  if (/^uds:/i.test(to))
    return unreachable(`${to} cannot be reached: this session is not connected to others on this machine.`);
  return unreachable(
    `"${to.slice(0, 100)}" is not an address: give the name or the id of an agent, or "main".`,
  );
}

function unreachable(message: string): ToolFailure {
  return new ToolFailure(`Not sent: ${message}`, { code: "address-unknown" });
}

function plainTextOnly(to: string, { type }: StructuredMessage): ToolFailure {
  const why = to === "*" || /^(?:uds|bridge):/i.test(to) ? `${to} takes plain text only` : `${to} is none`;
  return new ToolFailure(
    `Not sent: a ${type} can go to a single teammate only, and ${why}. Send it as text, with a summary.`,
    { code: "message-form" },
  );
}
