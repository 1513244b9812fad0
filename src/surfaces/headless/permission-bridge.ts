/** Asks the program on the other side whether a tool may run. */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { messageOf } from "../../base/errors.ts";
import { type PermissionAnswer, PermissionMode } from "../../contracts/permission.ts";
import type { WaitingQuestion } from "../../permissions/broker.ts";
import type { Session } from "../../runtime/session.ts";
import type { ControlResponse } from "./input-message.ts";
import type { WireMessage } from "./wire-messages.ts";

export interface PermissionBridge {
  /** From now on the questions of this session go to the other side. */
  attach(session: Session): void;
  /** A response from the other side. */
  accept(response: ControlResponse["response"]): void;
  /** Nobody will answer any more: what waits is denied. */
  close(): void;
}

const RuleUpdate = z.looseObject({
  type: z.literal("addRules"),
  behavior: z.literal("allow"),
  rules: z.array(z.looseObject({ toolName: z.string(), ruleContent: z.string().nullish() })),
  destination: z.string().optional(),
});
const ModeUpdate = z.looseObject({ type: z.literal("setMode"), mode: PermissionMode.exclude(["bubble"]) });

const Verdict = z.discriminatedUnion("behavior", [
  z.looseObject({
    behavior: z.literal("allow"),
    updatedInput: z.record(z.string(), z.unknown()).nullish(),
    updatedPermissions: z.array(z.unknown()).nullish(),
  }),
  z.looseObject({
    behavior: z.literal("deny"),
    message: z.string().optional(),
    interrupt: z.boolean().optional(),
  }),
]);

export function createPermissionBridge(options: {
  emit: (message: WireMessage) => Promise<void>;
}): PermissionBridge {
  const asked = new Map<string, { question: WaitingQuestion; session: Session }>();
  let attached: Session | undefined;
  let leave: (() => void) | undefined;
  let closed = false;
  // Writing never fails: a reader who left is noticed by the sink itself.
  const emit = (message: WireMessage) => void options.emit(message);

  return {
    attach(session) {
      if (closed || session === attached) return;
      attached = session;
      leave?.();
      leave = session.permissions.subscribe((change) => {
        if (change.type === "question-open") {
          asked.set(change.question.id, { question: change.question, session });
          emit(toControlRequest(change.question));
        } else if (asked.delete(change.id)) emit({ type: "control_cancel_request", request_id: change.id });
      });
    },
    accept(response) {
      const entry = asked.get(response.request_id);
      if (entry === undefined) return;
      // It needs no withdrawing any more.
      asked.delete(response.request_id);
      answer(entry.session, entry.question, response);
    },
    close() {
      closed = true;
      leave?.();
    },
  };
}

function answer(session: Session, question: WaitingQuestion, response: ControlResponse["response"]): void {
  const { answer: given, mode, interrupt } = readVerdict(response, question);
  let meant = given;
  if (mode !== undefined) {
    try {
      session.setPermissionMode(mode);
    } catch (error) {
      meant = { answer: "no", message: messageOf(error) };
    }
  }
  // A change of mode may have answered it already.
  if (session.permissions.waiting.some(({ id }) => id === question.id))
    void session.permissions.answer(question.id, meant);
  if (interrupt) session.interrupt();
}

function toControlRequest(question: WaitingQuestion): WireMessage {
  const { agent, suggestions = [] } = question;
  return {
    type: "control_request",
    request_id: question.id,
    request: {
      subtype: "can_use_tool",
      tool_name: question.toolName,
      input: question.input,
      tool_use_id: question.toolUseId,
      decision_reason: question.reason,
      ...(suggestions.length > 0 && { permission_suggestions: suggestions.map(toUpdate) }),
      ...(agent && { agent_id: agent.id }),
    },
  };
}

function toUpdate(rule: string): WireMessage {
  const [, toolName = rule, ruleContent] = /^([^(]+)\(([\s\S]*)\)$/.exec(rule) ?? [];
  return {
    type: "addRules",
    rules: [{ toolName, ...(ruleContent !== undefined && { ruleContent }) }],
    behavior: "allow",
    destination: "session",
  };
}

interface ReadVerdict {
  readonly answer: PermissionAnswer;
  readonly mode?: PermissionMode;
  readonly interrupt?: boolean;
}

/** Anything but a clear yes to exactly this input is a no. */
function readVerdict(response: ControlResponse["response"], question: WaitingQuestion): ReadVerdict {
  const no = (message: string | undefined): ReadVerdict => ({
    answer: { answer: "no", ...(message !== undefined && { message }) },
  });
  if (response.subtype !== "success") return no(response.error);
  const verdict = Verdict.safeParse(response.response);
  if (!verdict.success) return no("The answer to the permission request was not understood.");
  if (verdict.data.behavior === "deny")
    return { ...no(verdict.data.message), interrupt: verdict.data.interrupt ?? false };
  const { updatedInput, updatedPermissions } = verdict.data;
  if (updatedInput && !isDeepStrictEqual(updatedInput, question.input))
    return no("The answer changed the tool's input, which is not supported yet.");
  const mode = readEach(ModeUpdate, updatedPermissions).at(-1)?.mode;
  return { answer: grantOf(readEach(RuleUpdate, updatedPermissions)), ...(mode && { mode }) };
}

/** What is not understood among the updates grants nothing. */
function readEach<Update>(schema: z.ZodType<Update>, updates: unknown[] | null | undefined): Update[] {
  return (updates ?? []).flatMap((update) => {
    const read = schema.safeParse(update);
    return read.success ? [read.data] : [];
  });
}

function grantOf(updates: readonly z.infer<typeof RuleUpdate>[]): PermissionAnswer {
  const rules = updates.flatMap((update) =>
    update.rules.map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName)),
  );
  if (rules.length === 0) return { answer: "once" };
  // Where only some shall be kept, none is: what was not asked for must not be written.
  const kept = updates.every(({ destination }) => destination?.endsWith("Settings"));
  return { answer: kept ? "project" : "session", rules };
}
