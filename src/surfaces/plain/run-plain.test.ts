import { describe, expect, it } from "vitest";
import { CadreError } from "../../base/errors.ts";
import { type Script, sitDown } from "../../testing/person-at-terminal.ts";
import { createScriptedAgent } from "../../testing/scripted-agent.ts";
import { answerEvents, modelEvent, untilInterrupted } from "../../testing/scripted-session.ts";

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

const echo: Script = () =>
  async function* ({ content }) {
    yield* answerEvents(`you said: ${String(content)}`);
    return {};
  };

describe("a conversation", () => {
  it("answers line after line and ends with Ctrl+D, telling cost and transcript", async () => {
    const person = sitDown(echo);
    await person.sees("> ");
    person.type("first\n");
    await person.sees("you said: first\n> ");
    person.type("second\n");
    await person.sees("you said: second\n> ");
    person.end();
    expect(await person.exit).toBe(0);
    expect(person.shown()).toContain("0 tokens read (0 from cache), 0 written, $0.0000");
    expect(person.shown()).toContain("Transcript: /home/me/t.jsonl");
    expect(person.session()?.closed).toBe(true);
  });

  it("that goes on shows where it stood, and how to go on again", async () => {
    const content = [{ type: "text" as const, text: "map\u001b[2J this" }];
    const messages = [{ uuid: "1", parentUuid: null, timestamp: "", role: "user" as const, content }];
    const person = sitDown(echo, { messages });
    await person.sees("(this conversation has 1 message; it ended with)\n> map^[[2J this\n");
    person.end();
    expect(await person.exit).toBe(0);
    expect(person.shown()).toContain("\nTo go on: cadre --resume 11111111-1111-4111-8111-111111111111");
    const fresh = sitDown(echo);
    await fresh.sees("> ");
    fresh.end();
    await fresh.exit;
    expect(fresh.shown()).not.toContain("To go on");
  });

  it("begins with the prompt of the command line", async () => {
    const person = sitDown(echo, { firstPrompt: "hello" });
    await person.sees("you said: hello\n> ");
    person.type("/exit\n");
    expect(await person.exit).toBe(0);
    expect(person.session()?.submitted).toEqual(["hello"]);
  });

  it("takes lines that come together for one prompt, and continues after a backslash", async () => {
    const person = sitDown(echo);
    await person.sees("> ");
    person.type("a\n\nb\n");
    await person.sees("you said: a\n\nb\n> ");
    person.type("one \\\n");
    await new Promise(setImmediate);
    person.type("two\n");
    await person.sees("you said: one \ntwo\n> ");
    person.end();
    await person.exit;
    expect(person.session()?.submitted).toEqual(["a\n\nb", "one \ntwo"]);
  });

  it("shows what went wrong beside it on a line of its own, and what is being typed stays", async () => {
    let warn = (_message: string) => {};
    const person = sitDown(
      (surface, session) => {
        warn = surface.onProblem;
        return echo(surface, session);
      },
      { terminal: true },
    );
    await person.sees("> ");
    warn("the service suggest failed");
    await person.sees("\ncadre: warning: the service suggest failed\n");
    await person.sees("> ");
    person.type("half");
    await person.sees("half");
    warn("again");
    await person.sees("\ncadre: warning: again\n");
    await person.sees("> half");
    person.type(" a line\r");
    await person.sees("you said: half a line");
    person.type("/exit\r");
    expect(await person.exit).toBe(0);
  });

  it("does not send blank lines", async () => {
    const person = sitDown(echo);
    await person.sees("> ");
    person.type("  \n");
    await person.sees("> ");
    person.end();
    await person.exit;
    expect(person.session()?.submitted).toEqual([]);
  });

  it("knows its commands, and says so of others", async () => {
    const person = sitDown(echo);
    await person.sees("> ");
    person.type("/model\n");
    await person.sees("scripted\n> ");
    person.type("/help\n");
    await person.sees("/exit");
    person.type("/nonsense\n");
    await person.sees("Unknown command /nonsense");
    person.type("/etc/hosts: what is this?\n");
    await person.sees("you said: /etc/hosts");
    person.end();
    await person.exit;
  });

  it("never moves the cursor, and neutralises what a model or tool says", async () => {
    const call = { type: "tool_use", id: "t", name: "Read", input: { file_path: "a\u001b[2Jb" } } as const;
    const person = sitDown(
      () =>
        async function* () {
          yield* answerEvents("x\u001b]0;title\u0007y");
          yield {
            type: "call-end",
            call,
            result: { type: "tool_result", tool_use_id: "t", content: "1" },
            durationMs: 1,
          };
          return {};
        },
    );
    await person.sees("> ");
    person.type("go\n");
    await person.sees("(1 line)");
    person.end();
    await person.exit;
    expect(person.shown()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(person.shown()).toContain("* Read a^[[2Jb (1 line)");
  });

  it("keeps characters whole that were cut between two pieces", async () => {
    const [high, low] = "\u{1F600}".split("");
    const person = sitDown(
      () =>
        async function* () {
          yield modelEvent({ type: "block-start", index: 0, block: { type: "text", text: "" } });
          yield modelEvent({ type: "block-delta", index: 0, delta: { type: "text", text: `a${high}` } });
          yield modelEvent({ type: "block-delta", index: 0, delta: { type: "text", text: `${low}b\r` } });
          yield modelEvent({ type: "block-delta", index: 0, delta: { type: "text", text: "\nc" } });
          yield modelEvent({ type: "block-stop", index: 0 });
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("a\u{1F600}b\nc\n> ");
    person.end();
    await person.exit;
  });

  it("shows denied and failed calls, and why a run ended early", async () => {
    const call = { type: "tool_use", id: "t", name: "Bash", input: { command: "rm -rf x" } } as const;
    const failing = { ...call, id: "u", input: { command: "false" } };
    const person = sitDown(
      () =>
        async function* () {
          yield { type: "call-denied", call, reason: "a rule says so" };
          yield {
            type: "call-end",
            call,
            result: { type: "tool_result", tool_use_id: "t", content: "Denied", is_error: true },
            durationMs: 0,
          };
          yield {
            type: "call-end",
            call: failing,
            result: { type: "tool_result", tool_use_id: "u", content: "Exit code 1", is_error: true },
            durationMs: 0,
          };
          return { end: { reason: "max_turns", limit: 1 } };
        },
      { firstPrompt: "go" },
    );
    await person.sees("! Bash rm -rf x: denied\n  a rule says so\n");
    await person.sees("! Bash false: failed\n  Exit code 1\n");
    await person.sees("cadre: Stopped: the limit of 1 turn was reached");
    person.end();
    await person.exit;
    expect(person.shown().match(/rm -rf x/g)).toHaveLength(1);
  });

  it("ends with the error's exit code when no session can be opened", async () => {
    const person = sitDown(echo, {
      open: () => {
        throw new CadreError({ code: "settings-invalid", message: "line 3 is wrong" });
      },
    });
    expect(await person.exit).toBe(2);
    expect(person.shown()).toContain("cadre: line 3 is wrong");
  });
});

describe("what is typed during a run", () => {
  it("is queued, and runs afterwards if it came too late", async () => {
    const gate = createGate();
    const person = sitDown(
      () =>
        async function* ({ content }) {
          yield* answerEvents(`run ${String(content)}`);
          if (content !== undefined) await gate.opened;
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("run go");
    person.type("and this\n");
    await person.sees("(noted");
    gate.open();
    await person.sees("run undefined");
    person.end();
    await person.exit;
    expect(person.session()?.enqueued).toEqual(["and this"]);
    expect(person.session()?.submitted).toEqual(["go", undefined]);
  });
});

describe("Ctrl+C", () => {
  const untilStopped: Script = () =>
    async function* ({ interrupted }) {
      yield* answerEvents("working");
      return await untilInterrupted(interrupted);
    };

  it("interrupts a run, and leaves when pressed twice at the prompt", async () => {
    const person = sitDown(untilStopped, { firstPrompt: "go", terminal: true });
    await person.sees("working");
    person.type("\u0003");
    await person.sees("(Interrupted");
    await person.sees("> ");
    person.type("\u0003");
    await person.sees("again, or Ctrl+D");
    person.type("\u0003");
    expect(await person.exit).toBe(0);
  });

  it("only drops the line that is being typed", async () => {
    const person = sitDown(echo, { terminal: true });
    await person.sees("> ");
    person.type("never sent");
    await person.sees("never sent");
    person.type("\u0003");
    await person.sees("> ");
    person.type("sent\r");
    await person.sees("you said: sent");
    person.type("/exit\r");
    expect(await person.exit).toBe(0);
    expect(person.session()?.submitted).toEqual(["sent"]);
  });

  it("and a signal from outside end the conversation cleanly", async () => {
    const person = sitDown(untilStopped, { firstPrompt: "go" });
    await person.sees("working");
    person.interruption.abort();
    expect(await person.exit).toBe(143);
    expect(person.session()?.closed).toBe(true);
  });
});

describe("questions", () => {
  const asks =
    (command: string): Script =>
    (_, session) =>
      async function* () {
        yield { type: "turn-start", turn: 1 };
        const request = {
          toolName: "Bash",
          toolUseId: "t",
          input: { command },
          reason: "no rule allows it",
          suggestions: ["Bash(npm test)", "Bash"],
        };
        const verdict = await session().ask(request);
        yield* answerEvents(`verdict ${JSON.stringify(verdict)}`);
        return {};
      };

  it.each([
    ["y", { kind: "allowed", scope: "once", rules: [] }],
    [" YES ", { kind: "allowed", scope: "once", rules: [] }],
    ["s", { kind: "allowed", scope: "session", rules: ["Bash(npm test)"] }],
    ["p", { kind: "allowed", scope: "project", rules: ["Bash(npm test)"] }],
    ["n", { kind: "refused" }],
    ["", { kind: "refused" }],
    ["yes but not there", { kind: "refused", message: "yes but not there" }],
  ])("take %j for %j", async (typed, verdict) => {
    const person = sitDown(asks("npm test"), { firstPrompt: "go" });
    await person.sees("(session and project allow: Bash(npm test))");
    await person.sees("Allow Bash: npm test? [y]es / [s]ession / [p]roject / [n]o (or say why): ");
    person.type(`${typed}\n`);
    await person.sees(`verdict ${JSON.stringify(verdict)}`);
    person.end();
    await person.exit;
  });

  it("say what became of a rule for the project", async () => {
    const person = sitDown(asks("npm test"), { firstPrompt: "go" });
    await person.sees("Allow Bash");
    person.type("project\n");
    await person.sees("(kept Bash(npm test))");
    person.end();
    await person.exit;
  });

  it("of several agents come one after the other, each with the name of its agent", async () => {
    const person = sitDown(
      (_, session) =>
        async function* () {
          yield { type: "turn-start", turn: 1 };
          const ask = (id: string) =>
            session().ask({
              toolName: "Bash",
              toolUseId: id,
              input: { command: `echo ${id}` },
              reason: "",
              agent: { id, type: "Explore", name: `agent-${id}` },
            });
          const verdicts = await Promise.all([ask("one"), ask("two")]);
          yield* answerEvents(verdicts.map(({ kind }) => kind).join(" then "));
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees(
      "Allow Bash (agent agent-one, of type Explore): echo one?\n[y]es / [n]o (or say why): ",
    );
    person.type("n\n");
    await person.sees("Allow Bash (agent agent-two, of type Explore): echo two?");
    person.type("y\n");
    await person.sees("refused then allowed");
    person.end();
    await person.exit;
  });

  it("are refused when the person leaves", async () => {
    const person = sitDown(asks("npm test"), { firstPrompt: "go" });
    await person.sees("Allow Bash");
    person.end();
    await person.sees('verdict {"kind":"refused"}');
    await person.exit;
  });

  it("show the whole of a long command", async () => {
    const command = `echo ${"a".repeat(300)}\nrm -rf /`;
    const person = sitDown(asks(command), { firstPrompt: "go" });
    await person.sees("a".repeat(300));
    await person.sees("  rm -rf /\n");
    await person.sees("Allow Bash? ");
    person.type("n\n");
    person.end();
    await person.exit;
  });

  it("do not take a half-typed line for part of the answer, and give it back", async () => {
    const gate = createGate();
    const person = sitDown(
      (surface) =>
        async function* ({ content }) {
          yield* answerEvents(`working on ${String(content)}`);
          if (content !== "go") return {};
          await gate.opened;
          const answer = await surface.approvePlan?.("1. do it", new AbortController().signal);
          yield* answerEvents(JSON.stringify(answer));
          return {};
        },
      { firstPrompt: "go", terminal: true },
    );
    await person.sees("working on go");
    person.type("also look at y");
    await person.sees("also look at y");
    gate.open();
    await person.sees("Go ahead with this plan?");
    person.type("y\r");
    await person.sees('{"approved":true}');
    await person.sees("> ");
    person.type("\r");
    await person.sees("working on also look at y");
    person.end();
    await person.exit;
    expect(person.session()?.submitted).toEqual(["go", "also look at y"]);
  });

  it("are withdrawn when their call is cancelled, and the next line is a prompt again", async () => {
    const controller = new AbortController();
    const person = sitDown(
      (_, session) =>
        async function* ({ content }) {
          yield { type: "turn-start", turn: 1 };
          if (content === "go") {
            const request = { toolName: "Bash", toolUseId: "t", input: { command: "ls" }, reason: "" };
            await session()
              .ask(request, controller.signal)
              .catch((error: Error) => error);
          }
          yield* answerEvents(`ran ${String(content)}`);
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("Allow Bash");
    controller.abort();
    await person.sees("ran go\n> ");
    person.type("y\n");
    await person.sees("ran y");
    person.end();
    await person.exit;
  });

  it("are not shown any more when all of them are withdrawn at once", async () => {
    const person = sitDown(
      (_, session) =>
        async function* ({ interrupted }) {
          yield { type: "turn-start", turn: 1 };
          const asking = ["ls", "pwd", "id"].map((command) => {
            // Each call hears of it in its own time.
            const controller = new AbortController();
            interrupted.addEventListener("abort", () => queueMicrotask(() => controller.abort()));
            const request = { toolName: "Bash", toolUseId: command, input: { command }, reason: "" };
            return session()
              .ask(request, controller.signal)
              .catch(() => {});
          });
          await Promise.all(asking);
          yield* answerEvents("stopped");
          return {};
        },
      { firstPrompt: "go", terminal: true },
    );
    await person.sees("Allow Bash: ls");
    person.type("\u0003");
    await person.sees("stopped\n");
    person.end();
    await person.exit;
    expect(person.shown()).not.toMatch(/Allow Bash: (pwd|id)/);
  });

  it("with options take numbers or words, one after the other", async () => {
    const question = {
      header: "Colour",
      options: [
        { label: "Red", description: "warm" },
        { label: "Blue", description: "cold" },
      ],
    };
    const person = sitDown(
      (surface) =>
        async function* () {
          yield { type: "turn-start", turn: 1 };
          const answers = await surface.askQuestions?.(
            [
              { ...question, question: "Which?", multiSelect: false },
              { ...question, question: "Which ones?", multiSelect: true },
              { ...question, question: "Sure?", multiSelect: false },
            ],
            new AbortController().signal,
          );
          yield* answerEvents(JSON.stringify(answers));
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("  2. Blue: cold");
    person.type("2\n");
    await person.sees("Which ones?");
    await person.sees("Answer");
    person.type("1, 2\n");
    await person.sees("Sure?");
    await person.sees("Answer");
    person.type("2 is fine, 3 is not\n");
    await person.sees('{"Which?":"Blue","Which ones?":["Red","Blue"],"Sure?":"2 is fine, 3 is not"}');
    person.end();
    await person.exit;
  });
});

describe("agents in a conversation", () => {
  const read = { name: "Read", input: { file_path: "a.ts" } };

  it("ask by the name that the lines about them use, and the others wait with what they tell", async () => {
    const asked = createGate();
    const told = createGate();
    const person = sitDown(
      (_surface, session) =>
        async function* () {
          const agents = [createScriptedAgent("one"), createScriptedAgent("two")] as const;
          for (const agent of agents) yield agent.start;
          const verdict = session().ask({
            toolName: "Bash",
            toolUseId: "t",
            input: { command: "make" },
            reason: "",
            agent: { id: "two", type: "Explore" },
          });
          asked.open();
          for (const event of agents[0].turn(read)) yield event;
          yield* answerEvents("meanwhile");
          told.open();
          await verdict;
          for (const agent of agents) yield agent.end();
          return {};
        },
      { firstPrompt: "go" },
    );
    await asked.opened;
    const question = "Allow Bash (agent Explore 2): make? [y]es / [n]o (or say why): ";
    await person.sees(question);
    await told.opened;
    await new Promise(setImmediate);
    expect(person.shown().endsWith(question)).toBe(true);
    person.type("y\n");
    await person.sees("  Explore: Read a.ts (1 line)\nmeanwhile\n* Agent Explore: done (");
    person.end();
    expect(await person.exit).toBe(0);
  });

  it("do not cut a sentence of the answer in two", async () => {
    const agent = createScriptedAgent("one");
    const person = sitDown(
      () =>
        async function* () {
          yield modelEvent({ type: "block-start", index: 0, block: { type: "text", text: "First " } });
          yield agent.start;
          yield modelEvent({ type: "block-delta", index: 0, delta: { type: "text", text: "half." } });
          yield modelEvent({ type: "block-stop", index: 0 });
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("First half.\n* Agent Explore: task of one ...\n! Agent Explore: stopped");
    person.end();
    await person.exit;
  });

  it("may still ask when the run is over: the prompt comes after the answer", async () => {
    const person = sitDown(
      (_surface, session) =>
        async function* () {
          yield { type: "turn-start", turn: 1 };
          const request = { toolName: "Bash", toolUseId: "t", input: { command: "make" }, reason: "" };
          void session().ask({ ...request, agent: { id: "one", type: "Explore" } });
          await new Promise(setImmediate);
          yield* answerEvents("answered");
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("(or say why): ");
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(person.shown().endsWith("(or say why): ")).toBe(true);
    person.type("y\n");
    await person.sees("answered\n> ");
    person.end();
    await person.exit;
  });

  it("keep their numbers over the whole conversation", async () => {
    const person = sitDown(
      () =>
        async function* () {
          yield createScriptedAgent("one").start;
          return {};
        },
      { firstPrompt: "go" },
    );
    await person.sees("* Agent Explore: ");
    await person.sees("> ");
    person.type("again\n");
    await person.sees("* Agent Explore 2: ");
    person.end();
    await person.exit;
  });
});
