/** A temporary folder with an agent in it, for tests that call one tool at a time. */

import { dirname, join } from "node:path";
import { createScope } from "../base/cancellation.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import type { ResultContentBlock } from "../contracts/message.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore } from "../tools/result-store.ts";
import { type Tool, ToolFailure } from "../tools/tool.ts";
import type { AgentScope, ToolContext } from "../tools/tool-context.ts";
import type { ToolOutcome } from "../tools/tool-outcome.ts";

export interface ToolScene {
  readonly world: World;
  readonly folder: string;
  readonly agent: AgentScope;
  readonly context: ToolContext;
  path(name: string): string;
  write(name: string, data: string | Uint8Array): Promise<string>;
  bytes(name: string): Promise<Buffer>;
  text(name: string): Promise<string>;
  run(tool: Tool, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutcome>;
  /** The text that the model reads. Rejects if the call fails. */
  call(tool: Tool, input: unknown, context?: Partial<ToolContext>): Promise<string>;
  /** The message of the failure. Rejects if the call does not fail. */
  fail(tool: Tool, input: unknown, context?: Partial<ToolContext>): Promise<string>;
  dispose(): Promise<void>;
}

export async function createToolScene(): Promise<ToolScene> {
  const world = createNodeWorld();
  const made = join(world.tempFolder, `cadre-scene-${world.random.uuid()}`);
  await world.files.makeFolder(made, { recursive: true });
  const base = await world.files.realPath(made);
  const folder = join(base, "work");
  await world.files.makeFolder(folder);
  const agent: AgentScope = {
    sessionId: "scene",
    source: { kind: "main" },
    folder: { root: folder, roots: [folder], current: folder },
    fileReads: createFileReads(),
    results: createResultStore({ world, folder: join(base, "results") }),
    todos: { items: [] },
    mode: { current: "default" },
    toolEnv: { PATH: world.env.PATH, HOME: base },
  };
  const scope = createScope();
  const context: ToolContext = { world, scope, signal: scope.signal, toolUseId: "call-1", agent };
  const path = (name: string) => join(folder, name);

  const run: ToolScene["run"] = async (tool, input, overrides) => {
    const bound = tool.bind(input);
    if (!bound.ok) throw new Error(bound.problem);
    return await bound.run({ ...context, ...overrides });
  };

  return {
    world,
    folder,
    agent,
    context,
    path,
    async write(name, data) {
      await world.files.makeFolder(dirname(path(name)), { recursive: true });
      await world.files.writeFile(path(name), data);
      return path(name);
    },
    bytes: async (name) => Buffer.from(await world.files.readFile(path(name))),
    text: (name) => world.files.readText(path(name)),
    run,
    call: async (tool, input, overrides) => textOfOutcome((await run(tool, input, overrides)).content),
    async fail(tool, input, overrides) {
      const outcome = await run(tool, input, overrides).catch((error: unknown) => {
        if (error instanceof ToolFailure) return error;
        throw error;
      });
      if (outcome instanceof ToolFailure) return outcome.message;
      throw new Error(`The call should have failed, but said: ${textOfOutcome(outcome.content)}`);
    },
    dispose: () => world.files.remove(base, { recursive: true, force: true }),
  };
}

function textOfOutcome(content: string | ResultContentBlock[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
