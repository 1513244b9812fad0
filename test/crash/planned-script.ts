/** The answers of a plan, in the words of the scripted model. */
import { createScope } from "../../src/base/cancellation.ts";
import { ModelError } from "../../src/model/model-error.ts";
import { eventsOf } from "../../src/model/offline/stream-step.ts";
import type { Reply, ScriptedCall, ScriptedReply } from "../../src/testing/scripted-model.ts";
import type { CallPlan, Ending, Plan, ReplyPlan } from "./plan.ts";

export function scriptOf(plan: Plan): Reply[] {
  let next = 0;
  const replies = plan.replies.map((reply) => {
    const calls = reply.calls.map((call) => toCall(call, next++));
    return { ...toReply(reply, calls), ...faultOf(reply.ending, reply, calls) };
  });
  return [...replies, ...Array.from({ length: 40 }, () => "done")];
}

function toCall(plan: CallPlan, number: number): ScriptedCall {
  return {
    name: plan.tool,
    input: plan.flaw === "not-fitting" ? { number: "one" } : { number },
    ...(plan.flaw === "not-json" && { json: `{"number": ${number}, ` }),
    ...(plan.flaw === "same-id" && { id: "toolu_same" }),
    ...(plan.flaw === "empty-id" && { id: "" }),
  };
}

function toReply(plan: ReplyPlan, calls: readonly ScriptedCall[]): ScriptedReply {
  return {
    calls,
    delayMs: plan.delayMs,
    ...(plan.text !== "" && { text: plan.text }),
    ...(plan.thinking !== "" && { thinking: plan.thinking }),
    ...(plan.stopReason !== undefined && { stopReason: plan.stopReason }),
  };
}

function faultOf(ending: Ending, plan: ReplyPlan, calls: readonly ScriptedCall[]): Partial<ScriptedReply> {
  switch (ending.kind) {
    case "whole":
      return {};
    case "cut":
      return { cutAfterEvents: ending.afterEvents };
    case "hangs":
      return { hang: true };
    case "ends-early":
      return { events: everyEventOf(plan, calls).slice(0, -1).slice(0, ending.afterEvents) };
    case "error":
      return { error: errorOf(ending.what) };
  }
}

function everyEventOf(plan: ReplyPlan, calls: readonly ScriptedCall[]) {
  const request = {
    system: "",
    tools: [],
    messages: [],
    cacheMarks: [],
    maxOutputTokens: 1,
    scope: createScope(),
  };
  const step = {
    text: plan.text,
    thinking: plan.thinking,
    calls: calls.map((call) => ({ input: {}, ...call })),
  };
  return [...eventsOf(step, { request, model: "scripted" })];
}

function errorOf(what: Extract<Ending, { kind: "error" }>["what"]): Error {
  if (what === "plain") return new TypeError("a bug in the model");
  // A script may throw what is no error at all.
  if (what === "no-error") return "a text" as unknown as Error;
  return new ModelError({ kind: what, message: `the provider says ${what}` });
}
