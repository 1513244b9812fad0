/** The single entry for every agent that another starts: named or resumed (SP-16 to SP-21). */
import { createCleanUp } from "../base/clean-up.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
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
    let loop: AsyncGenerator<LoopEvent, LoopEnd, undefined> | undefined;
    let run: AgentRun | undefined;
    try {
      const started = await start(request, cleanUp);
      host.live.enter(started.context);
      cleanUp.add("its place among the live agents", () => host.live.leave(started.agentId));
      run = new AgentRun(host, started);
      loop = runLoop(started.loop);
      let step = await loop.next();
      for (; !step.done; step = await loop.next()) run.see(step.value);
      await run.keepEnd(step.value);
      return run.conclude(step.value);
    } catch (error) {
      if (run === undefined) throw error;
      return run.concludeFailure(error);
    } finally {
      // After its end this does nothing; a run that nobody can watch any longer is stopped.
      await loop?.return(abandoned);
      run?.end();
      const failures = await cleanUp.run();
      if (failures.length > 0)
        host.onProblem?.(`After the agent "${request.description}": ${failures.join("; ")}`);
    }
  };
}

const abandoned = { reason: "aborted", during: "between-turns", why: "nobody watches this agent" } as const;
