/** The single entry for every agent that another starts: named or resumed (SP-16 to SP-21). */
import { type CleanUp, createCleanUp } from "../base/clean-up.ts";
import { runLoop } from "../loop/query-loop.ts";
import { createStallWatch } from "../tasks/stall-watch.ts";
import type { AgentHost } from "./agent-host.ts";
import type { AgentNews } from "./agent-news.ts";
import { createPrefixes } from "./agent-prefix.ts";
import type { CompletedAgent } from "./agent-result.ts";
import { AgentRun } from "./agent-run.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { createStagger } from "./stagger.ts";
import { createAgentStarter } from "./start-agent.ts";

const defaultStallMs = 600_000;

/**
 * Runs an agent to its end, in the background or not. Rejects with the cancellation of the request, or when there is
 * nothing to report.
 */
export type Spawn = (request: SpawnRequest) => Promise<CompletedAgent>;

export function createSpawn(host: AgentHost, news: AgentNews): Spawn {
  const start = createAgentStarter(host, { prefixOf: createPrefixes(host), news });
  const stalls = createStallWatch<AgentRun>({
    clock: host.world.clock,
    stallMs: host.settings.stallMs ?? defaultStallMs,
    isWaiting: (run) => run.isWaiting,
    onStall: (run) => run.stall(),
    onRecover: (run) => run.recover(),
  });

  const runAgent = host.settings.staggerFanOut
    ? createStagger({ clock: host.world.clock, run: runLoop })
    : runLoop;

  // All in one function, since this is what waits while an agent works, and thousands may.
  return async (request) => {
    const cleanUp = createCleanUp();
    let undo: CleanUp | undefined = createCleanUp();
    const run = new AgentRun(host);
    try {
      const started = await start(request, { undo, cleanUp, run });
      host.live.enter(started.context);
      run.begin(started);
      // Not kept: there may be thousands.
      undo = undefined;
      stalls.watch(run);
      if (request.isBackground) await run.moveToBackground();
      const end = await runAgent(started.loop);
      await run.keepEnd(end);
      return run.conclude(end);
    } catch (error) {
      if (!run.begun) throw error;
      return run.concludeFailure(error);
    } finally {
      stalls.unwatch(run);
      if (run.begun) await run.end();
      const failures = [...(await cleanUp.run()), ...((await undo?.run()) ?? [])];
      if (failures.length > 0)
        host.onProblem?.(`After the agent "${request.description}": ${failures.join("; ")}`);
    }
  };
}
