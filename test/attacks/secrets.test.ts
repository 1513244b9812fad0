/** The runtime's keys stay out of requests, transcripts, kept results, errors and logs (PE-11). */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import { createModelSource } from "../../src/runtime/model-source.ts";
import type { RunResult, SessionOptions } from "../../src/runtime/session.ts";
import { startMockProvider } from "../../src/testing/mock-provider.ts";
import { createScriptedModel, type ScriptedCall } from "../../src/testing/scripted-model.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { defineTool, ToolFailure } from "../../src/tools/tool.ts";

const key = "sk-test-Zx9+/0123456789-secret";
const otherKey = "local-key-0123456789";
const env = { ...process.env, ANTHROPIC_API_KEY: key, MY_KEY: otherKey };
const settings = { providers: { mine: { type: "anthropic" as const, keyEnv: "MY_KEY" } } };

let workspace: TempWorkspace;
let home: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  home = await createTempWorkspace();
});
afterEach(async () => {
  await workspace.remove();
  await home.remove();
});

const leaky = (say: (input: { how: string }) => string) =>
  defineTool({
    name: "Leak",
    description: "",
    input: z.object({ how: z.string().default("result") }),
    isReadOnly: () => true,
    maxResultChars: 200,
    async call(input) {
      const text = say(input);
      if (input.how === "failure") throw new ToolFailure(text);
      if (input.how === "bug") throw new Error(text);
      return text;
    },
    toResult: (text) => text,
  });

async function run(calls: readonly ScriptedCall[], options: Partial<SessionOptions> = {}) {
  const model = createScriptedModel([...calls.map((call) => ({ calls: [call] })), "done"]);
  const session = createSession({
    world: createTestWorld({ homeFolder: home.path, env }),
    cwd: workspace.path,
    model,
    settings,
    ...options,
  });
  for await (const _ of session.submit("go"));
  await session.close();
  return { sent: JSON.stringify(model.requests.map((request) => request.messages)), session };
}

/** All files below the home: transcript and kept results. */
async function stored(): Promise<string> {
  const { files } = createNodeWorld();
  const texts: string[] = [];
  const walk = async (folder: string) => {
    for (const entry of await files.readFolder(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.kind === "folder") await walk(path);
      else texts.push(await files.readText(path));
    }
  };
  await walk(home.path);
  return texts.join("\n");
}

const forms = [key, otherKey, Buffer.from(key).toString("base64"), encodeURIComponent(key)];

describe("a secret of the runtime", () => {
  it.each(["result", "failure", "bug"])("that a tool prints (%s) is neither sent nor stored", async (how) => {
    const { sent } = await run([{ name: "Leak", input: { how } }], { tools: [leaky(() => forms.join(" "))] });
    for (const form of forms) expect(sent + (await stored())).not.toContain(form);
    expect(sent).toContain("[redacted: ANTHROPIC_API_KEY]");
    expect(sent).toContain("[redacted: MY_KEY]");
  });

  it("is not in the result that is put away whole, nor where the cut would halve it", async () => {
    const text = `${"x".repeat(140)}${key}${"y".repeat(500)}`;
    const { sent } = await run([{ name: "Leak" }], { tools: [leaky(() => text)] });
    expect(sent + (await stored())).not.toContain(key.slice(0, 12));
    expect(sent).toContain("The whole is in");
  });

  it("that stands in a file is not shown, and stays in the file when others lines change", async () => {
    await workspace.write(".env", `KEY=${key}\nMODE=a\n`);
    const { sent } = await run(
      [
        { name: "Read", input: { file_path: ".env" } },
        { name: "Grep", input: { pattern: "KEY", output_mode: "content" } },
        { name: "Edit", input: { file_path: ".env", old_string: "MODE=a", new_string: "MODE=b" } },
        {
          name: "Write",
          input: { file_path: ".env", content: "KEY=[redacted: ANTHROPIC_API_KEY]\nMODE=c\n" },
        },
      ],
      { permissionMode: "bypassPermissions", dangerouslySkipPermissions: true },
    );
    expect(sent + (await stored())).not.toContain(key);
    expect(sent).toContain("stands for a secret");
    expect(await workspace.read(".env")).toBe(`KEY=${key}\nMODE=b\n`);
  });

  it("is not in the environment of a command", async () => {
    const { sent } = await run([{ name: "Bash", input: { command: "env" } }], {
      permissionMode: "bypassPermissions",
      dangerouslySkipPermissions: true,
    });
    expect(sent).toContain("PATH=");
    expect(sent).not.toContain("MY_KEY");
    expect(sent).not.toContain("ANTHROPIC_API_KEY");
  });

  it("that the provider echoes is not in the error", async () => {
    const provider = await startMockProvider({
      answer: () => ({
        status: 400,
        body: { type: "error", error: { type: "invalid_request_error", message: `bad key ${key}` } },
      }),
    });
    const world = createTestWorld({
      homeFolder: home.path,
      env: { ...env, ANTHROPIC_BASE_URL: provider.url },
    });
    try {
      const model = await createModelSource({ world, settings: {} }).model();
      const session = createSession({ world, cwd: workspace.path, model, settings: {} });
      const running = session.submit("go");
      let result: RunResult | undefined;
      for (let step = await running.next(); result === undefined; step = await running.next())
        if (step.done) result = step.value;
      await session.close();
      if (result.end.reason !== "model_error") throw new Error(`it ended by ${result.end.reason}`);
      expect(result.end.error.message).toContain("bad key");
      expect(result.end.error.message).not.toContain(key);
    } finally {
      world.network.close();
      await provider.close();
    }
  });
});
