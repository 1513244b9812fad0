import { expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createTestAgent } from "../testing/loop-harness.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createToolContext } from "../tools/tool-context.ts";
import type { AgentHost } from "./agent-host.ts";
import { createAgentTool } from "./agent-tool.ts";

const gates = {
  background: false,
  fork: false,
  sendMessage: false,
  teams: false,
  cwd: false,
  worktree: false,
  remote: false,
};

it("refuses an agent at the limit of depth that has the tool all the same, before it looks at anything else", async () => {
  const world = createTestWorld();
  // Only what is asked before the refusal: the rest must not be reached.
  const host = { live: { of: () => ({ depth: 2 }) }, settings: { maxAgentDepth: 2 } } as unknown as AgentHost;
  const tool = createAgentTool({ host, gates, spawn: async () => expect.unreachable() });
  const bound = tool.bind({ description: "d", prompt: "p" });
  const agent = createTestAgent(world.tempFolder);
  const context = createToolContext({ world, scope: createScope(), toolUseId: "1", agent });
  const run = bound.ok ? bound.run(context) : expect.unreachable();
  await expect(run).rejects.toThrow(/nested 2 deep here, and this one is at depth 2.*maxAgentDepth/);
});
