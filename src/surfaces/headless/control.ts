/** Answers the control requests of the program on the other side. */

import { messageOf } from "../../base/errors.ts";
import { PermissionMode } from "../../contracts/permission.ts";
import { isGoingOn } from "../../contracts/task.ts";
import type { Session } from "../../runtime/session.ts";
import type { ControlRequest } from "./input-message.ts";

import type { WireMessage } from "./wire-messages.ts";

/** What the other side may still choose before the first message opens the session. */
export interface SessionChoices {
  systemPrompt?: string;
  appendSystemPrompt?: string;
  outputSchema?: Record<string, unknown>;
  model?: string;
  permissionMode?: PermissionMode;
  /** Definitions by name, as they were sent. */
  agents?: Record<string, unknown>;
  /** Who shows suggestions. Absent: none were asked for. */
  onSuggestion?: (text: string) => void;
}

export interface ControlState {
  readonly choices: SessionChoices;
  /** The first message was read, so the choices are made; the session may still be opening. */
  started: boolean;
  session: Session | undefined;
  /** Whether the other side wants to hear what agents say. Undefined: it was not asked. */
  withAgentText: boolean | undefined;
  /** Whether it wants to hear in a line what running agents do. */
  withAgentSummaries: boolean;
  /** Tells it what the user may want next. */
  readonly suggest: (text: string) => void;
}

export async function answerControl(control: ControlRequest, state: ControlState): Promise<WireMessage> {
  try {
    return reply(control, { subtype: "success", response: await act(control.request, state) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return reply(control, { subtype: "error", error: error.message });
  }
}

class Refusal extends Error {}

function reply(control: ControlRequest, response: WireMessage): WireMessage {
  return { type: "control_response", response: { request_id: control.request_id, ...response } };
}

function act(request: ControlRequest["request"], state: ControlState): WireMessage | Promise<WireMessage> {
  switch (request.subtype) {
    case "initialize":
      return initialize(request, state);
    case "interrupt":
      state.session?.interrupt();
      return { still_queued: [] };
    case "set_permission_mode": {
      const mode = PermissionMode.exclude(["bubble"]).safeParse(request.mode);
      if (!mode.success) throw new Refusal(`unknown permission mode ${JSON.stringify(request.mode)}`);
      setMode(state, mode.data);
      return {};
    }
    case "set_model": {
      const model = request.model;
      if (model !== null && model !== undefined && typeof model !== "string")
        throw new Refusal("model must be a text or null");
      beforeStart(state, "the model").model = model ?? undefined;
      return {};
    }
    case "stop_task":
      return stopTask(request, state);
    case "background_tasks":
      return toBackground(request, state);
    case "get_task_output":
      return taskOutput(request, state);
    case "mcp_status":
      return { mcpServers: [] };
    default:
      throw new Refusal(`unsupported control request "${request.subtype}"`);
  }
}

function initialize(request: ControlRequest["request"], state: ControlState): WireMessage {
  const choices = beforeStart(state, "the session");
  const { systemPrompt, appendSystemPrompt, jsonSchema, hooks, agents } = request;
  if (isFilledRecord(hooks)) throw new Refusal("hooks over the control channel are not supported yet");
  const system = Array.isArray(systemPrompt) ? systemPrompt.map(String).join("\n\n") : systemPrompt;
  // An empty text stands for "nothing chosen" on this wire.
  if (typeof system === "string" && system !== "") choices.systemPrompt = system;
  if (typeof appendSystemPrompt === "string") choices.appendSystemPrompt = appendSystemPrompt;
  if (isFilledRecord(jsonSchema)) choices.outputSchema = jsonSchema;
  if (isFilledRecord(agents)) choices.agents = agents;
  state.withAgentText = request.forwardSubagentText === true;
  state.withAgentSummaries = request.agentProgressSummaries === true;
  if (request.promptSuggestions === true) choices.onSuggestion = state.suggest;
  return {
    commands: [],
    agents: [],
    output_style: "default",
    available_output_styles: ["default"],
    models: [],
    account: {},
  };
}

function setMode(state: ControlState, mode: PermissionMode): void {
  if (!state.started) state.choices.permissionMode = mode;
  else if (state.session === undefined) throw new Refusal("the session is just starting: ask again");
  else {
    try {
      state.session.setPermissionMode(mode);
    } catch (error) {
      throw new Refusal(messageOf(error));
    }
  }
}

function stopTask(request: ControlRequest["request"], { session }: ControlState): WireMessage {
  const id = textField(request, "task_id");
  const task = session?.tasks.get(id);
  if (task === undefined) throw new Refusal(`there is no task ${JSON.stringify(id)}`);
  if (!session?.tasks.stop(id, "stopped by the user"))
    throw new Refusal(`the task ${id} has ended (${task.status}): there is nothing to stop`);
  return {};
}

/** Of one call, or everything that the main agent waits for. */
function toBackground(request: ControlRequest["request"], { session }: ControlState): WireMessage {
  const { tool_use_id: toolUseId } = request;
  if (toolUseId === undefined || toolUseId === null) {
    for (const task of session?.tasks.list() ?? [])
      if (task.parentAgentId === undefined) session?.tasks.toBackground(task.id);
    return {};
  }
  const ofCall =
    session?.tasks.list().filter((task) => task.toolUseId === toolUseId && isGoingOn(task)) ?? [];
  if (ofCall.length === 0)
    throw new Refusal(`nothing that goes on belongs to the call ${JSON.stringify(toolUseId)}`);
  const moved = ofCall.filter((task) => session?.tasks.toBackground(task.id));
  if (moved.length === 0 && !ofCall.some(({ isBackgrounded }) => isBackgrounded))
    throw new Refusal(`what the call ${toolUseId} has started cannot go on in the background`);
  return {};
}

/** Escaped for the wire it must still fit what programs accept as a line. */
const mostOutputBytes = 128 * 1024;

async function taskOutput(
  request: ControlRequest["request"],
  { session }: ControlState,
): Promise<WireMessage> {
  const id = textField(request, "task_id");
  if (session === undefined) throw new Refusal(`there is no task ${JSON.stringify(id)}`);
  try {
    const { text, totalBytes, truncated } = await session.taskOutput(id, { maxBytes: mostOutputBytes });
    return { output: text, total_bytes: totalBytes, truncated };
  } catch (error) {
    throw new Refusal(messageOf(error));
  }
}

function textField(request: ControlRequest["request"], name: string): string {
  const value = request[name];
  if (typeof value !== "string" || value === "") throw new Refusal(`${name} must be a text`);
  return value;
}

function beforeStart(state: ControlState, what: string): SessionChoices {
  if (state.started) throw new Refusal(`${what} cannot be changed after the first message`);
  return state.choices;
}

function isFilledRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}
