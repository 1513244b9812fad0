import { describe, expect, it } from "vitest";
import { CadreError } from "../../base/errors.ts";
import { noUsage } from "../../contracts/usage.ts";
import { type Script, sitDown } from "../../testing/person-at-terminal.ts";
import { besideOf, createScriptedAgent } from "../../testing/scripted-agent.ts";
import { answerEvents, type ScriptedSession, untilInterrupted } from "../../testing/scripted-session.ts";

describe("tasks in the background of a conversation", () => {
  const handle = { stop() {} };
  const shell = {
    id: "b123",
    kind: "local_bash",
    description: "serve",
    command: "npm run dev",
    isBackgrounded: true,
  };
  const says: Script = () =>
    async function* ({ content }) {
      yield* answerEvents(`answer to ${String(content)}`);
      return {};
    };
  const untilStopped: Script = () =>
    async function* ({ interrupted }) {
      yield* answerEvents("working");
      return await untilInterrupted(interrupted);
    };
  const sessionOf = (person: ReturnType<typeof sitDown>): ScriptedSession => {
    const session = person.session();
    if (session === undefined) throw new Error("no session yet");
    return session;
  };

  it("start a run by themselves when they end, and what is being typed stays", async () => {
    const person = sitDown(says, { terminal: true });
    await person.sees("> ");
    const session = sessionOf(person);
    const agent = createScriptedAgent("a");
    session.tell(besideOf(agent.start));
    await person.sees("* Agent Explore: task of a ... in the background");
    await person.sees("> ");
    person.type("and then");
    await person.sees("and then");
    const run = session.tasks.register(shell, handle);
    session.tell(besideOf(agent.end()));
    run.end({ status: "failed", exitCode: 1 });
    session.wake();
    await person.sees("* Agent Explore (background): task of a: done (12 calls");
    await person.sees("! Bash npm run dev (background): exit 1 (0.0 s)");
    await person.sees("answer to undefined\n");
    await person.sees("and then");
    person.type(" this\r");
    await person.sees("answer to and then this");
    person.type("/exit\r");
    expect(await person.exit).toBe(0);
    expect(session.submitted).toEqual([undefined, "and then this"]);
  });

  it("that ended in an earlier life of the session wait for the person's first prompt", async () => {
    const person = sitDown(says, { waiting: true });
    await person.sees(
      "(something from before waits for the model: it hears of it with your next prompt)\n> ",
    );
    await new Promise(setImmediate);
    expect(sessionOf(person).submitted).toEqual([]);
    person.type("hello\n");
    await person.sees("answer to hello\n> ");
    sessionOf(person).wake();
    const run = sessionOf(person).tasks.register(shell, handle);
    await person.sees("answer to undefined\n> ");
    run.end({ status: "completed" });
    person.end();
    await person.exit;
  });

  it("do not wipe out their own line when what is being typed is long", async () => {
    const person = sitDown(says, { terminal: true, columns: 20 });
    await person.sees("> ");
    const draft = "word ".repeat(12);
    person.type(draft);
    await person.sees(draft.slice(-12));
    for (const id of ["a", "b"]) {
      sessionOf(person).tell(besideOf(createScriptedAgent(id).start));
      await person.sees("in the background");
      await person.sees(draft);
    }
    const after = person.shown().split("in the background").at(-1) ?? "";
    expect(after).not.toMatch(/\u001b\[\d*A/);
    person.end();
    await person.exit;
  });

  it("wait with their run until an open question is answered", async () => {
    const person = sitDown(says);
    await person.sees("> ");
    const session = sessionOf(person);
    const request = { toolName: "Bash", toolUseId: "t", input: { command: "make" }, reason: "" };
    const verdict = session.ask({ ...request, agent: { id: "a", type: "Explore" } });
    await person.sees("(or say why): ");
    const run = session.tasks.register(shell, handle);
    session.wake();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(session.submitted).toEqual([]);
    person.type("y\n");
    expect((await verdict).kind).toBe("allowed");
    await person.sees("answer to undefined\n> ");
    run.end({ status: "completed" });
    person.end();
    await person.exit;
  });

  it("bring the prompt back after a question that came while nothing ran", async () => {
    const person = sitDown(says);
    await person.sees("> ");
    const request = { toolName: "Bash", toolUseId: "t", input: { command: "make" }, reason: "" };
    void sessionOf(person).ask({ ...request, agent: { id: "a", type: "Explore" } });
    await person.sees("(or say why): ");
    person.type("n\n");
    await person.sees("> ");
    person.end();
    await person.exit;
  });

  it("are listed and stopped by commands", async () => {
    const person = sitDown(says);
    await person.sees("> ");
    const { tasks } = sessionOf(person);
    person.type("/stop b123\n");
    await person.sees("No task b123 is at work.");
    const stopped: string[] = [];
    const register = (id: string) =>
      tasks.register({ ...shell, id }, { stop: (reason) => void stopped.push(`${id}: ${reason}`) });
    const runs = [register("b123"), register("b124")];
    person.type("/tasks\n");
    await person.sees("b123  Bash npm run dev (at work, ");
    await person.sees("b124  Bash npm run dev (at work, ");
    person.type("/stop\n");
    await person.sees("Which one?");
    person.type("/stop b12\n");
    await person.sees("b12 may be b123 or b124.");
    person.type("/stop b124\n");
    await person.sees("(stopping b124)");
    person.type("/stop all\n");
    await person.sees("(stopping 2 tasks)");
    expect(stopped).toEqual(["b124", "b123", "b124"].map((id) => `${id}: stopped by the user`));
    for (const run of runs) run.end({ status: "killed" });
    await person.sees("! Bash npm run dev (background): stopped");
    person.type("/stop all\n");
    await person.sees("(nothing goes on in the background)");
    person.end();
    await person.exit;
  });

  it("are what the run waited for, after Ctrl+B or /background", async () => {
    const person = sitDown(untilStopped, { terminal: true });
    await person.sees("> ");
    const { tasks } = sessionOf(person);
    person.type("go\r");
    await person.sees("working");
    person.type("/background\r");
    await person.sees("(nothing that could go to the background)");
    const moved: string[] = [];
    const toBackground = (id: string) => ({ stop() {}, toBackground: () => void moved.push(id) });
    const waitedFor = { ...shell, isBackgrounded: false };
    tasks.register({ ...waitedFor, id: "a1" }, toBackground("a1"));
    tasks.register({ ...waitedFor, id: "b1", parentAgentId: "a1" }, toBackground("b1"));
    tasks.register({ ...waitedFor, id: "fixed" }, handle);
    person.type("half");
    await person.sees("half");
    person.type("\u0002");
    await person.sees("(to the background ...)");
    expect(moved).toEqual(["a1"]);
    // Key by key, as fingers do it: the cursor is where it was.
    for (const key of ["-", "b", "\r"]) {
      person.type(key);
      await new Promise(setImmediate);
    }
    await person.sees("(noted");
    expect(sessionOf(person).enqueued).toEqual(["half-b"]);
    for (const { id } of tasks.list()) tasks.end(id, { status: "completed" });
    person.type("\u0003");
    await person.sees("(Interrupted");
    person.end();
    await person.exit;
  });

  it("go on when a run is interrupted, and that is said", async () => {
    const person = sitDown(untilStopped, { firstPrompt: "go", terminal: true });
    await person.sees("working");
    const run = sessionOf(person).tasks.register(shell, handle);
    person.type("\u0003");
    await person.sees("(1 task goes on in the background: /tasks lists them, /stop all ends them)");
    run.end({ status: "completed" });
    person.end();
    await person.exit;
  });

  it("are asked about before they are left behind", async () => {
    const person = sitDown(says, { terminal: true });
    await person.sees("> ");
    sessionOf(person).tasks.register(shell, handle);
    person.type("\u0004");
    await person.sees("1 task is still at work: leave and stop it? [y/N] ");
    person.type("n\r");
    await person.sees("> ");
    person.type("hello\r");
    await person.sees("answer to hello");
    person.type("/exit\r");
    await person.sees("leave and stop it? [y/N] ");
    person.type("y\r");
    expect(await person.exit).toBe(0);
    expect(person.shown()).toContain("Stopped: 1 task in the background.");
    expect(sessionOf(person).closed).toBe(true);
  });

  it("are left without more questions by a second Ctrl+D, Ctrl+C or a signal", async () => {
    for (const second of ["\u0004", "\u0003", "signal"]) {
      const person = sitDown(says, { terminal: true });
      await person.sees("> ");
      sessionOf(person).tasks.register(shell, handle);
      person.type("\u0004");
      await person.sees("[y/N] ");
      // As quick as fingers are: the second is a key of its own.
      await new Promise(setImmediate);
      if (second === "signal") person.interruption.abort();
      else if (second === "\u0003") person.type("\u0003\u0003");
      else person.type(second);
      expect(await person.exit).toBe(second === "signal" ? 143 : 0);
    }
  });

  it("say that one has stalled", async () => {
    const person = sitDown(says);
    await person.sees("> ");
    const progress = { toolUses: 0, usage: noUsage, lastActivities: [] };
    const agent = { agentType: "Explore", prompt: "Look.", depth: 1, progress };
    const { tasks } = sessionOf(person);
    const run = tasks.register({ ...shell, id: "a9", kind: "local_agent", agent }, handle);
    run.update({ agent: { progress: { ...progress, state: "stalled" } } });
    await person.sees("! Agent Explore: nothing has happened in it for a while (/stop a9 ends it)\n> ");
    run.end({ status: "killed" });
    person.end();
    await person.exit;
  });

  it("whose run fails do not start it over and over", async () => {
    const person = sitDown(
      (_, session) =>
        async function* () {
          yield { type: "turn-start", turn: 1 };
          session().wake();
          throw new CadreError({ code: "journal-unwritable", message: "the disk is full" });
        },
    );
    await person.sees("> ");
    const session = sessionOf(person);
    session.tasks.register(shell, handle);
    session.wake();
    await person.sees("cadre: the disk is full\n> ");
    await new Promise(setImmediate);
    expect(session.submitted).toHaveLength(1);
    session.tasks.end("b123", { status: "completed" });
    person.end();
    await person.exit;
  });
});
