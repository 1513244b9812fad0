import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { unlessCancelled } from "../../base/cancellation.ts";
import { isCancelled } from "../../base/errors.ts";
import type { PermissionAnswer, PermissionRequest } from "../../contracts/permission.ts";
import type { ControlResponse } from "./input-message.ts";
import type { WireMessage } from "./wire-messages.ts";

/** Asks the program on the other side whether a tool may run. */
export interface PermissionBridge {
  askPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>;
  /** A response from the other side. */
  accept(response: ControlResponse["response"]): void;
  /** Nobody will answer any more: what waits is denied. */
  close(): void;
}

const Verdict = z.discriminatedUnion("behavior", [
  z.looseObject({
    behavior: z.literal("allow"),
    updatedInput: z.record(z.string(), z.unknown()).nullish(),
    updatedPermissions: z.array(z.unknown()).nullish(),
  }),
  z.looseObject({ behavior: z.literal("deny"), message: z.string().optional() }),
]);

export function createPermissionBridge(options: {
  emit: (message: WireMessage) => Promise<void>;
  uuid: () => string;
}): PermissionBridge {
  const waiting = new Map<string, (response: ControlResponse["response"] | undefined) => void>();
  let closed = false;
  return {
    async askPermission(request, signal) {
      if (closed) return nobody;
      const id = options.uuid();
      const answered = new Promise<ControlResponse["response"] | undefined>((resolve) => {
        waiting.set(id, resolve);
      });
      try {
        await options.emit(toControlRequest(id, request));
        return answerOf(await unlessCancelled(answered, signal), request);
      } catch (error) {
        if (isCancelled(error)) await options.emit({ type: "control_cancel_request", request_id: id });
        throw error;
      } finally {
        waiting.delete(id);
      }
    },
    accept(response) {
      waiting.get(response.request_id)?.(response);
    },
    close() {
      closed = true;
      for (const resolve of waiting.values()) resolve(undefined);
    },
  };
}

const nobody: PermissionAnswer = {
  answer: "no",
  message: "Nobody is there to ask: standard input was closed.",
};

function toControlRequest(id: string, request: PermissionRequest): WireMessage {
  return {
    type: "control_request",
    request_id: id,
    request: {
      subtype: "can_use_tool",
      tool_name: request.toolName,
      input: request.input,
      tool_use_id: request.toolUseId,
      decision_reason: request.reason,
      ...(request.agentId === undefined ? {} : { agent_id: request.agentId }),
    },
  };
}

/** Anything but a clear yes to exactly this input is a no. */
function answerOf(
  response: ControlResponse["response"] | undefined,
  request: PermissionRequest,
): PermissionAnswer {
  if (response === undefined) return nobody;
  if (response.subtype !== "success") return { answer: "no", message: response.error };
  const verdict = Verdict.safeParse(response.response);
  if (!verdict.success)
    return { answer: "no", message: "The answer to the permission request was not understood." };
  if (verdict.data.behavior === "deny") return { answer: "no", message: verdict.data.message };
  const { updatedInput, updatedPermissions } = verdict.data;
  if (updatedInput && !isDeepStrictEqual(updatedInput, request.input))
    return { answer: "no", message: "The answer changed the tool's input, which is not supported yet." };
  return { answer: updatedPermissions?.length ? "session" : "once" };
}
