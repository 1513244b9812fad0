/** Agent summary: one line about each running agent, every 30 s, as long as somebody looks at them. */
import { toOneLine } from "../base/one-line.ts";
import type { Clock, Timer } from "../base/world.ts";
import type { Task } from "../contracts/task.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { TaskRegistry } from "../tasks/registry.ts";
import type { ServiceHost, ServiceRun } from "./service-host.ts";
import { isNone, servicePrompt } from "./service-prompt.ts";

const everyMs = 30_000;
/** In one round; the others are asked first in the next. */
const mostAtOnce = 8;
const longestSummary = 100;

export interface AgentSummaries {
  /** Somebody looks at the agents, until the returned function is called. */
  watch(): () => void;
}

export function createAgentSummaries(options: {
  host: ServiceHost;
  clock: Clock;
  tasks: Pick<TaskRegistry, "list" | "get" | "update">;
  /** The run of an agent that is alive and has asked its model at least once. */
  loopOf: (agentId: string) => LoopOptions | undefined;
}): AgentSummaries {
  const { host, clock, tasks, loopOf } = options;
  /** By agent: how much it had said when it was last asked about. */
  let told = new Map<string, number>();
  let watchers = 0;
  let timer: Timer | undefined;
  let isTelling = false;

  /** There is one timer or one round, never both. */
  function schedule(): void {
    if (watchers === 0 || timer !== undefined || isTelling) return;
    const round = () => {
      timer = undefined;
      isTelling = true;
      void host.attempt("agentSummary", tellAll).finally(() => {
        isTelling = false;
        schedule();
      });
    };
    timer = clock.setTimer(everyMs, round, { unref: true });
  }

  async function tellAll(run: ServiceRun): Promise<void> {
    const running = tasks.list().filter(({ agent, status }) => agent !== undefined && status === "running");
    const earlier = told;
    // Only those that still run are remembered.
    told = new Map(running.flatMap(({ id }) => (earlier.has(id) ? [[id, earlier.get(id) ?? 0]] : [])));
    const moved = running
      .flatMap((task) => {
        const loop = loopOf(task.id);
        const count = loop?.history.messages.length ?? 0;
        return loop !== undefined && count !== told.get(task.id) ? [{ task, loop, count }] : [];
      })
      .sort((a, b) => (told.get(a.task.id) ?? 0) - (told.get(b.task.id) ?? 0));
    for (const { task, loop, count } of moved.slice(0, mostAtOnce)) {
      if (watchers === 0) return;
      const answer = await run.ask({ prompt: summaryPrompt, loop, maxOutputTokens: 60 });
      if (answer === undefined) continue;
      told.set(task.id, count);
      if (!isNone(answer)) show(task, answer);
    }
  }

  function show({ id, startedAt }: Task, answer: string): void {
    const now = tasks.get(id);
    // It may have ended, and even begun anew, while it was asked about.
    if (now?.agent === undefined || now.startedAt !== startedAt) return;
    const summary = toOneLine(answer.split("\n")[0]?.trim() ?? "", longestSummary);
    tasks.update(id, { agent: { progress: { ...now.agent.progress, summary } } });
  }

  return {
    watch() {
      if (!host.isEnabled("agentSummary")) return () => {};
      watchers++;
      schedule();
      let left = false;
      return () => {
        if (left) return;
        left = true;
        watchers--;
        if (watchers > 0) return;
        timer?.cancel();
        timer = undefined;
      };
    },
  };
}

const summaryPrompt = servicePrompt(
  "agentSummary",
  "Say in one line of at most ten words what you are doing right now, for a list of running agents. No more than that line.",
);
