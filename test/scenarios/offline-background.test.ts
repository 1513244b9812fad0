/** The offline model works in the background, through the real session: nothing is claimed that was not done. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/contracts/event.ts";
import type { Task } from "../../src/contracts/task.ts";
import { createOfflineModel } from "../../src/model/offline/offline-model.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import type { Session, SessionOptions } from "../../src/runtime/session.ts";
import { createTempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

const opened: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.end();
});

interface Talk {
  readonly session: Session;
  /** The answer to a prompt, or to what waits. */
  say(prompt?: string, onEvent?: (event: LoopEvent) => void): Promise<string>;
  /** Lets the command that reads `gate` end. */
  openGate(): Promise<void>;
  /** The answers to all that still comes. An agent may be so fast that its end was told before. */
  rest(): Promise<string>;
  ended(taskId: string): Promise<Task>;
}

async function talk(options: Partial<SessionOptions> = {}): Promise<Talk> {
  const folder = await createTempWorkspace();
  const home = await createTempWorkspace();
  opened.push({ end: folder.remove }, { end: home.remove });
  await folder.write("src/queue.js", "export function runJobs() {} // TODO: retries\n");
  await folder.write("Makefile", "test:\n\tcat gate\n");
  execFileSync("mkfifo", [join(folder.path, "gate")]);
  const session = createSession({
    world: createTestWorld({ homeFolder: home.path }),
    cwd: folder.path,
    model: createOfflineModel(),
    settings: {},
    allowedTools: ["Bash(make test)", "Bash(cat gate)"],
    ...options,
  });
  opened.push({ end: () => session.close() });
  const say: Talk["say"] = async (prompt, onEvent) => {
    const run = session.submit(prompt);
    let step = await run.next();
    for (; !step.done; step = await run.next()) onEvent?.(step.value);
    expect(step.value.end.reason).toBe("completed");
    return step.value.text;
  };
  return {
    session,
    say,
    async rest() {
      const answers: string[] = [];
      while (await session.nextWork()) answers.push(await say());
      return answers.join("\n\n");
    },
    openGate: () => writeFile(join(folder.path, "gate"), "5 passed\n"),
    ended: (taskId) =>
      new Promise((resolve) => {
        const look = () => {
          const task = session.tasks.get(taskId);
          if (task?.notified) resolve(task);
        };
        session.tasks.onChange(look);
        look();
      }),
  };
}

/** Its only task, or the one of this kind. */
function taskOf({ session }: Talk, kind?: string): Task {
  const [task, ...others] = session.tasks.list().filter((each) => kind === undefined || each.kind === kind);
  if (task === undefined || others.length > 0) throw new Error("not one task");
  return task;
}

describe("the offline model, in the background", () => {
  it("sends an agent, says so, and tells what it found when that has come", async () => {
    const { session, say, rest } = await talk();
    const started = await say("list the TODOs in the background");
    const [task] = session.tasks.list();
    expect(task).toMatchObject({
      kind: "local_agent",
      isBackgrounded: true,
      agent: { agentType: "Explore" },
    });
    expect(started).toContain(`The Explore agent runs in the background, as task ${task?.id}.`);
    const told = started + (await rest());
    expect(told).toContain('Agent "list the TODOs" completed. It reports:\n\n**1 line** in 1 file');
    expect(told.match(/- src\/queue\.js:1: TODO: retries/g)).toHaveLength(1);
  });

  it("runs the tests beside other work, and tells of their end", async () => {
    const one = await talk();
    const answer = await one.say("run the tests in the background and meanwhile list the TODOs");
    const task = taskOf(one);
    expect(task).toMatchObject({ kind: "local_bash", status: "running", command: "make test" });
    expect(answer).toContain(
      `The tests run in the background, as task ${task.id}: \`make test\` (Makefile).`,
    );
    expect(answer).toContain("- src/queue.js:1: TODO: retries");
    expect(await one.say("are the tests done?")).toContain(`command "Run the tests" (${task.id}): running.`);
    await one.openGate();
    expect(await one.session.nextWork()).toBe(true);
    expect(await one.say()).toMatch(
      /^Background command "Run the tests" completed \(exit code 0\)\.[\s\S]*\n {4}5 passed\n/,
    );
    expect(await one.say("what is running?")).toContain(
      `Nothing runs any more.\n\n- command "Run the tests" (${task.id}): completed`,
    );
  });

  it("answers a prompt although an end is told with it, and tells that after the answer", async () => {
    const one = await talk();
    await one.say("run `cat gate` in the background");
    await one.openGate();
    await one.ended(taskOf(one).id);
    const answer = await one.say("list the TODOs");
    expect(answer).toMatch(
      /^\*\*1 line\*\* in 1 file[\s\S]*Background command "cat gate" completed \(exit code 0\)/,
    );
    expect(await one.session.nextWork()).toBe(false);
  });

  it("tells the result of what has ended when it is asked first, and only once", async () => {
    const one = await talk();
    await one.say("run `cat gate` in the background");
    const { id } = taskOf(one);
    const answer = await one.say("wait for it", (event) => {
      if (event.type === "call-start" && event.call.name === "TaskOutput") void one.openGate();
    });
    expect(answer).toContain(`command "cat gate" (${id}): completed.\n\n5 passed`);
    expect(await one.session.nextWork()).toBe(false);
    expect(await one.say("stop it")).toMatch(/^Nothing was stopped\. There is none/);
  });

  it("stops what runs, and hears of that", async () => {
    const one = await talk();
    await one.say("run `cat gate` in the background");
    const { id } = taskOf(one);
    const stopped = await one.say("stop it");
    expect(stopped).toContain(`Stopped: ${id} (cat gate).`);
    expect(one.session.tasks.get(id)?.status).toBe("killed");
    expect(stopped + (await one.rest())).toContain('Background command "cat gate" was stopped');
    expect(await one.say("what is running?")).toContain(`- command "cat gate" (${id}): killed`);
  });

  it("writes to an agent that it has started, which goes on with that as its next task", async () => {
    const one = await talk();
    await one.say("start an agent named scout in the background to list the TODOs");
    await one.rest();
    const sent = await one.say("tell scout to find runJobs");
    expect(sent).toMatch(/^Sent to the Explore agent "list the TODOs" \(scout, \S+\): "find runJobs"\./);
    expect(sent).toContain("was started again in the background");
    expect(sent + (await one.rest())).toContain("**1 line** in 1 file with `runJobs`");
  });

  it("does not say that a command runs that nobody allowed", async () => {
    const one = await talk({ allowedTools: [] });
    const answer = await one.say("run the tests in the background");
    expect(answer).toContain("but I was not allowed to run it");
    expect(one.session.tasks.list()).toEqual([]);
  });

  it("says what came of it where nothing can run in the background", async () => {
    const one = await talk({ settings: { backgroundTasks: false } });
    expect(await one.say("list the TODOs in the background")).toMatch(
      /^The Explore agent reports:\n\n\*\*1 line\*\* in 1 file/,
    );
    const running = one.say("run the tests in the background");
    await one.openGate();
    expect(await running).toContain("(exit code 0)");
  });

  it("does not report on tests that were sent to the background while it waited for them", async () => {
    const one = await talk();
    const moved = new Promise<void>((resolve) => {
      one.session.tasks.onChange(({ task: { id, isBackgrounded } }) => {
        const move = () => one.session.tasks.toBackground(id) && resolve();
        if (!isBackgrounded) setImmediate(move);
      });
    });
    const running = one.say("run the tests");
    await moved;
    const answer = await running;
    expect(answer).toContain("The tests run in the background, as task b");
    expect(answer).not.toContain("exit code");
    await one.openGate();
    await one.session.nextWork();
    expect(await one.say()).toContain('Background command "Run the tests" completed (exit code 0)');
  });
});
