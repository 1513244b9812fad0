/** `cadre/testing`: what the tests of this package use, for the tests of others. */
export { createFaultyFiles } from "./faulty-files.ts";
export { createManualClock, type ManualClock } from "./manual-clock.ts";
export { startMockProvider } from "./mock-provider.ts";
export {
  createScriptedModel,
  type Reply,
  type Script,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "./scripted-model.ts";
export { createTempWorkspace, type TempWorkspace } from "./temp-workspace.ts";
export { createTestWorld } from "./test-world.ts";
export { createVirtualClock } from "./virtual-clock.ts";
