import type { Clock } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import { type ChooseCacheTtl, createTtlChooser } from "../loop/choose-cache-ttl.ts";
import type { TaskRegistry } from "../tasks/registry.ts";

/** What the setting `cache.ttl` means for the requests of a session. Undefined: nothing is chosen. */
export function cacheTtlOf(
  { cache }: Settings,
  { clock, tasks }: { clock: Clock; tasks: Pick<TaskRegistry, "list"> },
): ChooseCacheTtl | undefined {
  if (cache?.ttl === "1h") return () => "1h";
  if (cache?.ttl !== "auto") return undefined;
  return createTtlChooser({
    clock,
    isAwaiting: (agentId) =>
      tasks
        .list()
        .some(
          ({ status, isBackgrounded, parentAgentId }) =>
            status === "running" && isBackgrounded && parentAgentId === agentId,
        ),
  });
}
