/** `SendMessage`: a message to another agent of the session, or to whoever else has an address here. */
import * as z from "zod";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import {
  type AddressBook,
  type AddressResolver,
  createAddressBook,
  leadsElsewhere,
  mainAgentName,
  type Sender,
  type SentMessage,
} from "./address-book.ts";
import type { LocalAgentPorts } from "./local-agents.ts";

export interface SendMessagePorts extends LocalAgentPorts {
  /** Teams, other sessions: asked before the agents of this session, in this order. Default: there are none. */
  readonly resolvers?: () => readonly AddressResolver[];
  /** There can be teammates: the model is shown what only they understand. */
  readonly teams?: boolean;
}

const to = z.string().trim().min(1).describe('The name or the id of an agent; "main" for the main agent.');
const mostChars = 100_000;
const text = z
  .string()
  .max(
    mostChars,
    `the message is longer than ${mostChars} characters: write it into a file, and send the path`,
  )
  .regex(/\S/, "the message is empty")
  .describe("What you say to it.");
const summary = z
  .string()
  .optional()
  .describe("The message in 5 to 10 words, for lists. Required with text.");

const Structured = z.discriminatedUnion("type", [
  z.object({ type: z.literal("shutdown_request"), reason: z.string().optional() }),
  z.object({
    type: z.literal("shutdown_response"),
    request_id: z.string(),
    approve: z.boolean(),
    reason: z.string().optional(),
  }),
  z.object({
    type: z.literal("plan_approval_response"),
    request_id: z.string(),
    approve: z.boolean(),
    feedback: z.string().optional(),
  }),
]);

const Input = z
  .object({ to, message: z.union([text, Structured]), summary })
  .refine(({ message, summary }) => typeof message !== "string" || /\S/.test(summary ?? ""), {
    path: ["summary"],
    message: "say in 5 to 10 words what the message is about",
  });

const description = `Sends a message to another agent. What you write in your answer is not seen by other agents: only this reaches them.

- A running agent gets it at its next step, between two of its own calls; nothing of its work is cut off. To one that has ended, the message is its next task: it is started again in the background with all that it knew, and a notification comes at its end.
- Messages of other agents come to you as <agent-message from="NAME" id="ID">. They are not from the user. Answer with \`to\` set to that name or id, and only if an answer is needed.`;

const aboutTeams = `
- \`to: "*"\` reaches all teammates, with text only. A shutdown_request, shutdown_response or plan_approval_response goes to a single teammate.`;

export function createSendMessageTool(ports: SendMessagePorts): Tool {
  let opening: Promise<AddressBook> | undefined;
  /** Most sessions send nothing: what does that is loaded with the first message. */
  const open = async () => {
    const { createLocalAgents } = await import("./local-agents.ts");
    const local = createLocalAgents(ports);
    return createAddressBook(() => [...(ports.resolvers?.() ?? []), local]);
  };
  return defineTool({
    name: "SendMessage",
    description: ports.teams ? description + aboutTeams : description,
    input: Input,
    shownInput: z.object({ to, message: ports.teams ? z.union([text, Structured]) : text, summary }),
    // Calls begin in their order, and what each sender says is kept in order from there on.
    isConcurrencySafe: () => true,
    async checkPermissions(input) {
      if (!leadsElsewhere(input.to)) return undefined;
      const reason = `it sends a message to ${input.to}, a session elsewhere`;
      return { decision: "ask", reason, part: input.to, suggestions: [], protected: true };
    },
    async call({ to, message, summary }, context): Promise<SentMessage> {
      // The same promise for all, so that none overtakes another.
      opening ??= open();
      const book = await opening;
      return await book.send({
        uuid: context.world.random.uuid(),
        to,
        sender: senderOf(context, ports),
        content: message,
        summary: typeof message === "string" ? summary?.trim() : undefined,
        toolUseId: context.toolUseId,
      });
    },
    facts: (sent) => (sent.status === "started" ? { taskId: sent.agentId } : undefined),
    toResult: describeSent,
  });
}

function senderOf(
  { agent: { agentId, source } }: ToolContext,
  { names }: Pick<LocalAgentPorts, "names">,
): Sender {
  const name = agentId === undefined ? mainAgentName : (names.nameOf(agentId) ?? agentId);
  return { name, agentId, ...(source.kind === "fork" && { isFork: true }) };
}

function describeSent(sent: SentMessage): string {
  if (sent.status === "delivered") return sent.note ?? `Delivered. ${sent.to} gets it at its next step.`;
  const end = sent.tellsSender
    ? "A notification will come when it has ended."
    : "Its report goes to whoever started it: if you need an answer, ask for a message.";
  return `${sent.to} had ended and was started again in the background, with your message as its next task. ${end}\nagentId: ${sent.agentId}\noutput_file: ${sent.outputFile}`;
}
