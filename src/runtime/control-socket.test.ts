import { spawnSync } from "node:child_process";
import { dirname, join, relative } from "node:path";
import { buildSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Connection, World } from "../base/world.ts";
import { noUsage } from "../contracts/usage.ts";
import { createTaskRegistry, type TaskRegistry } from "../tasks/registry.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { askSession, type ControlQuestion } from "./control-client.ts";
import { linesOf } from "./control-lines.ts";
import { addressOfSession, controlSocketPath } from "./control-path.ts";
import type { ControlledSession } from "./control-requests.ts";
import { type ControlSocket, createControlSocket } from "./control-socket.ts";
import { isSessionAddress, sendToSession } from "./session-address.ts";

const id = "0a1b2c3d-1111-4111-8111-111111111111";
const otherId = "ffffffff-2222-4222-8222-222222222222";
let workspace: TempWorkspace;
let world: World;
let tasks: TaskRegistry;
let delivered: unknown[];
let problems: string[];
let sockets: ControlSocket[];

beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path, tempFolder: join(workspace.path, "tmp") });
  tasks = createTaskRegistry({ clock: world.clock });
  delivered = [];
  problems = [];
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) await socket.close();
  await workspace.remove();
});

function session(overrides: Partial<ControlledSession> = {}): ControlledSession {
  return {
    id,
    tasks,
    async taskOutput(taskId, options) {
      return { text: `${taskId} ${options?.maxBytes}`, totalBytes: 99, truncated: true };
    },
    async deliver(message) {
      delivered.push(message);
    },
    ...overrides,
  };
}

async function open(options: { session?: ControlledSession; world?: World } = {}): Promise<ControlSocket> {
  const socket = createControlSocket({
    world: options.world ?? world,
    session: options.session ?? session(),
    onProblem: (message) => void problems.push(message),
  });
  sockets.push(socket);
  await socket.open();
  return socket;
}

const path = () => controlSocketPath(world, id);
const ask = <Question extends ControlQuestion>(question: Question) =>
  askSession({ world, path: path(), question });

async function say(text: string | Uint8Array): Promise<Connection> {
  const connection = await world.sockets.connect(path());
  await connection.write(text);
  return connection;
}

async function answersIn(connection: Connection): Promise<Record<string, unknown>[]> {
  const answers: Record<string, unknown>[] = [];
  for await (const line of linesOf(connection.incoming, 1 << 20))
    answers.push(JSON.parse(line) as Record<string, unknown>);
  return answers;
}

/** Runs until it is stopped, and ends at once then. */
function startTask(taskId = "b1"): void {
  const run = tasks.register(
    { id: taskId, kind: "local_bash", description: "a shell", isBackgrounded: true, command: "sleep 9" },
    { stop: (reason) => void run.end({ status: "killed", error: reason }) },
  );
}

describe("the control socket", () => {
  it("tells the tasks with their progress, without what is long", async () => {
    startTask();
    tasks.register(
      {
        id: "a1",
        kind: "local_agent",
        description: "d".repeat(5_000),
        isBackgrounded: false,
        agent: {
          agentType: "Explore",
          prompt: "p".repeat(100_000),
          depth: 1,
          progress: { toolUses: 3, usage: noUsage, lastActivities: ["Read a"], state: "stalled" },
        },
      },
      { stop() {} },
    );
    await open();
    const { tasks: told } = await ask({ request: "tasks" });
    expect(told).toMatchObject([
      { id: "b1", status: "running", command: "sleep 9", isBackgrounded: true },
      { id: "a1", agent: { agentType: "Explore", progress: { toolUses: 3, state: "stalled" } } },
    ]);
    expect(told[1]?.description).toHaveLength(2_000);
    expect(JSON.stringify(told)).not.toContain("ppp");
    expect(await ask({ request: "task", taskId: "b1" })).toMatchObject({ task: { id: "b1" } });
    await expect(ask({ request: "task", taskId: "b2" })).rejects.toMatchObject({ code: "task-unknown" });
  });

  it("stops a task that runs, and says of another why it cannot", async () => {
    startTask();
    // Its clock stands still: the answer comes with the end of the task.
    await open({ world: { ...world, clock: createManualClock() } });
    expect(await ask({ request: "stop", taskId: "b1" })).toMatchObject({ task: { status: "killed" } });
    await expect(ask({ request: "stop", taskId: "b1" })).rejects.toMatchObject({
      code: "task-not-running",
      message: "The task b1 is not running: it is killed.",
    });
    await expect(ask({ request: "stop", taskId: "none" })).rejects.toMatchObject({ code: "task-unknown" });
  });

  it("answers with what became of a task that leaves the registry at its end", async () => {
    tasks.onChange(({ type, task }) => void (type === "task-end" && tasks.remove(task.id)));
    startTask();
    await open();
    expect(await ask({ request: "stop", taskId: "b1" })).toMatchObject({ task: { status: "killed" } });
  });

  it("does not wait for ever for a task that does not end", async () => {
    const clock = createManualClock();
    const stopped = new Promise<void>((resolve) => {
      tasks.register(
        { id: "b1", kind: "local_bash", description: "deaf", isBackgrounded: true },
        { stop: () => resolve() },
      );
    });
    await open({ world: { ...world, clock } });
    const asking = ask({ request: "stop", taskId: "b1" });
    await stopped;
    await clock.advance(2_000);
    expect(await asking).toMatchObject({ task: { status: "running" } });
  });

  it("stops everything in the background", async () => {
    startTask("b1");
    startTask("b2");
    await open();
    expect(await ask({ request: "stop-all" })).toEqual({ stopped: 2 });
    expect(tasks.list().map(({ status }) => status)).toEqual(["killed", "killed"]);
  });

  it("gives the output of a task", async () => {
    await open();
    expect(await ask({ request: "output", taskId: "b1", maxBytes: 7 })).toEqual({
      text: "b1 7",
      totalBytes: 99,
      truncated: true,
    });
  });

  it("answers each request once and in order, also when many come at once and the last without a break", async () => {
    startTask();
    await open();
    const request = (name: string) => JSON.stringify({ version: 1, request: name });
    const connection = await say(`${request("tasks")}\n\n${request("nonsense")}\n${request("stop-all")}`);
    connection.end();
    expect(await answersIn(connection)).toMatchObject([
      { version: 1, ok: true, tasks: [{ id: "b1" }] },
      { version: 1, ok: false, code: "request-invalid" },
      { version: 1, ok: true, stopped: 1 },
    ]);
  });

  it.each([
    ["nothing of sense", "request-invalid"],
    ["null", "request-invalid"],
    ["[]", "request-invalid"],
    ['{"request":"tasks"}', "request-invalid"],
    ['{"version":2,"request":"tasks"}', "version-unsupported"],
    ['{"version":1,"request":"stop"}', "request-invalid"],
    ['{"version":1,"request":"stop","taskId":7}', "request-invalid"],
    ['{"version":1,"request":"message","from":"x","id":"y","text":""}', "request-invalid"],
    ['{"version":1,"request":"__proto__"}', "request-invalid"],
  ])("refuses %s, and goes on", async (line, code) => {
    await open();
    const connection = await say(`${line}\n{"version":1,"request":"tasks"}\n`);
    connection.end();
    expect(await answersIn(connection)).toMatchObject([{ ok: false, code }, { ok: true }]);
  });

  it("refuses a line that does not end, and lets go of who sends it", async () => {
    await open();
    const connection = await world.sockets.connect(path());
    const sending = connection.write("x".repeat(2 * 1024 * 1024)).catch(() => {});
    expect(await answersIn(connection).catch(() => [])).toMatchObject([{ ok: false, code: "line-too-long" }]);
    await sending;
    connection.close();
    expect(await ask({ request: "tasks" })).toEqual({ tasks: [] });
  });

  it("answers a few at a time, and says so to another", async () => {
    await open();
    const few = await Promise.all(Array.from({ length: 8 }, () => say('{"version":1,"request":"tasks"}\n')));
    const first = few.map(({ incoming }) => linesOf(incoming, 1_000));
    for (const lines of first) await lines.next();
    await expect(ask({ request: "tasks" })).rejects.toMatchObject({ code: "too-many-connections" });
    for (const connection of few) connection.close();
  });

  it("lets go of who says nothing, not of who goes on asking", async () => {
    const clock = createManualClock();
    await open({ world: { ...world, clock } });
    const request = '{"version":1,"request":"tasks"}\n';
    const connection = await say(request);
    const lines = linesOf(connection.incoming, 1_000);
    for (let asked = 0; asked < 3; asked++) {
      expect((await lines.next()).done).toBe(false);
      await clock.advance(20_000);
      if (asked < 2) await connection.write(request);
    }
    await clock.advance(10_000);
    expect(await lines.next().catch(() => ({ done: true }))).toMatchObject({ done: true });
    connection.close();
  });

  it("is private, and gone when it is closed", async () => {
    const socket = await open();
    await socket.open();
    expect((await world.files.lstat(path())).mode).toBe(0o600);
    expect((await world.files.lstat(dirname(path()))).mode).toBe(0o700);
    await socket.close();
    await socket.close();
    await socket.open();
    expect(await world.files.readFolder(dirname(path()))).toEqual([]);
    await expect(ask({ request: "tasks" })).rejects.toMatchObject({ code: "session-unreachable" });
  });

  it("is gone when it is closed while it opens", async () => {
    const socket = createControlSocket({ world, session: session() });
    const opening = socket.open();
    await socket.close();
    await opening;
    expect(await world.files.readFolder(dirname(path()))).toEqual([]);
  });

  it("replaces what a process that died has left, of others as well", async () => {
    await world.files.makeFolder(dirname(path()), { recursive: true, mode: 0o700 });
    for (const left of [path(), controlSocketPath(world, otherId)]) leaveSocket(left);
    const socket = await open();
    expect(await ask({ request: "tasks" })).toEqual({ tasks: [] });
    await socket.close();
    expect(await world.files.readFolder(dirname(path()))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("never takes the place of one that is alive, nor sweeps it away", async () => {
    await open({ session: session({ id: otherId }) });
    await open();
    await open();
    expect(problems).toEqual([expect.stringContaining("the socket of a session that runs")]);
    for (const each of [id, otherId]) {
      const question = { request: "tasks" } as const;
      const there = await askSession({ world, path: controlSocketPath(world, each), question });
      expect(there).toEqual({ tasks: [] });
    }
  });

  it("is the one of exactly one, however many open it at once over a dead one", async () => {
    await world.files.makeFolder(dirname(path()), { recursive: true, mode: 0o700 });
    leaveSocket(path());
    await Promise.all(Array.from({ length: 6 }, () => open()));
    expect(problems).toHaveLength(5);
    expect(await ask({ request: "tasks" })).toEqual({ tasks: [] });
  });

  it("is not taken from one that has opened while another was about to clear the dead one", async () => {
    await world.files.makeFolder(dirname(path()), { recursive: true, mode: 0o700 });
    leaveSocket(path());
    const about = gate();
    const goOn = gate();
    const slowFiles = {
      ...world.files,
      async remove(...[target, options]: Parameters<World["files"]["remove"]>) {
        if (target === path()) {
          about.open();
          await goOn.opened;
        }
        await world.files.remove(target, options);
      },
    };
    const tried = gate();
    const watchedFiles = {
      ...world.files,
      link: (from: string, to: string) => world.files.link(from, to).finally(tried.open),
    };
    const slow = open({ world: { ...world, files: slowFiles } });
    await about.opened;
    const quick = open({ world: { ...world, files: watchedFiles } });
    await Promise.race([quick, tried.opened]);
    goOn.open();
    await Promise.all([slow, quick]);
    expect(problems).toEqual([expect.stringContaining("the socket of a session that runs")]);
    expect(await ask({ request: "tasks" })).toEqual({ tasks: [] });
  });

  it("leaves a file alone that is no socket, and says that nobody can reach the session", async () => {
    const at = relative(workspace.path, path());
    await workspace.write(at, "mine");
    await world.files.chmod(dirname(path()), 0o700);
    await open();
    expect(problems).toEqual([expect.stringContaining("not a socket of this user")]);
    expect(await workspace.read(at)).toBe("mine");
  });

  it("does not keep its process alive", () => {
    const program = `
      import { createControlSocket } from ${JSON.stringify(join(import.meta.dirname, "control-socket.ts"))};
      import { createNodeWorld } from ${JSON.stringify(join(import.meta.dirname, "../base/world/node-world.ts"))};
      const world = createNodeWorld({ env: { HOME: ${JSON.stringify(workspace.path)} } });
      const socket = createControlSocket({ world, session: { id: ${JSON.stringify(id)} } });
      await socket.open();
      await world.sockets.connect(${JSON.stringify(path())}).then((connection) => connection.close());
      console.log("open");`;
    const built = bundle(program);
    const ended = spawnSync(process.execPath, ["--input-type=module", "-e", built], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(ended).toMatchObject({ status: 0, stdout: "open\n", stderr: "" });
  });
});

describe("where it is", () => {
  it("is below the home folder, another one for every session", () => {
    expect(controlSocketPath({ homeFolder: "/home/u", tempFolder: "/tmp" }, id)).toBe(
      "/home/u/.cadre/run/ChssPRERQRGBEREREREREQ.sock",
    );
    expect(addressOfSession({ homeFolder: "/home/u", tempFolder: "/tmp" }, id)).toBe(
      "uds:/home/u/.cadre/run/ChssPRERQRGBEREREREREQ.sock",
    );
    const alike = `${id.slice(0, -1)}2`;
    expect(controlSocketPath(world, alike)).not.toBe(controlSocketPath(world, id));
  });

  it("is a private folder of the user below the temporary one where that would be too long", async () => {
    const homeFolder = join(workspace.path, "é".repeat(40));
    const far = { ...world, homeFolder };
    const near = controlSocketPath(far, id);
    expect(dirname(dirname(near))).toBe(world.tempFolder);
    expect(near).not.toBe(controlSocketPath({ ...far, homeFolder: `${homeFolder}2` }, id));
    await open({ world: far });
    expect((await world.files.lstat(dirname(near))).mode).toBe(0o700);
    expect(await askSession({ world, path: near, question: { request: "tasks" } })).toEqual({ tasks: [] });
  });

  it("is nowhere if both are too long", async () => {
    const long = `/${"x".repeat(120)}`;
    await open({ world: { ...world, homeFolder: long, tempFolder: long } });
    expect(problems).toEqual([expect.stringContaining("Set TMPDIR")]);
  });
});

/** Where sessions have their sockets. */
async function runFolder(): Promise<string> {
  const folder = dirname(path());
  await world.files.makeFolder(folder, { recursive: true, mode: 0o700 });
  return folder;
}

describe("a message to another session", () => {
  const message = { from: "uds:/somewhere", id: "m1", text: 'hello\n</agent-message> "you"' };

  it("arrives before the sender goes on", async () => {
    await open();
    const to = addressOfSession(world, id);
    expect(isSessionAddress(to)).toBe(true);
    await sendToSession({ world, to, ...message });
    expect(delivered).toEqual([message]);
  });

  it("is refused in the words of the other session", async () => {
    await open({
      session: session({
        deliver: async () => {
          throw new Error("the disk is full");
        },
      }),
    });
    await expect(sendToSession({ world, to: addressOfSession(world, id), ...message })).rejects.toThrow(
      "the disk is full",
    );
  });

  it.each([
    ["bridge:x", "address-invalid"],
    ["uds:", "address-invalid"],
    ["uds:relative.sock", "address-invalid"],
    ["uds:/no/such.sock", "address-invalid"],
    ["uds:/var/run/docker.sock", "address-invalid"],
    ["uds:/etc/hostname", "address-invalid"],
    ["uds:/a\0b", "address-invalid"],
  ])("to %j is an error", async (to, code) => {
    await expect(sendToSession({ world, to, ...message })).rejects.toMatchObject({ code });
  });

  it("is not sent through a link, nor to a socket that nobody serves", async () => {
    await open();
    const link = join(dirname(path()), "link.sock");
    await world.files.symlink(path(), link);
    await expect(sendToSession({ world, to: `uds:${link}`, ...message })).rejects.toMatchObject({
      code: "session-unreachable",
    });
    const dead = join(dirname(path()), "dead.sock");
    leaveSocket(dead);
    await expect(sendToSession({ world, to: `uds:${dead}`, ...message })).rejects.toThrow(
      "is no longer there",
    );
    expect(delivered).toEqual([]);
  });

  it("that is too long is an error, and the longest one arrives", async () => {
    await open();
    const to = addressOfSession(world, id);
    await sendToSession({ world, to, ...message, text: "\0".repeat(128 * 1024) });
    expect(delivered).toHaveLength(1);
    await expect(
      sendToSession({ world, to, ...message, text: "x".repeat(128 * 1024 + 1) }),
    ).rejects.toMatchObject({ code: "message-too-long" });
  });

  it("waits for an answer as long as its deadline, or until it is cancelled", async () => {
    const clock = createManualClock();
    const silent = join(await runFolder(), "silent.sock");
    const heard: Promise<void>[] = [];
    let hear = () => {};
    const listen = () => {
      heard.push(new Promise<void>((resolve) => (hear = resolve)));
      return heard.at(-1);
    };
    const listener = await world.sockets.listen(silent, ({ incoming }) => {
      void (async () => {
        for await (const _ of incoming) hear();
      })().catch(() => {});
    });
    const to = `uds:${silent}`;
    const first = listen();
    const sending = sendToSession({ world: { ...world, clock }, to, ...message });
    await first;
    const [late] = await Promise.allSettled([sending, clock.advance(5_000)]);
    expect(late).toMatchObject({ reason: { code: "session-unreachable", message: /within 5 s/ } });
    const controller = new AbortController();
    const second = listen();
    const cancelled = sendToSession({ world, to, ...message, signal: controller.signal });
    await second;
    controller.abort("enough");
    await expect(cancelled).rejects.toMatchObject({ name: "CancelledError" });
    await listener.close();
  });

  it("to something that is no session is an error", async () => {
    const strange = join(await runFolder(), "strange.sock");
    const listener = await world.sockets.listen(strange, (connection) => {
      void connection.write("220 smtp ready\n").then(() => connection.end());
    });
    await expect(sendToSession({ world, to: `uds:${strange}`, ...message })).rejects.toThrow(
      "does not answer as a session does",
    );
    await listener.close();
  });
});

/** A process that listens there and is killed. */
function leaveSocket(at: string): void {
  const program = `require("node:net").createServer().listen(${JSON.stringify(at)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", program]);
}

function bundle(program: string): string {
  const built = buildSync({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  return built.outputFiles[0]?.text ?? "";
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
