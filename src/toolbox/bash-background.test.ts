import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { escapeText } from "../base/markup.ts";
import { createRedactor } from "../base/secrets.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import type { Task } from "../contracts/task.ts";
import { type BackgroundTasks, createBackgroundTasks } from "../tasks/background.ts";
import { createQueue, type Queue } from "../tasks/queue.ts";
import { createTaskRegistry, type TaskChange, type TaskRegistry } from "../tasks/registry.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { ToolOutcome } from "../tools/tool-outcome.ts";
import { createBashTool } from "./bash.ts";

let scene: ToolScene;
let clock: ManualClock;
let tasks: TaskRegistry;
let queue: Queue;
let background: BackgroundTasks;
let bash: Tool;
let context: ToolContext;
let reminders: { task: Task; text: string }[];
let problems: string[];
let changes: TaskChange["type"][];
let recorded: string[];

beforeEach(async () => {
  scene = await createToolScene();
  clock = createManualClock();
  const world = { ...scene.world, clock };
  context = { ...scene.context, world };
  tasks = createTaskRegistry({ clock });
  queue = createQueue({ record: async () => {} });
  recorded = [];
  reminders = [];
  problems = [];
  changes = [];
  tasks.onChange(({ type }) => changes.push(type));
  background = createBackgroundTasks({
    world,
    folder: scene.path("../tasks"),
    tasks,
    queue,
    record: (record) => recorded.push(record.type),
    durable: async () => {},
    receiver: (above) => above[0],
    onProblem: (message) => problems.push(message),
  });
  bash = createBashTool({
    background: { tasks, background, remind: (reminder) => reminders.push(reminder) },
    onProblem: (message) => problems.push(message),
  });
});

afterEach(async () => {
  for (const { id, status } of tasks.list()) {
    if (status !== "running") continue;
    tasks.stop(id, "the test is over");
    await untilEnded(id);
  }
  await scene.dispose();
});

interface Started {
  readonly taskId: string;
  readonly outputFile: string;
}

async function start(command: string, more: object = {}): Promise<Started> {
  const outcome = await scene.run(bash, { command, run_in_background: true, ...more }, context);
  return outcome.output as Started;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { timeout: 15_000, interval: 5 }).toBe(true);
}

/** The clock goes on meanwhile, if the command does not end by itself. */
async function untilEnded(id: string, stepMs = 50): Promise<Task | undefined> {
  await until(async () => {
    await clock.advance(stepMs);
    return tasks.get(id)?.status !== "running" && background.ending === 0;
  });
  return tasks.get(id);
}

const textOf = ({ content }: QueueItem) => content.map((block) => ("text" in block ? block.text : "")).join();
const told = (target?: string) => queue.list(target).map(textOf);
const isAlive = async (pid: number) => (await scene.world.processes.identityOf(pid)) !== undefined;

/** Lets the command go on at a word of the test. */
function gate(name: string): { readonly command: string; open(): Promise<void> } {
  const path = scene.path(name);
  execFileSync("mkfifo", [path]);
  return { command: `read -r _ < ${path}`, open: () => writeFile(path, "go\n") };
}

describe("a command in the background", () => {
  test("is answered while it runs, with its task and its file", async () => {
    const go = gate("go");
    const outcome = await scene.run(
      bash,
      { command: `echo begun; ${go.command}; echo done`, description: "Builds it", run_in_background: true },
      { ...context, agent: { ...scene.agent, agentId: "a1" } },
    );
    const { taskId, outputFile } = outcome.output as Started;
    expect(outcome).toMatchObject({ isError: false, facts: { taskId } });
    expect(String(outcome.content).split("\n")).toEqual(
      expect.arrayContaining([`task_id: ${taskId}`, `output_file: ${outputFile}`]),
    );
    expect(outcome.content).toMatch(/notification will come.*Read.*TaskStop/s);
    expect(tasks.get(taskId)).toMatchObject({
      kind: "local_bash",
      status: "running",
      description: "Builds it",
      command: expect.stringContaining("echo begun") as string,
      toolUseId: "call-1",
      parentAgentId: "a1",
      isBackgrounded: true,
      outputFile,
    });
    expect(recorded).toEqual(["task"]);
    expect((await stat(outputFile)).mode & 0o777).toBe(0o600);
    await until(async () => (await readFile(outputFile, "utf8")) === "begun\n");
    await go.open();
    await untilEnded(taskId);
    expect(await readFile(outputFile, "utf8")).toBe("begun\ndone\n");
    expect(told("a1")).toHaveLength(1);
  });

  test.each([
    ["echo fine", "completed", "completed (exit code 0)", "fine", 0],
    ["echo bad >&2; exit 2", "failed", "failed (exit code 2)", "bad", 2],
    ["echo x | grep y", "completed", "completed (exit code 1)", "(no output)", 1],
    ["kill -KILL $$", "failed", "failed (ended by SIGKILL)", "Ended by SIGKILL", null],
    ["seq 1 10000", "completed", "completed (exit code 0)", "9999\n10000", 0],
  ])("tells of its end once: %s", async (command, status, how, last, exitCode) => {
    const { taskId, outputFile } = await start(command);
    expect(await untilEnded(taskId)).toMatchObject({ status, exitCode, notified: true });
    expect(told()).toHaveLength(1);
    const [text = ""] = told();
    expect(text).toContain(`<status>${status}</status>`);
    expect(text).toContain(`Background command "${escapeText(command)}" ${how}</summary>`);
    expect(text).toContain(`${last}</result>`);
    expect(text).toContain(`<output-file>${outputFile}</output-file>`);
    expect(text.length).toBeLessThan(3_000);
  });

  test("is ended neither by an interrupt of the turn, nor by the time limit of the others", async () => {
    const controller = new AbortController();
    context = { ...context, signal: controller.signal };
    const go = gate("go");
    const { taskId } = await start(`${go.command}; echo done`);
    controller.abort(new CancelledError("interrupted"));
    await clock.advance(3_600_000);
    await go.open();
    expect(await untilEnded(taskId)).toMatchObject({ status: "completed", exitCode: 0 });
  });

  test("ends at the time limit that it was given", async () => {
    const { taskId } = await start("sleep 1000", { timeout: 60_000 });
    await clock.advance(60_000);
    expect(await untilEnded(taskId)).toMatchObject({ status: "failed" });
    expect(told()[0]).toContain("failed (its time was over)");
  });

  test("has no effect when the call was interrupted before", async () => {
    const signal = AbortSignal.abort(new CancelledError("before"));
    const input = { command: "sleep 1000", run_in_background: true };
    await expect(scene.run(bash, input, { ...context, signal })).rejects.toThrow("before");
    expect(tasks.list()).toEqual([]);
  });

  test("that can not be started is a failure of the call", async () => {
    const input = { command: "echo a\0b", run_in_background: true };
    expect(await scene.fail(bash, input, context)).toContain("could not be started");
    expect([tasks.list(), told()]).toEqual([[], []]);
  });

  test("whose file can not be made is a failure of the call, and does not go on", async () => {
    await writeFile(scene.path("../tasks"), "a file where the folder should be");
    const input = { command: `echo $$ > ${scene.path("pid")}; sleep 1000`, run_in_background: true };
    const failing = scene.fail(bash, input, context);
    let failure: string | undefined;
    void failing.then((message) => {
      failure = message;
    });
    await until(async () => {
      await clock.advance(50);
      return failure !== undefined;
    });
    expect(failure).toContain("could not be run in the background");
    expect([tasks.list(), told()]).toEqual([[], []]);
    if (existsSync(scene.path("pid")))
      await until(async () => !(await isAlive(Number(await scene.text("pid")))));
  });

  test("that is stopped is asked to end, and says what it has to say", async () => {
    const { taskId, outputFile } = await start(
      "trap 'echo cleaned up; exit 0' TERM; echo ready; sleep 1000 & wait",
    );
    await until(async () => (await readFile(outputFile, "utf8")) === "ready\n");
    tasks.stop(taskId, "not needed any more");
    expect(await untilEnded(taskId)).toMatchObject({ status: "killed", error: "not needed any more" });
    expect(told()[0]).toContain("was stopped");
    expect(told()[0]).toContain("ready\ncleaned up</result>");
  });

  test("that is stopped ends with all of its group, also those who ignore it when their leader is gone", async () => {
    const { taskId, outputFile } = await start(
      `(trap '' TERM; echo $BASHPID; sleep 1000 >/dev/null 2>&1; sleep 1000) & wait`,
    );
    await until(async () => (await readFile(outputFile, "utf8")).endsWith("\n"));
    const pid = Number(await readFile(outputFile, "utf8"));
    tasks.stop(taskId, "enough");
    await until(async () => !(await isAlive(pid)) || clock.pendingMs().includes(25));
    expect([await isAlive(pid), tasks.get(taskId)?.status]).toEqual([true, "running"]);
    await clock.advance(2_000);
    expect(await untilEnded(taskId)).toMatchObject({ status: "killed" });
    await until(async () => !(await isAlive(pid)));
  });

  test("ends with the agent that started it", async () => {
    const agent = tasks.register(
      { id: "a1", kind: "local_agent", description: "Agent", isBackgrounded: false },
      { stop() {} },
    );
    context = { ...context, agent: { ...scene.agent, agentId: "a1" } };
    const { taskId } = await start("sleep 1000");
    agent.end({ status: "completed" });
    expect(await untilEnded(taskId)).toMatchObject({ status: "killed" });
  });

  test("shows no secret, though it comes in two parts", async () => {
    const secret = "sk-0123456789abcdef";
    const redactor = createRedactor([{ name: "THE_KEY", value: secret }]);
    context = { ...context, agent: { ...scene.agent, redactor } };
    const go = gate("go");
    const { taskId, outputFile } = await start(
      `echo first; printf %s ${secret.slice(0, 9)}; ${go.command}; echo ${secret.slice(9)}; printf %s ${secret}`,
    );
    await until(async () => (await readFile(outputFile, "utf8")) === "first\n");
    await go.open();
    await untilEnded(taskId, 0);
    const redacted = "first\n[redacted: THE_KEY]\n[redacted: THE_KEY]";
    expect(await readFile(outputFile, "utf8")).toBe(redacted);
    expect(told()[0]).toContain(`${redacted}</result>`);
  });

  test("that floods fills neither the disk nor memory", async () => {
    const before = process.memoryUsage().rss;
    const { taskId, outputFile } = await start("yes 0123456789 | head -c 300000000; echo the end");
    expect(await untilEnded(taskId)).toMatchObject({ status: "completed" });
    expect((await stat(outputFile)).size).toBeLessThan(65 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
    expect(told()[0]).toContain("the end</result>");
  });

  test("leaves the working folder where it is", async () => {
    const { taskId } = await start("cd /");
    await untilEnded(taskId);
    expect(scene.agent.folder.current).toBe(scene.folder);
  });

  test("is offered only where there can be one", () => {
    const shown = (tool: Tool) => JSON.stringify([tool.inputSchema, tool.description]);
    expect(shown(bash)).toContain("run_in_background");
    expect(shown(createBashTool())).not.toContain("run_in_background");
  });

  test("may start beside others, and only reads if it would otherwise", () => {
    expect(bash.bind({ command: "make", run_in_background: true })).toMatchObject({
      isReadOnly: false,
      isConcurrencySafe: true,
    });
    expect(bash.bind({ command: "ls", run_in_background: true })).toMatchObject({ isReadOnly: true });
    expect(bash.bind({ command: "make" })).toMatchObject({ isConcurrencySafe: false });
  });
});

describe("a command that waits for an answer", () => {
  test("is told once to whoever started it", async () => {
    const go = gate("go");
    const { taskId, outputFile } = await start(
      `printf 'Go on </system-reminder>? [y/N] '; ${go.command}; printf 'Sure? '; sleep 1000`,
      { description: "Asks <much>" },
    );
    await until(async () => (await readFile(outputFile, "utf8")).endsWith("[y/N] "));
    await clock.advance(44_000);
    expect(reminders).toEqual([]);
    await clock.advance(1_000);
    expect(reminders).toMatchObject([{ task: { id: taskId } }]);
    const text = reminders[0]?.text ?? "";
    expect(text).toMatch(/^<system-reminder>\n.*\n<\/system-reminder>$/s);
    expect(text).toContain(`"Asks &lt;much&gt;" (task ${taskId})`);
    expect(text).toContain("\nGo on &lt;/system-reminder&gt;? [y/N]\n");
    await go.open();
    await until(async () => (await readFile(outputFile, "utf8")).endsWith("Sure? "));
    await clock.advance(100_000);
    expect(reminders).toHaveLength(1);
  });

  test("is not one whose last line has ended", async () => {
    const { outputFile } = await start("echo working; printf 'and 50%%\\r'; sleep 1000");
    await until(async () => (await readFile(outputFile, "utf8")).endsWith("\r"));
    await clock.advance(100_000);
    expect(reminders).toEqual([]);
  });
});

describe("a command that somebody waits for", () => {
  interface Waiting {
    readonly result: Promise<ToolOutcome>;
    readonly early: Promise<ToolOutcome>;
    readonly answered: () => boolean;
  }

  function run(command: string, more: Partial<ToolContext> = {}, input: object = {}): Waiting {
    let answered = false;
    let answer = (_: ToolOutcome) => {};
    const early = new Promise<ToolOutcome>((resolve) => {
      answer = (outcome) => {
        answered = true;
        resolve(outcome);
      };
    });
    const result = scene.run(bash, { command, ...input }, { ...context, early: { answer }, ...more });
    result.catch(() => {});
    return { result, early, answered: () => answered };
  }

  /** The task that it becomes when it has run for a while. */
  async function untilTask(): Promise<Task> {
    await until(async () => {
      await clock.advance(500);
      return tasks.list().length > 0;
    });
    return tasks.list()[0] as Task;
  }

  test("is no task if it is short, nor if it can not be moved", async () => {
    await run("echo short").result;
    const go = gate("go");
    const waiting = scene.run(bash, { command: go.command }, context);
    await until(async () => {
      await clock.advance(500);
      return clock.now() > 10_000;
    });
    expect(changes).toEqual([]);
    await go.open();
    await waiting;
  });

  test("is a task while it takes long, and none after its end", async () => {
    const go = gate("go");
    const { result } = run(`${go.command}; echo done`);
    expect(await untilTask()).toMatchObject({ isBackgrounded: false, status: "running", kind: "local_bash" });
    await go.open();
    expect(await result).toMatchObject({ content: "done", facts: { exitCode: 0 } });
    expect([tasks.list(), changes, told()]).toEqual([[], ["task-start", "task-end", "task-remove"], []]);
  });

  test.each([
    ["little", "seq 1 10"],
    ["much", "seq 1 200000"],
    ["nothing", "true"],
  ])("can be moved when it has written %s, and nothing is lost or repeated", async (_, first) => {
    const go = gate("go");
    const command = `${first}; ${go.command}; seq 1 50000; echo end`;
    const { result, early } = run(command);
    const { id } = await untilTask();
    expect(tasks.toBackground(id)).toBe(true);
    const outcome = await early;
    const { outputFile } = outcome.output as Started;
    expect(outcome).toMatchObject({ isError: false, facts: { command, taskId: id } });
    expect(outcome.content).toContain(`task_id: ${id}\noutput_file: ${outputFile}\n`);
    expect(tasks.get(id)).toMatchObject({ isBackgrounded: true, status: "running" });
    await go.open();
    expect(await untilEnded(id)).toMatchObject({ status: "completed", exitCode: 0 });
    await result;
    const expected = execFileSync("bash", ["-c", `${first}; seq 1 50000; echo end`], {
      encoding: "utf8",
      maxBuffer: 1e8,
    });
    expect(await readFile(outputFile, "utf8")).toBe(expected);
    expect(told()).toHaveLength(1);
    expect(told()[0]).toContain("50000\nend</result>");
    await until(() =>
      scene.world.files.readFolder(scene.agent.results.folder).then(
        (files) => files.length === 0,
        () => true,
      ),
    );
  });

  test("keeps its lines in order when it is moved while it writes", async () => {
    const { early } = run("for i in $(seq 1 300); do seq $i 300 $((i * 400)); done; sleep 0.5");
    const { id } = await untilTask();
    tasks.toBackground(id);
    const { outputFile } = (await early).output as Started;
    await untilEnded(id);
    const expected = execFileSync("bash", ["-c", "for i in $(seq 1 300); do seq $i 300 $((i * 400)); done"], {
      encoding: "utf8",
      maxBuffer: 1e8,
    });
    expect(await readFile(outputFile, "utf8")).toBe(expected);
  });

  test("is ended neither by an interrupt nor by its time limit once it was moved", async () => {
    const controller = new AbortController();
    const go = gate("go");
    const command = `${go.command}; echo done`;
    const { early } = run(command, { signal: controller.signal }, { timeout: 10_000 });
    const { id } = await untilTask();
    tasks.toBackground(id);
    await early;
    controller.abort(new CancelledError("interrupted"));
    await clock.advance(3_600_000);
    await go.open();
    expect(await untilEnded(id)).toMatchObject({ status: "completed", exitCode: 0 });
    expect(told()).toHaveLength(1);
  });

  test("can be stopped when it was moved", async () => {
    const { early } = run("sleep 1000");
    const { id } = await untilTask();
    tasks.toBackground(id);
    await early;
    tasks.stop(id, "enough");
    expect(await untilEnded(id)).toMatchObject({ status: "killed" });
    expect(told()).toHaveLength(1);
  });

  test("that is interrupted while it is moved ends, and that is told", async () => {
    const controller = new AbortController();
    const slow: Pick<BackgroundTasks, "adopt"> = {
      async adopt(run) {
        controller.abort(new CancelledError("interrupted"));
        return background.adopt(run);
      },
    };
    bash = createBashTool({ background: { tasks, background: slow } });
    const { result } = run("sleep 1000", { signal: controller.signal });
    const { id } = await untilTask();
    tasks.toBackground(id);
    expect(await untilEnded(id)).toMatchObject({ status: "killed", error: "interrupted" });
    expect(await result).toMatchObject({ output: { taskId: id } });
    expect(told()).toHaveLength(1);
  });

  test("that ends while it is moved is told once, in the background", async () => {
    const go = gate("go");
    let adopted = () => {};
    const adopting = new Promise<void>((resolve) => {
      adopted = resolve;
    });
    let adoptions = 0;
    const slow: Pick<BackgroundTasks, "adopt"> = {
      async adopt(run) {
        adoptions++;
        await adopting;
        return background.adopt(run);
      },
    };
    bash = createBashTool({ background: { tasks, background: slow } });
    const { result, early } = run(`echo a; ${go.command}; echo b`);
    const { id } = await untilTask();
    tasks.toBackground(id);
    tasks.toBackground(id);
    await go.open();
    await until(
      async () =>
        execFileSync("ps", ["axo", "args"], { encoding: "utf8" }).includes(scene.path("go")) === false,
    );
    adopted();
    await untilEnded(id);
    expect(adoptions).toBe(1);
    expect((await early).content).toContain(`task_id: ${id}`);
    expect(await result).toMatchObject({ output: { taskId: id } });
    expect(await readFile(join(scene.path("../tasks"), `${id}.txt`), "utf8")).toBe("a\nb\n");
    expect(told()).toHaveLength(1);
  });

  test("that can not be moved is waited for as before", async () => {
    await writeFile(scene.path("../tasks"), "a file where the folder should be");
    const go = gate("go");
    const { result, answered } = run(`${go.command}; echo done`);
    const { id } = await untilTask();
    tasks.toBackground(id);
    await until(() => problems.length > 0);
    expect(problems[0]).toContain("could not be moved to the background");
    await go.open();
    expect(await result).toMatchObject({ content: "done" });
    expect([answered(), tasks.list(), told()]).toEqual([false, [], []]);
  });

  test("can be stopped as a task, and its call says so", async () => {
    const { result } = run("echo begun; sleep 1000");
    const { id } = await untilTask();
    tasks.stop(id, "the user stopped it");
    let outcome: ToolOutcome | undefined;
    void result.then((value) => {
      outcome = value;
    });
    await until(async () => {
      await clock.advance(50);
      return outcome !== undefined;
    });
    expect(outcome).toMatchObject({
      isError: true,
      content: expect.stringMatching(/stopped: the user stopped it/) as string,
    });
    expect(tasks.list()).toEqual([]);
  });
});
