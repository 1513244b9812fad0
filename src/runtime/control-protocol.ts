/**
 * What processes say to a running session of the same user: a JSON object a line, and for each request exactly one
 * answer, in order. A request has the version of the protocol that it is written in.
 */

import * as z from "zod";
import type { Task } from "../contracts/task.ts";
import { Usage } from "../contracts/usage.ts";
import { TaskRecord } from "../transcript/record.ts";

export const controlVersion = 1;

const version = z.literal(controlVersion);
const taskId = z.string().min(1).max(200);

export const ControlRequest = z.discriminatedUnion("request", [
  /** Everything that the session knows of. */
  z.object({ version, request: z.literal("tasks") }),
  z.object({ version, request: z.literal("task"), taskId }),
  /** Answered when the task has ended, or has been given some time to. */
  z.object({ version, request: z.literal("stop"), taskId }),
  z.object({ version, request: z.literal("stop-all") }),
  z.object({
    version,
    request: z.literal("output"),
    taskId,
    maxBytes: z
      .int()
      .min(1)
      .max(4 * 1024 * 1024)
      .optional(),
  }),
  /** For the main agent. Answered when it can no longer be lost. */
  z.object({
    version,
    request: z.literal("message"),
    from: z.string().min(1).max(1_000),
    id: z.string().min(1).max(200),
    text: z.string().min(1),
  }),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

/** A task without what can be long: its prompt and its result are in its transcript. */
export const LiveTask = TaskRecord.shape.task.omit({ agentType: true, name: true }).extend({
  isBackgrounded: z.boolean(),
  agent: z
    .object({
      agentType: z.string(),
      name: z.string().optional(),
      depth: z.number(),
      modelId: z.string().optional(),
      progress: z.object({
        toolUses: z.number(),
        usage: Usage,
        lastActivities: z.array(z.string()),
        summary: z.string().optional(),
        state: z.literal("stalled").optional(),
      }),
    })
    .optional(),
});
export type LiveTask = z.infer<typeof LiveTask>;

/** What each request is answered with, beside `version` and `ok: true`. */
export const answersTo = {
  tasks: z.object({ tasks: z.array(LiveTask) }),
  task: z.object({ task: LiveTask }),
  stop: z.object({ task: LiveTask }),
  "stop-all": z.object({ stopped: z.number() }),
  output: z.object({ text: z.string(), totalBytes: z.number(), truncated: z.boolean() }),
  message: z.object({}),
} satisfies Record<ControlRequest["request"], z.ZodType>;
export type AnswerTo<Kind extends ControlRequest["request"]> = z.infer<(typeof answersTo)[Kind]>;

export const ControlRefusal = z.object({ ok: z.literal(false), code: z.string(), message: z.string() });
export type ControlRefusal = z.infer<typeof ControlRefusal>;

const longest = 2_000;

export function liveFormOf(task: Task): LiveTask {
  const { notified: _, agent, description, command, error, ...rest } = task;
  return {
    ...rest,
    description: description.slice(0, longest),
    ...(command !== undefined && { command: command.slice(0, longest) }),
    ...(error !== undefined && { error: error.slice(0, longest) }),
    ...(agent && { agent: liveAgentOf(agent) }),
  };
}

function liveAgentOf(agent: NonNullable<Task["agent"]>): NonNullable<LiveTask["agent"]> {
  const { prompt: _, result: __, receipt: ___, progress, ...rest } = agent;
  const { lastActivities, summary, ...counted } = progress;
  return {
    ...rest,
    progress: {
      ...counted,
      lastActivities: lastActivities.map((activity) => activity.slice(0, longest)),
      ...(summary !== undefined && { summary: summary.slice(0, longest) }),
    },
  };
}
