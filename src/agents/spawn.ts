/** The single entry for every agent that another starts: named or resumed (SP-16 to SP-21). */
import { createCleanUp } from "../base/clean-up.ts";
import { runLoop } from "../loop/query-loop.ts";
import type { AgentHost } from "./agent-host.ts";
import type { AgentNews } from "./agent-news.ts";
import { createPrefixes } from "./agent-prefix.ts";
import type { CompletedAgent } from "./agent-result.ts";
import { AgentRun } from "./agent-run.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { createAgentStarter } from "./start-agent.ts";

/** Runs an agent to its end. Rejects with the cancellation of the request, or when there is nothing to report. */
export type Spawn = (request: SpawnRequest) => Promise<CompletedAgent>;

export function createSpawn(host: AgentHost, news: AgentNews): Spawn {
  const start = createAgentStarter(host, { prefixOf: createPrefixes(host), news });

  // All in one function, since this is what waits while an agent works, and thousands may.
  return async (request) => {
    const cleanUp = createCleanUp();
    const run = new AgentRun(host);
    try {
      const started = await start(request, { cleanUp, listener: run });
      host.live.enter(started.context);
      cleanUp.add("its place among the live agents", () => host.live.leave(started.agentId));
      run.begin(started);
      const end = await runLoop(started.loop);
      await run.keepEnd(end);
      return run.conclude(end);
    } catch (error) {
      if (!run.begun) throw error;
      return run.concludeFailure(error);
    } finally {
      if (run.begun) run.end();
      const failures = await cleanUp.run();
      if (failures.length > 0)
        host.onProblem?.(`After the agent "${request.description}": ${failures.join("; ")}`);
    }
  };
}
