import { describe, expect, it } from "vitest";
import type { AgentContext } from "../agents/agent-context.ts";
import type { AgentHost } from "../agents/agent-host.ts";
import type { CompletedAgent } from "../agents/agent-result.ts";
import type { SpawnRequest } from "../agents/spawn-request.ts";
import { createScope } from "../base/cancellation.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { ToolProgress } from "../contracts/event.ts";
import { noUsage } from "../contracts/usage.ts";
import { createTestAgent } from "../testing/loop-harness.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createToolContext, type EarlyAnswer } from "../tools/tool-context.ts";
import { callForkedCommand } from "./run-forked.ts";

const world = createTestWorld();
const command = {
  name: "review",
  text: "look at it",
  agent: "helper",
  allowedTools: ["Read"],
  model: "small",
};
const helper: AgentDefinition = { agentType: "helper", whenToUse: "", prompt: "", source: "flag" };
const end: CompletedAgent = {
  status: "completed",
  agentId: "a1",
  agentType: "helper",
  prompt: "look at it",
  content: [{ type: "text", text: "all is well" }],
  totalTokens: 1,
  totalToolUseCount: 0,
  totalDurationMs: 1,
  usage: noUsage,
};

/** Only what a start asks for: the rest is the business of whoever spawns. */
function invoke(caller: { depth?: number; source?: AgentContext["agent"]["source"] }, definition = helper) {
  const scope = createScope();
  const agent = { ...createTestAgent(world.tempFolder), agentId: "caller", ...caller };
  const parent = { agent, depth: caller.depth ?? 0, history: { messages: [] } } as unknown as AgentContext;
  const host = {
    live: { of: (id: string | undefined) => (id === "caller" ? parent : undefined) },
    settings: {},
    definitions: { load: async () => ({ activeAgents: [definition] }) },
    mayStart: () => true,
  } as unknown as AgentHost;
  const told: ToolProgress[] = [];
  const early: EarlyAnswer = { answer() {} };
  const report = (progress: ToolProgress) => void told.push(progress);
  const context = createToolContext({ world, scope, toolUseId: "call", agent, report, early });
  const requests: SpawnRequest[] = [];
  const spawn = async (request: SpawnRequest) => {
    requests.push(request);
    request.report?.({ type: "agent-event", agentId: "a1", event: { type: "turn-start", turn: 1 } });
    return end;
  };
  const result = callForkedCommand(command, context, { host, spawn });
  return { result, requests, told, parent, scope, early };
}

describe("a forked command that a model invokes", () => {
  it("is started for whoever calls, below the call, and answers with what its agent comes to", async () => {
    const { result, requests, told, parent, scope, early } = invoke({});
    expect(await result).toBe(end);
    expect(requests).toEqual([
      {
        parent,
        scope,
        definition: helper,
        description: "/review",
        prompt: "look at it",
        allowedTools: ["Read"],
        model: "small",
        toolUseId: "call",
        isBackground: false,
        report: expect.any(Function),
        early,
      },
    ]);
    expect(told).toMatchObject([{ data: { type: "agent-event", agentId: "a1" } }]);
  });

  it("is refused to an agent that may start none", async () => {
    await expect(invoke({ depth: 1 }).result).rejects.toThrow(
      /nested 1 deep here \(setting: maxAgentDepth\)/,
    );
  });

  it("is refused to a fork, which does its work itself", async () => {
    await expect(invoke({ source: { kind: "fork" } }).result).rejects.toThrow(/A fork starts no agents/);
  });

  it("is refused when its agent would run elsewhere", async () => {
    const remote: AgentDefinition = { ...helper, isolation: "remote" };
    await expect(invoke({}, remote).result).rejects.toThrow(/wants a remote engine, and none is set up/);
  });
});
