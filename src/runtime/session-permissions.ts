/** The permissions of a session: rules, the questions that wait, and what was decided. */
import type { World } from "../base/world.ts";
import { createPermissionBroker } from "../permissions/broker.ts";
import type { PermissionEngine } from "../permissions/engine.ts";
import type { Gate } from "../tools/executor.ts";
import type { DecisionRecord } from "../transcript/record.ts";
import { createPermissionGate } from "./permission-gate.ts";
import { describeRuleProblem } from "./permission-setup.ts";
import { createProjectRules } from "./project-rules.ts";
import type { SessionPermissions } from "./session.ts";

/** More than anybody reads; the transcript has all. */
const keptDecisions = 1000;

export function createSessionPermissions(options: {
  world: World;
  cwd: string;
  engine: PermissionEngine;
  /** Of the session's own files. */
  sessionFolders: readonly string[];
  questionTimeoutMs?: number;
  /** Under what name people know an agent. */
  nameOfAgent: (agentId: string) => string | undefined;
  record: (decision: DecisionRecord) => void;
}): { gate: Gate; permissions: SessionPermissions; modeChanged(): void } {
  const { world, cwd, engine } = options;
  const decisions: DecisionRecord[] = [];
  const broker = createPermissionBroker({
    clock: world.clock,
    random: world.random,
    // For the session of all agents: children that run already share this engine (PE-7).
    grant: (rule) => engine.grant({ rule, behavior: "allow", source: "session" }),
    keep: createProjectRules({ world, folder: cwd }).keep,
  });
  const gate = createPermissionGate({
    engine,
    broker,
    clock: world.clock,
    sessionFolders: options.sessionFolders,
    describeAgent(agentId) {
      const name = options.nameOfAgent(agentId);
      return name === undefined ? undefined : { name };
    },
    ...(options.questionTimeoutMs !== undefined && { questionTimeoutMs: options.questionTimeoutMs }),
    record(decision) {
      decisions.push(decision);
      if (decisions.length > keptDecisions) decisions.shift();
      options.record(decision);
    },
  });
  return {
    gate,
    permissions: {
      get waiting() {
        return broker.waiting;
      },
      subscribe: broker.subscribe,
      answer: broker.answer,
      get decisions() {
        return [...decisions];
      },
      get warnings() {
        return engine.problems.map(describeRuleProblem);
      },
    },
    modeChanged: () => void broker.reconsider(),
  };
}
