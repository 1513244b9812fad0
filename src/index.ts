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
export type { ForkedCommand, ForkedCommandEnd, ForkedCommandOptions } from "./commands/run-forked.ts";
export { type LoadedSettings, type LoadedSource, loadSettings } from "./config/settings.ts";
export type { AgentDefinition, AgentReport, LoadedAgents } from "./contracts/agent-definition.ts";
export {
  type AgentActivity,
  agentActivityOf,
  type BackgroundActivity,
  type BlockDelta,
  type CompactionTrigger,
  type LoopEnd,
  type LoopEvent,
  type ModelEvent,
  type RunSource,
  type StreamedBlock,
  type ToolProgress,
} from "./contracts/event.ts";
export type { Block, Message, ToolResultBlock, ToolUseBlock } from "./contracts/message.ts";
export type { PermissionAnswer, PermissionMode, PermissionRequest } from "./contracts/permission.ts";
export type { CallFacts, CallReceipt, Receipt, ReceiptSummary } from "./contracts/receipt.ts";
export type { Settings } from "./contracts/settings.ts";
export type {
  AgentTask,
  AgentTaskProgress,
  Task,
  TaskEndStatus,
  TaskKind,
  TaskStatus,
} from "./contracts/task.ts";
export { isGoingOn } from "./contracts/task.ts";
export type { Usage } from "./contracts/usage.ts";
export type { Model, ModelRequest, ToolDescription } from "./model/model.ts";
export { ModelError } from "./model/model-error.ts";
export type { QuestionChange, Questions, Verdict, WaitingQuestion } from "./permissions/broker.ts";
export { createSession } from "./runtime/create-session.ts";
export { type FoundSession, findSession } from "./runtime/find-sessions.ts";
export { createModelSource, type ModelSource } from "./runtime/model-source.ts";
export { type RestoredSession, restoreSession } from "./runtime/restore-session.ts";
export type {
  CompactionResult,
  RunCommandOptions,
  RunResult,
  Session,
  SessionOptions,
  SessionPermissions,
  Surface,
  TaskText,
} from "./runtime/session.ts";
export type { ServiceCost } from "./services/service-host.ts";
export type { ServiceName } from "./services/service-settings.ts";
export type { TaskChange, TaskRegistry } from "./tasks/registry.ts";
export type { AskUser } from "./toolbox/ask-user-question.ts";
export type { ApprovePlan } from "./toolbox/plan-mode.ts";
export { defineTool, type Tool, ToolFailure, type ToolSpec } from "./tools/tool.ts";
export type { EarlyAnswer, ToolContext } from "./tools/tool-context.ts";
export { type LoadedTranscript, loadTranscript } from "./transcript/reader.ts";
export type { DecisionRecord } from "./transcript/record.ts";
