/** The single entry for every agent that another starts: named or resumed (SP-16 to SP-21). */
import { throwIfCancelled } from "../base/cancellation.ts";
import { createCleanUp } from "../base/clean-up.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { TaskEndStatus } from "../contracts/task.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import { runLoop } from "../loop/query-loop.ts";
import { createRunRecorder, type RunRecorder } from "../loop/run-recorder.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentHost } from "./agent-host.ts";
import type { AgentNews } from "./agent-news.ts";
import { createPrefixes } from "./agent-prefix.ts";
import type { CompletedAgent } from "./agent-result.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { createAgentStarter, type StartedAgent } from "./start-agent.ts";

/** Runs an agent to its end. Rejects with the cancellation of the request, or when there is nothing to report. */
export type Spawn = (request: SpawnRequest) => Promise<CompletedAgent>;

export function createSpawn(host: AgentHost, news: AgentNews): Spawn {
  const start = createAgentStarter(host, { prefixOf: createPrefixes(host), news });
  return async (request) => {
    const cleanUp = createCleanUp();
    try {
      const started = await start(request, cleanUp);
      host.live.enter(started.context);
      cleanUp.add("its place among the live agents", () => host.live.leave(started.agentId));
      return await runToEnd(host, started);
    } finally {
      const failures = await cleanUp.run();
      if (failures.length > 0)
        host.onProblem?.(`After the agent "${request.description}": ${failures.join("; ")}`);
    }
  };
}

async function runToEnd(host: AgentHost, started: StartedAgent): Promise<CompletedAgent> {
  const recorder = createRunRecorder({ clock: host.world.clock, budget: started.context.budget });
  tellStart(started);
  let status: TaskEndStatus = "failed";
  let error: string | undefined;
  try {
    const outcome = await drive(started, recorder).then(
      (end) => outcomeOf(end, started, recorder),
      (failure: unknown) => outcomeOfFailure(failure, recorder),
    );
    status = outcome.status;
    return completed(started, recorder, outcome.note);
  } catch (failure) {
    if (isCancelled(failure)) status = "killed";
    error = messageOf(failure);
    throw failure;
  } finally {
    started.task.end({ status, result: recorder.text, ...(error !== undefined && { error }) });
    tellEnd(host, started, recorder, status);
  }
}

function tellStart({ agentId, context, request }: StartedAgent): void {
  request.report?.({
    type: "agent-start",
    agentId,
    agentType: request.definition.agentType,
    description: request.description,
    prompt: request.prompt,
    modelId: context.model.id,
    depth: context.depth,
    resumed: request.earlier !== undefined,
  });
}

function tellEnd(host: AgentHost, started: StartedAgent, recorder: RunRecorder, status: TaskEndStatus): void {
  const { agentId, context, request } = started;
  const { agentType, onEnd } = request.definition;
  const { text, toolUses, durationMs } = recorder;
  const totalTokens = totalTokensOf(context.budget.usage);
  request.report?.({ type: "agent-end", agentId, status, totalTokens, toolUses, durationMs });
  try {
    onEnd?.({ agentId, agentType, status, text });
  } catch (error) {
    // A program's own fault there is not the agent's.
    host.onProblem?.(`onEnd of the agent "${agentType}" failed: ${messageOf(error)}`);
  }
}

interface Outcome {
  readonly status: TaskEndStatus;
  readonly note?: string;
}

/** What was said stands, whatever came after it; where nothing was, the error is the result (SP-21). */
function outcomeOf(end: LoopEnd, started: StartedAgent, recorder: RunRecorder): Outcome {
  if (end.reason === "aborted") throwIfCancelled(started.request.scope);
  const outcome = judgeEnd(end);
  if (outcome.status !== "completed" && !hasAnswered(recorder))
    throw new ToolFailure(outcome.note ?? "The agent failed.", { code: "agent-failed" });
  return outcome;
}

function outcomeOfFailure(error: unknown, recorder: RunRecorder): Outcome {
  if (!hasAnswered(recorder) || isCancelled(error)) throw error;
  return { status: "failed", note: `It ended before it was done: ${messageOf(error)}` };
}

/** It said something or did something: then its parent should know, and can go on with it. */
function hasAnswered({ text, toolUses }: RunRecorder): boolean {
  return text !== "" || toolUses > 0;
}

async function drive(
  { agentId, loop, request, task }: StartedAgent,
  recorder: RunRecorder,
): Promise<LoopEnd> {
  const { report } = request;
  const run = runLoop(loop);
  let activities: readonly string[] = [];
  const see = (event: LoopEvent) => {
    recorder.see(event);
    if (event.type === "model-event") return;
    report?.({ type: "agent-event", agentId, event });
    if (event.type === "call-start") activities = [...activities.slice(1 - keptActivities), event.call.name];
    if (event.type === "turn-end") {
      const { toolUses } = recorder;
      task.update({
        agent: { progress: { toolUses, usage: loop.budget.usage, lastActivities: activities } },
      });
    }
  };
  try {
    let step = await run.next();
    for (; !step.done; step = await run.next()) see(step.value);
    loop.transcript.append(recorder.record(step.value));
    await loop.transcript.durable();
    return step.value;
  } finally {
    // After its end this does nothing; a run that nobody can watch any longer is stopped.
    await run.return(abandoned);
  }
}

const abandoned = { reason: "aborted", during: "between-turns", why: "nobody watches this agent" } as const;

const keptActivities = 3;

function judgeEnd(end: LoopEnd): Outcome {
  switch (end.reason) {
    case "completed":
      return { status: "completed", ...noteOfStop(end.stopReason) };
    case "max_turns":
      return {
        status: "completed",
        note: `It ended at its limit of ${end.limit} turns: what it said last may not be its whole answer.`,
      };
    case "budget_exhausted":
      return { status: "completed", note: `It ended before it was done. ${end.message}` };
    case "aborted":
      return { status: "killed", note: `It was stopped: ${end.why}.` };
    case "model_error":
      return { status: "failed", note: `It ended before it was done: ${end.error.message}` };
    case "context_exhausted":
    case "hook_stopped":
      return { status: "failed", note: `It ended before it was done: ${end.message}` };
  }
}

function noteOfStop(stopReason: Extract<LoopEnd, { reason: "completed" }>["stopReason"]): { note?: string } {
  if (stopReason === "max_tokens")
    return { note: "Its last message was cut off at the limit of output tokens." };
  return stopReason === "refusal" ? { note: "The model declined to go on." } : {};
}

function completed(started: StartedAgent, recorder: RunRecorder, note: string | undefined): CompletedAgent {
  const { agentId, context, request, warnings } = started;
  const notes = [...(note === undefined ? [] : [note]), ...(request.earlier?.notes ?? [])];
  const text = recorder.text === "" ? "The agent ended without saying anything." : recorder.text;
  const { usage } = context.budget;
  return {
    status: "completed",
    agentId,
    agentType: request.definition.agentType,
    prompt: request.prompt,
    content: [{ type: "text", text }],
    totalTokens: totalTokensOf(usage),
    totalToolUseCount: recorder.toolUses,
    totalDurationMs: recorder.durationMs,
    usage,
    ...(notes.length > 0 && { note: notes.join(" ") }),
    ...(warnings.length > 0 && { warnings }),
    ...(request.definition.traits?.oneShot && { oneShot: true }),
  };
}
