import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import { parseArguments, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { permissionsOptions } from "../options.ts";
import { runPermissions } from "./permissions.ts";

let workspace: TempWorkspace;
beforeAll(async () => {
  workspace = await createTempWorkspace();
});
afterAll(() => workspace.remove());

async function check(...argv: string[]) {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    isTerminal: false,
    write: async (text: string) => {
      written[name] += text;
    },
    flush: async () => {},
  });
  // Only what the command writes to.
  const io = { stdout: sink("stdout"), stderr: sink("stderr") } as unknown as CommandIo;
  const parsed = parseArguments(permissionsOptions, [...argv, "--cwd", workspace.path, "--no-settings"]);
  const code = await runPermissions({ ...parsed, io });
  return { code, ...written };
}

describe("cadre permissions check", () => {
  test("prints the engine's decision as one JSON object", async () => {
    const { code, stdout } = await check(
      "check",
      "Bash",
      '{"command":"ls; rm x"}',
      "--deny",
      "Bash(rm:*)",
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      decision: "deny",
      reason: '"rm x" is denied by the flag rule Bash(rm:*)',
      part: "rm x",
      rule: { source: "flag", rule: "Bash(rm:*)" },
      mode: "default",
    });
  });

  test("says it in words without --json", async () => {
    const { stdout } = await check("check", "Bash", '{"command":"npm test"}');
    expect(stdout).toMatch(/^ask: no rule allows it/);
    expect(stdout).toContain("would be allowed by: Bash(npm test)");
    expect(
      (await check("check", "Bash", '{"command":"npm test"}', "--allow", "Bash(npm test:*)")).stdout,
    ).toBe("allow: allowed by the flag rule Bash(npm test:*)\n  rule: Bash(npm test:*) (flag)\n");
  });

  test("takes mode, ask rules and working folders", async () => {
    const outside = await createTempWorkspace();
    const file = JSON.stringify({ file_path: `${outside.path}/a` });
    const decide = async (...more: string[]) =>
      JSON.parse((await check("check", "Write", file, "--json", "--mode", "acceptEdits", ...more)).stdout)
        .decision;
    expect(await decide()).toBe("ask");
    expect(await decide("--add-dir", outside.path)).toBe("allow");
    expect(await decide("--add-dir", outside.path, "--ask", "Edit")).toBe("ask");
    await outside.remove();
  });

  test("reports rules that it does not understand", async () => {
    const { stdout } = await check("check", "Bash", '{"command":"ls"}', "--deny", "Bash(ls", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      decision: "deny",
      problems: [{ behavior: "deny", rule: "Bash(ls" }],
    });
    const { stderr } = await check("check", "Bash", '{"command":"ls"}', "--allow", "Bash(ls");
    expect(stderr).toContain("the allow rule Bash(ls (flag): the closing parenthesis is missing");
  });

  test.each([
    [[]],
    [["list"]],
    [["check"]],
    [["check", "Bash"]],
    [["check", "Bash", "ls"]],
    [["check", "Bash", "[]"]],
    [["check", "Bash", "{}", "more"]],
    [["check", "Bash", "{}", "--add-dir", "/does/not/exist"]],
  ])("wrong usage is told as such: %j", async (argv) => {
    await expect(check(...argv)).rejects.toThrow(UsageError);
  });
});
