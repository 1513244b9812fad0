/** Sessions as files, written line by line: for tests of those who read what others have left. */
import { join } from "node:path";
import { acquireLock, type Lock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import { noUsage } from "../contracts/usage.ts";
import { type SessionFiles, sessionFiles } from "../transcript/location.ts";
import type { TempWorkspace } from "./temp-workspace.ts";

export interface WrittenSessions {
  filesOf(sessionId: string, cwd?: string): SessionFiles;
  writeSession(sessionId: string, records: readonly object[], cwd?: string): Promise<void>;
  writeAgent(sessionId: string, agentId: string, records: readonly object[]): Promise<void>;
  /** As if a process (this one) ran the session. */
  hold(sessionId: string): Promise<Lock>;
  /** Of an absolute path in the workspace. */
  relative(path: string): string;
}

/** The workspace is the home folder of `world`; `cwd` is the folder of a session unless another is given. */
export function createWrittenSessions(options: {
  workspace: TempWorkspace;
  world: World;
  cwd: string;
}): WrittenSessions {
  const { workspace, world } = options;
  const filesOf = (sessionId: string, cwd = options.cwd) =>
    sessionFiles({ homeFolder: workspace.path, cwd, sessionId });
  const relative = (path: string) => path.slice(workspace.path.length + 1);
  return {
    filesOf,
    relative,
    async writeSession(sessionId, records, cwd = options.cwd) {
      const head = { type: "head", version: 1, sessionId, cwd, timestamp: isoAt(0) };
      await workspace.write(relative(filesOf(sessionId, cwd).transcript), linesFor([head, ...records]));
    },
    async writeAgent(sessionId, agentId, records) {
      const path = join(filesOf(sessionId).subagents, `agent-${agentId}.jsonl`);
      await workspace.write(relative(path), linesFor(records));
    },
    hold: (sessionId) =>
      acquireLock({ world, path: filesOf(sessionId).lock, purpose: "a session", unfenced: true }),
  };
}

export function linesFor(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** So many seconds after noon of a certain day. */
export function timeAt(second: number): number {
  return Date.UTC(2026, 0, 1, 12, 0, second);
}

export function isoAt(second: number): string {
  return new Date(timeAt(second)).toISOString();
}

/** A shell that runs, unless `more` says otherwise. */
export function taskRecord(id: string, more: object = {}): object {
  const task = {
    id,
    kind: "local_bash",
    status: "running",
    description: `what ${id} does`,
    startedAt: timeAt(10),
    command: "make",
    outputFile: `/out/${id}.txt`,
  };
  return { type: "task", task: { ...task, ...more } };
}

export function agentRecord(agentId: string, more: object = {}): object {
  const meta = {
    agentId,
    agentType: "Explore",
    description: `what ${agentId} does`,
    depth: 1,
    cwd: "/project",
    startedAt: isoAt(10),
  };
  return { type: "agent", version: 1, meta: { ...meta, ...more } };
}

export function toldRecord(second: number, text: string): object {
  return messageRecord(second, { role: "user", content: [{ type: "text", text }] });
}

/** It says this, if anything, and calls `Read` so many times. */
export function saidRecord(second: number, text: string, calls = 0): object {
  const words = text === "" ? [] : [{ type: "text", text }];
  const reads = Array.from({ length: calls }, (_, index) => ({
    type: "tool_use",
    id: `t${second}${index}`,
    name: "Read",
    input: { file_path: "/a" },
  }));
  const usage = { ...noUsage, outputTokens: 5 };
  return messageRecord(second, {
    role: "assistant",
    content: [...words, ...reads],
    response: { id: "r", model: "m", stopReason: "end_turn", usage },
  });
}

function messageRecord(second: number, message: object): object {
  const place = { uuid: `m${second}`, parentUuid: null, timestamp: isoAt(second) };
  return { type: "message", message: { ...place, ...message } };
}

export function runEndRecord(reason = "completed", more: object = {}): object {
  return { type: "run-end", reason, turns: 1, usage: { ...noUsage, inputTokens: 7 }, ...more };
}
