/** What a session does as the objects of stream-json: its runs, its agents, and what goes on in the background. */
import type { BackgroundActivity, LoopEvent } from "../../contracts/event.ts";
import type { Task } from "../../contracts/task.ts";
import { createSpeech, detach, pass, release, rise, type Speech } from "./speech.ts";
import { createAgentWatch, type Moment } from "./watch-agents.ts";
import type { TaskMoment } from "./watch-tasks.ts";
import { type WireContext, type WireMessage, wireAgentMessagesOf, wireMessagesOf } from "./wire-messages.ts";
import {
  wireOtherTaskEnded,
  wireOtherTaskStarted,
  wireTaskBackgrounded,
  wireTaskEnded,
  wireTaskProgress,
  wireTaskStalled,
  wireTaskStarted,
  wireTaskSummary,
} from "./wire-tasks.ts";

export interface WireActivity {
  /** An event of a run. */
  messagesOf(event: LoopEvent): WireMessage[];
  /** What an agent in the background does. */
  messagesBeside(activity: BackgroundActivity): WireMessage[];
  messagesOfTask(moment: TaskMoment): WireMessage[];
  /** The run is over: ends what it waited for. */
  endRun(): WireMessage[];
  /** Nothing will be heard any more: ends what is still open. */
  close(): WireMessage[];
}

export function createWireActivity(options: {
  context: WireContext;
  /** Whether agents' own words are told, beside their calls and the results. */
  withAgentText: boolean;
  taskOf?: (id: string) => Task | undefined;
}): WireActivity {
  const { context, taskOf = () => undefined } = options;
  const watch = createAgentWatch({ isBackgrounded: (id) => taskOf(id)?.isBackgrounded === true });
  const main = createSpeech(undefined, 0);
  /** By the id of the agent, or of the task. */
  const speeches = new Map<string, Speech>();
  const speechOf = (id: string | undefined) => (id === undefined ? undefined : speeches.get(id)) ?? main;

  const messagesOfEvent = (moment: Extract<Moment, { type: "event" }>): WireMessage[] => {
    const { agent, event } = moment;
    if (agent === undefined) return pass(main, event, wireMessagesOf(event, context));
    const speech = speechOf(agent.id);
    const messages = wireAgentMessagesOf(event, { context, agent, withText: options.withAgentText });
    if (event.type === "turn-end")
      messages.push(wireTaskProgress(agent, context.now() - speech.startedMs, context));
    return pass(speech, event, messages);
  };

  const begin = (subject: { id: string; parent: string | undefined; inBackground: boolean }): Speech => {
    const speech = createSpeech(speechOf(subject.parent), context.now());
    speeches.set(subject.id, speech);
    if (subject.inBackground) detach(speech, () => false);
    return speech;
  };

  const messagesAt = (moment: Moment): WireMessage[] => {
    if (moment.type === "event") return messagesOfEvent(moment);
    const { agent } = moment;
    if (moment.type === "agent-start") {
      const { id, inBackground } = agent;
      const begun = begin({ id, parent: agent.parent?.id, inBackground });
      return rise(begun, [wireTaskStarted(agent, moment.prompt, context)]);
    }
    const speech = speechOf(agent.id);
    if (moment.type === "agent-leave") {
      detach(speech, ({ task_id, agent_id }) => task_id === agent.id || agent_id === agent.id);
      return rise(speech, [wireTaskBackgrounded(agent, context)]);
    }
    speeches.delete(agent.id);
    const durationMs = moment.durationMs ?? context.now() - speech.startedMs;
    const outputFile = taskOf(agent.id)?.outputFile;
    return rise(speech, [...release(speech), ...wireTaskEnded(moment, { durationMs, outputFile }, context)]);
  };

  const started = (task: Task): WireMessage[] => {
    const speech = begin({ id: task.id, parent: task.parentAgentId, inBackground: true });
    return rise(speech, [wireOtherTaskStarted(task, context)]);
  };
  const ended = (task: Task): WireMessage[] => {
    const speech = speechOf(task.id);
    speeches.delete(task.id);
    return rise(speech, wireOtherTaskEnded(task, context));
  };

  return {
    messagesOf: (event) => watch.see(event).flatMap(messagesAt),
    messagesBeside: (activity) => watch.seeBeside(activity).flatMap(messagesAt),
    messagesOfTask: (moment) => [
      ...(moment.started ? started(moment.started) : []),
      ...(moment.ended ? ended(moment.ended) : []),
      ...(moment.stalled
        ? rise(speechOf(moment.stalled.id), [wireTaskStalled(moment.stalled, context)])
        : []),
      ...(moment.summarized
        ? rise(speechOf(moment.summarized.id), [wireTaskSummary(moment.summarized, context)])
        : []),
    ],
    endRun() {
      const ends = watch.endRun().flatMap(messagesAt);
      return [...release(main), ...ends];
    },
    close() {
      const ends = watch.close().flatMap(messagesAt);
      return [...release(main), ...ends];
    },
  };
}
