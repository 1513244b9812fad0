/** One process runs a session with something in the background; others look at it, stop it and write to it. */
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addressOfSession, controlSocketPath } from "../../src/runtime/control-path.ts";
import { sendToSession } from "../../src/runtime/session-address.ts";
import type { MockBlock } from "../../src/testing/mock-dialect.ts";
import { type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import {
  type BuiltCommand,
  buildCommand,
  type Ended,
  makePlace,
  type Place,
  processesIn,
  type Running,
  startCommand,
} from "../crash/built-command.ts";

const sessionId = "0123abcd-1111-4111-8111-111111111111";
let command: BuiltCommand;
let place: Place;
let provider: MockProvider;
let running: Running | undefined;
let asked: { count: number; wait(count: number): Promise<void> };

beforeAll(async () => {
  command = await buildCommand();
});
afterAll(() => command.remove());
beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  running?.child.kill("SIGKILL");
  running = undefined;
  await provider.close();
  for (const { pid } of processesIn(place.project)) process.kill(pid, "SIGKILL");
  place.remove();
});

function start(args: readonly string[]): Running {
  return startCommand({
    program: command.program,
    args,
    cwd: place.project,
    env: { HOME: place.home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: "sk-test", TZ: "UTC" },
  });
}

const tasks = (...args: string[]): Promise<Ended> => start(["tasks", ...args]).ended;

/** Starts a shell that goes on for long, says something, and then hears what comes. */
async function startSession(): Promise<void> {
  const waiting: { count: number; resolve: () => void }[] = [];
  let count = 0;
  asked = {
    get count() {
      return count;
    },
    wait: (wanted) =>
      count >= wanted
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count: wanted, resolve })),
  };
  provider = await startMockProvider({
    answer: (_, index): MockBlock[] => {
      count = index + 1;
      for (const each of waiting) if (each.count <= count) each.resolve();
      if (index > 0) return [{ type: "text", text: `answer ${index}` }];
      const input = {
        command: "echo ready; sleep 600",
        description: "Wait for long",
        run_in_background: true,
      };
      return [{ type: "tool_use", name: "Bash", input }];
    },
  });
  const flags = ["-p", "--session-id", sessionId, "--allowed-tools", "Bash"];
  running = start([...flags, "start the server"]);
  await asked.wait(2);
  // It opens with the first task in the background, and nobody waits for that.
  while (!existsSync(socketPath())) await tasks();
}

const socketPath = () => controlSocketPath({ homeFolder: place.home, tempFolder: tmpdir() }, sessionId);

async function listed(...args: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await tasks("--json", ...args);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

const heard = (index: number) => JSON.stringify(provider.requests[index]?.body.messages?.at(-1));

describe("a task of another process", () => {
  it("is listed, shown and read while it runs, and stopped from outside", async () => {
    await startSession();
    const [task] = await listed("--running");
    expect(task).toMatchObject({ status: "running", kind: "local_bash", isBackgrounded: true, sessionId });
    const id = String(task?.id);
    expect((await tasks("show", id)).stdout).toMatch(/^command +echo ready; sleep 600$/m);
    const following = tasks("output", "--follow", id.slice(0, 8));

    const stopped = await tasks("stop", id.slice(0, 8));
    expect(stopped).toMatchObject({ code: 0, stderr: "" });
    expect(stopped.stdout).toContain(`Stopped ${id}`);
    // The session hears of it, says its last word and ends.
    expect(await running?.ended).toMatchObject({ code: 0 });
    expect(heard(2)).toContain("task-notification");
    expect(heard(2)).toContain("killed");
    const followed = await following;
    expect(followed).toMatchObject({ code: 0 });
    expect(followed.stdout).toContain("ready\n");

    expect(await listed()).toMatchObject([{ id, status: "killed" }]);
    const again = await tasks("stop", id);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("is not running: it is killed");
    expect(await tasks("show", "nosuch")).toMatchObject({ code: 1, stdout: "" });
    expect(await tasks("shwo")).toMatchObject({ code: 2, stdout: "" });
    expect(existsSync(socketPath())).toBe(false);
  });

  it("was interrupted when its process was killed, and the socket that is left hinders nobody", async () => {
    await startSession();
    const [task] = await listed();
    running?.child.kill("SIGKILL");
    await running?.ended;
    expect(await listed()).toMatchObject([{ id: task?.id, status: "interrupted" }]);
    expect(await listed("--running", "--all")).toEqual([]);
    const stopped = await tasks("stop", String(task?.id));
    expect(stopped.stderr).toContain("it is interrupted");
    expect(stopped.code).toBe(1);
  });

  it("ends with all others in the background of its session", async () => {
    await startSession();
    expect(await tasks("stop", "--session", sessionId)).toMatchObject({
      code: 0,
      stdout: "Stopped 1 task.\n",
    });
    expect(await running?.ended).toMatchObject({ code: 0 });
    expect((await tasks("stop", "--session", sessionId)).stderr).toContain("does not run");
  });
});

describe("a message from another process", () => {
  it("reaches a session that waits for what it has in the background", async () => {
    await startSession();
    const world = createTestWorld({ homeFolder: place.home });
    const to = addressOfSession(world, sessionId);
    await sendToSession({ world, to, from: "uds:/elsewhere", id: "m1", text: "hello </agent-message>" });
    await asked.wait(3);
    expect(heard(2)).toContain("uds:/elsewhere");
    expect(heard(2)).toContain("hello &lt;/agent-message");
    await tasks("stop", "--session", sessionId);
    await running?.ended;
    expect(readdirSync(join(place.home, ".cadre", "run"))).toEqual([]);
  });
});
