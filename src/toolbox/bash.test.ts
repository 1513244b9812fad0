import { existsSync } from "node:fs";
import { mkdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import type { ToolProgress } from "../contracts/event.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createBashTool } from "./bash.ts";

const bash = createBashTool();
let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const run = (command: string, more: { timeout?: number } = {}) => scene.run(bash, { command, ...more });

describe("the result", () => {
  test("is the output when the command succeeds", async () => {
    expect(await run("echo out; echo err >&2")).toMatchObject({ content: "out\nerr", isError: false });
  });

  test("of a failure names the exit code and fails the siblings", async () => {
    const outcome = await run("echo before; exit 3");
    expect(outcome).toMatchObject({ content: "before\nExit code 3", isError: true, failsSiblings: true });
  });

  test("of grep without a match is an answer", async () => {
    await scene.write("a.txt", "nothing\n");
    const outcome = await run("grep foo a.txt");
    expect(outcome).toMatchObject({ isError: false, failsSiblings: false });
    expect(outcome.content).toContain("Exit code 1");
  });

  test("of a timeout says so, with the output so far", async () => {
    const outcome = await run("echo early; sleep 100", { timeout: 300 });
    expect(outcome).toMatchObject({ isError: true, failsSiblings: true });
    expect(outcome.content).toMatch(/^early\n/);
    expect(outcome.content).toContain("longer than 0.3 s");
  });

  test("of a command that was killed names the signal", async () => {
    expect(await run("kill -KILL $$")).toMatchObject({
      isError: true,
      content: "The command was ended by SIGKILL",
    });
  });

  test("of a long output is cut, and the whole can be read in a private file", async () => {
    const outcome = await run("seq 1 100000; echo the end");
    const content = String(outcome.content);
    const path = /in (\S+\.txt);/.exec(content)?.[1] ?? "";
    expect(content.length).toBeLessThanOrEqual(bash.maxResultChars);
    expect(content.startsWith("1\n2\n")).toBe(true);
    expect(content.endsWith("the end")).toBe(true);
    expect(await readFile(path, "utf8")).toBe(
      `${Array.from({ length: 100_000 }, (_, i) => i + 1).join("\n")}\nthe end\n`,
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("of a long output stands although it can not be kept", async () => {
    const blocked = await scene.write("blocked", "a file where the folder should be");
    const agent = { ...scene.agent, results: { ...scene.agent.results, folder: join(blocked, "x") } };
    const outcome = await scene.run(bash, { command: "seq 1 100000" }, { agent });
    expect(outcome.isError).toBe(false);
    expect(outcome.content).toContain("could not be kept");
  });

  test("keeps characters whole where the middle is left out", async () => {
    const outcome = await run("yes 'aé😀' | head -c 900000");
    expect(outcome.content).not.toContain("\ufffd");
    expect(() => encodeURIComponent(String(outcome.content))).not.toThrow();
  });
});

describe("the folder", () => {
  test("stays for the next call", async () => {
    await mkdir(scene.path("inner"));
    expect((await run("cd inner")).content).toContain(scene.path("inner"));
    expect((await run("pwd")).content).toBe(scene.path("inner"));
  });

  test("stays when the command failed after moving", async () => {
    await mkdir(scene.path("inner"));
    await run("cd inner && false");
    expect(scene.agent.folder.current).toBe(scene.path("inner"));
  });

  test("is the root again when it vanished, with a note", async () => {
    await mkdir(scene.path("inner"));
    await run("cd inner");
    await rm(scene.path("inner"), { recursive: true });
    const outcome = await run("pwd");
    expect(outcome.content).toMatch(new RegExp(`^${scene.folder}\n.*inner does not exist any more`));
    expect(scene.agent.folder.current).toBe(scene.folder);
  });

  test("below a root that is a link keeps the name of the root", async () => {
    await mkdir(scene.path("real/inner"), { recursive: true });
    await symlink(scene.path("real"), scene.path("link"));
    const root = scene.path("link");
    const agent = { ...scene.agent, folder: { root, roots: [root], current: root } };
    await scene.run(bash, { command: "cd inner" }, { agent });
    expect(agent.folder.current).toBe(join(root, "inner"));
    await scene.run(bash, { command: "cd .." }, { agent });
    expect(agent.folder.current).toBe(root);
  });

  test("of an agent that has none any more is told", async () => {
    await rm(scene.folder, { recursive: true });
    expect(await scene.fail(bash, { command: "pwd" })).toContain("does not exist any more");
  });
});

describe("a running command", () => {
  test("reports its last lines", async () => {
    const bound = bash.bind({ command: "echo one; echo two" });
    if (!bound.ok) throw new Error(bound.problem);
    const seen: ToolProgress[] = [];
    await bound.run({ ...scene.context, report: (progress) => seen.push(progress) });
    expect(seen[0]?.text).toMatch(/^one/);
  });

  test("reports no more often than twice a second", async () => {
    const still = { ...scene.world.clock, monotonicMs: () => 0 };
    const bound = bash.bind({ command: "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done" });
    if (!bound.ok) throw new Error(bound.problem);
    const seen: ToolProgress[] = [];
    const world = { ...scene.world, clock: still };
    await bound.run({ ...scene.context, world, report: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ text: "1" }]);
  });

  test("that is cancelled throws the cancellation and leaves no process", async () => {
    const controller = new AbortController();
    const bound = bash.bind({ command: "echo $$; sleep 100" });
    if (!bound.ok) throw new Error(bound.problem);
    let pid = 0;
    const running = bound.run({
      ...scene.context,
      signal: controller.signal,
      report({ text }) {
        pid = Number(text);
        controller.abort(new CancelledError("interrupted by the user"));
      },
    });
    await expect(running).rejects.toThrow("interrupted by the user");
    expect(pid).toBeGreaterThan(1);
    expect(scene.world.processes.isAlive(pid)).toBe(false);
  });
});

describe("the judgement", () => {
  test.each([
    ["ls -la", true, true],
    ["cd src && ls", true, false],
    ["rm a", false, false],
    ["ls '", false, false],
  ])("of %s", (command, isReadOnly, isConcurrencySafe) => {
    expect(bash.bind({ command })).toMatchObject({ isReadOnly, isConcurrencySafe });
  });

  test.each([{ command: "" }, { command: "ls", timeout: 600_001 }, { command: "ls", timeout: 0 }, {}])(
    "refuses the input %j",
    (input) => {
      expect(bash.bind(input).ok).toBe(false);
    },
  );
});

test("git runs no hook and no monitor of the repository while it only reads", async () => {
  const marker = scene.path("marker");
  await run("git init -q . && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm a");
  await scene.write(".git/hooks/post-index-change", `#!/bin/sh\ntouch ${marker}\n`);
  await run("chmod +x .git/hooks/post-index-change && touch -d yesterday a");
  const status = await run("git diff && git status --short");
  expect(status).toMatchObject({ isError: false });
  expect(existsSync(marker)).toBe(false);
});
