/** The library: everything the `cadre` command does is done through these. */
export { CadreError, CancelledError } from "./base/errors.ts";
export { createNodeWorld } from "./base/world/node-world.ts";
export type { World } from "./base/world.ts";
export { type LoadedSettings, loadSettings } from "./config/settings.ts";
export type { LoopEnd, LoopEvent, ModelEvent, ToolProgress } from "./contracts/event.ts";
export type { Block, Message, ToolResultBlock, ToolUseBlock } from "./contracts/message.ts";
export type { PermissionAnswer, PermissionMode, PermissionRequest } from "./contracts/permission.ts";
export type { Settings } from "./contracts/settings.ts";
export type { Usage } from "./contracts/usage.ts";
export type { Model, ModelRequest, ToolDescription } from "./model/model.ts";
export { ModelError } from "./model/model-error.ts";
export { buildModel as createModel } from "./runtime/build-model.ts";
export { createSession } from "./runtime/create-session.ts";
export type { RunResult, Session, SessionOptions, Surface } from "./runtime/session.ts";
export { defineTool, type Tool, ToolFailure, type ToolSpec } from "./tools/tool.ts";
export type { ToolContext } from "./tools/tool-context.ts";
export { type LoadedTranscript, loadTranscript } from "./transcript/reader.ts";
