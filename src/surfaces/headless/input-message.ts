/** What a program may say to a session on standard input, one JSON object per line. */
import * as z from "zod";
import { CadreError } from "../../base/errors.ts";
import { Block } from "../../contracts/message.ts";
import { userContent } from "../../runtime/user-content.ts";

const UserMessage = z.looseObject({
  type: z.literal("user"),
  message: z.looseObject({ role: z.literal("user"), content: z.union([z.string(), z.array(Block).min(1)]) }),
});

const ControlRequest = z.looseObject({
  type: z.literal("control_request"),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});
export type ControlRequest = z.infer<typeof ControlRequest>;

const ControlResponse = z.looseObject({
  type: z.literal("control_response"),
  response: z.looseObject({
    subtype: z.string(),
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.string().optional(),
  }),
});
export type ControlResponse = z.infer<typeof ControlResponse>;

export type InputMessage =
  | { kind: "user"; content: string | Block[] }
  | { kind: "control"; request: ControlRequest }
  | { kind: "answer"; response: ControlResponse["response"] }
  | { kind: "nothing" }
  | { kind: "problem"; message: string };

const schemas = { user: UserMessage, control_request: ControlRequest, control_response: ControlResponse };

/** Never throws: what cannot be understood becomes a problem that names the line. */
export function readInputLine(line: { number: number; text: string }): InputMessage {
  const where = `standard input, line ${line.number}`;
  if (line.text.trim() === "") return { kind: "nothing" };
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return problem(`${where}: not valid JSON. Each line must be one JSON object.`);
  }
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  // Signs of life, and the withdrawal of a request that has been answered at once.
  if (type === "keep_alive" || type === "control_cancel_request") return { kind: "nothing" };
  if (type !== "user" && type !== "control_request" && type !== "control_response")
    return problem(
      `${where}: unknown type ${JSON.stringify(type) ?? "(none)"}. Expected "user" or "control_request".`,
    );
  const parsed = schemas[type].safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return problem(
      `${where}: ${issue?.path.map(String).join(".") || "message"}: ${issue?.message ?? "invalid"}`,
    );
  }
  try {
    return toInput(parsed.data);
  } catch (error) {
    if (error instanceof CadreError) return problem(`${where}: ${error.message}`);
    throw error;
  }
}

function toInput(data: z.infer<(typeof schemas)[keyof typeof schemas]>): InputMessage {
  switch (data.type) {
    case "user":
      return { kind: "user", content: sayable(data.message.content) };
    case "control_request":
      return { kind: "control", request: data };
    case "control_response":
      return { kind: "answer", response: data.response };
  }
}

function sayable(content: string | Block[]): string | Block[] {
  const said = userContent(content);
  return typeof content === "string" ? content : said;
}

function problem(message: string): InputMessage {
  return { kind: "problem", message };
}
