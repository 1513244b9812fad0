/** What others add to the start of an agent, and how it is put together. */
import { throwIfCancelled } from "../base/cancellation.ts";
import type { CleanUp } from "../base/clean-up.ts";
import type { HooksPort } from "../loop/loop-options.ts";
import type { AgentStart, Contribution, Contributor } from "./agent-host.ts";

/** Asks those of one stage, one after the other. What each gave is undone with the agent. */
export async function contribute(
  contributors: readonly Contributor[],
  stage: Contributor["stage"],
  { start, cleanUp }: { start: AgentStart; cleanUp: CleanUp },
): Promise<readonly Contribution[]> {
  const given: Contribution[] = [];
  for (const contributor of contributors) {
    if (contributor.stage !== stage) continue;
    throwIfCancelled(start.scope);
    const contribution = await contributor.contribute(start);
    if (contribution === undefined) continue;
    given.push(contribution);
    if (contribution.release) cleanUp.add(contributor.name, () => contribution.release?.());
  }
  return given.length === 0 ? nothing : given;
}

const nothing: readonly Contribution[] = [];

/** The first that does not let the agent end has the word. */
export function hooksOf(contributions: readonly Contribution[]): HooksPort | undefined {
  const all = contributions.flatMap(({ hooks }) => (hooks ? [hooks] : []));
  if (all.length < 2) return all[0];
  return {
    async beforeEnd(lastMessage) {
      for (const hooks of all) {
        const word = await hooks.beforeEnd(lastMessage);
        if (word !== undefined) return word;
      }
      return undefined;
    },
  };
}
