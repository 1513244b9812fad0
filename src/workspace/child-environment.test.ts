import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { childEnvironment, type Environment, readOnlyEnvironment } from "./child-environment.ts";
import { runShell } from "./shell.ts";

describe("secrets", () => {
  test.each([
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "OPENAI_API_KEY",
    "OPENAI_WEBHOOK_SECRET",
    "CADRE_TOKEN",
    "CADRE_DASHBOARD_TOKEN",
    "CADRE_BRIDGE_SECRET_FILE",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  ])("%s does not reach a child", (name) => {
    expect(childEnvironment({ [name]: "secret" })).not.toHaveProperty(name);
  });

  test("named by settings do not reach a child", () => {
    const env = childEnvironment({ SEARCH_KEY: "a", OTHER_KEY: "b" }, { secretNames: ["SEARCH_KEY"] });
    expect(env).not.toHaveProperty("SEARCH_KEY");
    expect(env.OTHER_KEY).toBe("b");
  });

  test("of the user's own programs, and settings of the runtime that are none, stay", () => {
    const env = {
      STRIPE_API_KEY: "a",
      ANTHROPIC_BASE_URL: "b",
      CADRE_HOME: "c",
      PATH: "/bin",
      KEYBOARD: "d",
    };
    expect(childEnvironment(env)).toMatchObject(env);
  });
});

test("what misleads the shell or git is taken out, and what keeps a command from waiting is put in", () => {
  const env = childEnvironment({
    BASH_ENV: "x",
    CDPATH: "/",
    GIT_DIR: "/x",
    FORCE_COLOR: "1",
    PAGER: "less",
    EDITOR: "vi",
  });
  for (const name of ["BASH_ENV", "CDPATH", "GIT_DIR", "FORCE_COLOR"]) expect(env).not.toHaveProperty(name);
  expect(env).toMatchObject({
    CADRE: "1",
    PAGER: "cat",
    GIT_PAGER: "cat",
    EDITOR: "true",
    GIT_TERMINAL_PROMPT: "0",
  });
});

test("git configuration that is already there is kept, also when it is nonsense", () => {
  const env = childEnvironment({ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b", GIT_CONFIG_VALUE_0: "c" });
  expect(env).toMatchObject({
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "a.b",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
  });
  expect(childEnvironment({ GIT_CONFIG_COUNT: "x" })).toMatchObject({
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
  });
});

describe("a repository that wants to run something", () => {
  const world = createNodeWorld();
  let workspace: TempWorkspace;
  const run = async (command: string, env: Environment) => {
    const signal = new AbortController().signal;
    const result = await runShell({ world, command, cwd: workspace.path, env, timeoutMs: 60_000, signal });
    return { exitCode: result.exitCode, text: result.output.head };
  };
  const marker = () => join(workspace.path, "marker");
  const env = childEnvironment({ PATH: world.env.PATH, HOME: "/nonexistent" });

  beforeEach(async () => {
    workspace = await createTempWorkspace();
    await run(
      "git init -q . && git config user.name a && git config user.email a@b && echo a > a && git add a && git commit -qm a",
      env,
    );
  });
  afterEach(() => workspace.remove());

  test("does not get its file system monitor run", async () => {
    const monitor = await workspace.write("monitor", `#!/bin/sh\ntouch ${marker()}\n`);
    await chmod(monitor, 0o755);
    await run(`git config core.fsmonitor ${monitor}`, env);
    expect(await run("git status --short", env)).toMatchObject({ exitCode: 0 });
    expect(existsSync(marker())).toBe(false);
    await run("git status --short", { PATH: world.env.PATH, HOME: "/nonexistent" });
    expect(existsSync(marker())).toBe(true);
  });

  test("gets its hooks run by a commit, and never by what only reads", async () => {
    const hook = await workspace.write(".git/hooks/post-checkout", `#!/bin/sh\ntouch ${marker()}\n`);
    await chmod(hook, 0o755);
    await run("git checkout -q -b other", readOnlyEnvironment(env));
    expect(existsSync(marker())).toBe(false);
    await run("git checkout -q -b another", env);
    expect(existsSync(marker())).toBe(true);
  });

  test("is not found in a folder that only poses as one, by what only reads", async () => {
    await run("git clone -q --bare . planted", env);
    expect(await run("cd planted && git log --oneline", env)).toMatchObject({ exitCode: 0 });
    expect((await run("cd planted && git log --oneline", readOnlyEnvironment(env))).exitCode).not.toBe(0);
  });

  test("does not make a merge wait for an editor", async () => {
    await run("git checkout -q -b b && echo b > b && git add b && git commit -qm b", env);
    await run("git checkout -q - && echo c > c && git add c && git commit -qm c", env);
    expect(await run("git merge --edit b && git log -1 --format=%s", env)).toMatchObject({ exitCode: 0 });
  });
});
