/** The library: everything the `cadre` command does is done through these. */
export type {
  AgentRoute,
  AgentStart,
  Contribution,
  Contributor,
  ServerPort,
} from "./agents/agent-host.ts";
export type { AgentToolOutput, CompletedAgent } from "./agents/agent-result.ts";
export { createScope, type Scope } from "./base/cancellation.ts";
export { CadreError, CancelledError } from "./base/errors.ts";
export { createNodeWorld } from "./base/world/node-world.ts";
export type { World } from "./base/world.ts";
export { type LoadedSettings, loadSettings } from "./config/settings.ts";
export type { AgentDefinition, AgentReport, LoadedAgents } from "./contracts/agent-definition.ts";
export {
  type AgentActivity,
  agentActivityOf,
  type LoopEnd,
  type LoopEvent,
  type ModelEvent,
  type ToolProgress,
} from "./contracts/event.ts";
export type { Block, Message, ToolResultBlock, ToolUseBlock } from "./contracts/message.ts";
export type { PermissionAnswer, PermissionMode, PermissionRequest } from "./contracts/permission.ts";
export type { Settings } from "./contracts/settings.ts";
export type { Task, TaskStatus } from "./contracts/task.ts";
export type { Usage } from "./contracts/usage.ts";
export type { Model, ModelRequest, ToolDescription } from "./model/model.ts";
export { ModelError } from "./model/model-error.ts";
export type { QuestionChange, Verdict, WaitingQuestion } from "./permissions/broker.ts";
export { createSession } from "./runtime/create-session.ts";
export { type FoundSession, findSession } from "./runtime/find-sessions.ts";
export { createModelSource, type ModelSource } from "./runtime/model-source.ts";
export { type RestoredSession, restoreSession } from "./runtime/restore-session.ts";
export type {
  CompactionResult,
  RunResult,
  Session,
  SessionOptions,
  SessionPermissions,
  Surface,
} from "./runtime/session.ts";
export type { ServiceCost } from "./services/service-host.ts";
export { defineTool, type Tool, ToolFailure, type ToolSpec } from "./tools/tool.ts";
export type { ToolContext } from "./tools/tool-context.ts";
export { type LoadedTranscript, loadTranscript } from "./transcript/reader.ts";
export type { DecisionRecord } from "./transcript/record.ts";
