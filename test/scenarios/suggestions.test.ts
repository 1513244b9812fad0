/** What a program is offered over stream-json: a real process and the model that needs no network. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { type BuiltCommand, buildCommand } from "../crash/built-command.ts";

let command: BuiltCommand;
let home: TempWorkspace;
let project: TempWorkspace;
let child: ChildProcess | undefined;

beforeAll(async () => {
  command = await buildCommand();
});
afterAll(() => command.remove());
beforeEach(async () => {
  home = await createTempWorkspace();
  project = await createTempWorkspace();
  await project.write("a.js", "export const oldName = 1;\n");
});
afterEach(async () => {
  child?.kill("SIGKILL");
  for (const folder of [home, project]) await folder.remove();
});

/** Sends one prompt, and ends the input when `isEnough`. */
async function converse(
  initialize: Record<string, unknown>,
  options: { settings?: unknown; isEnough: (message: Record<string, unknown>) => boolean },
): Promise<Record<string, unknown>[]> {
  const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const settings = JSON.stringify(options.settings ?? {});
  const program = spawn(
    process.execPath,
    [command.program, ...args, "--allowed-tools", "Edit", "--settings", settings],
    {
      cwd: project.path,
      env: { HOME: home.path, PATH: process.env.PATH },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  child = program;
  const request = { subtype: "initialize", ...initialize };
  const prompt = { role: "user", content: "rename oldName to newName" };
  for (const line of [
    { type: "control_request", request_id: "1", request },
    { type: "user", message: prompt },
  ])
    program.stdin.write(`${JSON.stringify(line)}\n`);
  const said: Record<string, unknown>[] = [];
  for await (const line of createInterface({ input: program.stdout })) {
    const message = JSON.parse(line) as Record<string, unknown>;
    said.push(message);
    if (options.isEnough(message)) program.stdin.end();
  }
  return said;
}

const isSuggestion = ({ type }: Record<string, unknown>) => type === "prompt_suggestion";
const isIdle = ({ state }: Record<string, unknown>) => state === "idle";

describe("a program that asks for suggestions", () => {
  it.each([{}, { services: { suggest: { tokens: 100_000 } } }])(
    "hears one after a run, with the settings %j",
    async (settings) => {
      const said = await converse({ promptSuggestions: true }, { settings, isEnough: isSuggestion });
      expect(said.filter(isSuggestion)).toMatchObject([{ suggestion: "run the tests" }]);
    },
  );

  it("hears none where they are switched off, nor one that did not ask", async () => {
    const settings = { services: { suggest: false } };
    const off = await converse({ promptSuggestions: true }, { settings, isEnough: isIdle });
    expect(off.filter(isSuggestion)).toEqual([]);
    const silent = await converse({}, { isEnough: isIdle });
    expect(silent.filter(isSuggestion)).toEqual([]);
  });
});
