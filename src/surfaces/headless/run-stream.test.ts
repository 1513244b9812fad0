import { describe, expect, it } from "vitest";
import { type Channel, createChannel } from "../../base/channel.ts";
import { CadreError } from "../../base/errors.ts";
import { createNodeClock } from "../../base/world/node-clock.ts";
import { noUsage } from "../../contracts/usage.ts";
import type { Verdict } from "../../permissions/broker.ts";
import type { Session } from "../../runtime/session.ts";
import { besideOf, createScriptedAgent } from "../../testing/scripted-agent.ts";
import {
  answerEvents,
  createScriptedSession,
  type ScriptedRun,
  untilInterrupted,
} from "../../testing/scripted-session.ts";
import type { SessionChoices } from "./control.ts";
import { createPermissionBridge, type PermissionBridge } from "./permission-bridge.ts";
import { createReporter } from "./reporter.ts";
import { runStream } from "./run-stream.ts";
import type { WireMessage } from "./wire-messages.ts";

/** A program on the other side: writes lines, and can wait for what it is told. */
function start(
  script: ScriptedRun,
  options: { open?: () => never; permissions?: boolean; noWait?: boolean } = {},
) {
  const clock = createNodeClock();
  const input: Channel<string> = createChannel<string>();
  const said: WireMessage[] = [];
  const complaints: string[] = [];
  const waiters: { matches: (message: WireMessage) => boolean; resolve: (message: WireMessage) => void }[] =
    [];
  const emit = async (message: WireMessage) => {
    said.push(message);
    for (const waiter of [...waiters]) if (waiter.matches(message)) waiter.resolve(message);
  };
  const session = createScriptedSession(script);
  const opened: SessionChoices[] = [];
  const interruption = new AbortController();
  const context = { sessionId: session.id, uuid: uuids(), now: () => 0, includePartialMessages: false };
  let bridge: PermissionBridge | undefined;
  if (options.permissions === true) bridge = createPermissionBridge({ emit });
  const sinkTo = (take: (text: string) => void) => ({
    isTerminal: false,
    broken: false,
    async write(text: string) {
      take(text);
    },
    async flush() {},
  });
  const exit = runStream({
    open: async (choices): Promise<Session> => {
      opened.push({ ...choices });
      return options.open?.() ?? session;
    },
    input,
    emit,
    context,
    reporter: createReporter({
      format: "stream-json",
      stdout: sinkTo((text) => {
        for (const line of text.trimEnd().split("\n")) void emit(JSON.parse(line) as WireMessage);
      }),
      stderr: sinkTo((text) => complaints.push(text)),
      verbose: false,
      context,
      clock,
      version: "1",
      apiKeySource: () => "none",
    }),
    interruption: { signal: interruption.signal, exitCode: () => 130 },
    wantsStructuredOutput: false,
    permissions: bridge,
    patience: { noWait: options.noWait ?? false, clock, timeLimit: () => undefined },
  });
  return {
    say: (value: unknown) => input.push(`${typeof value === "string" ? value : JSON.stringify(value)}\n`),
    end: () => input.close(),
    hears: (matches: (message: WireMessage) => boolean) => {
      const already = said.find(matches);
      if (already !== undefined) return Promise.resolve(already);
      return new Promise<WireMessage>((resolve) => waiters.push({ matches, resolve }));
    },
    said,
    complaints,
    exit,
    session,
    opened,
    interruption,
    bridge,
  };
}

function uuids(): () => string {
  let count = 0;
  return () => `uuid-${++count}`;
}

const user = (content: unknown) => ({ type: "user", message: { role: "user", content } });
const control = (id: string, request: Record<string, unknown>) => ({
  type: "control_request",
  request_id: id,
  request,
});
const replyTo = (id: string) => (message: WireMessage) =>
  message.type === "control_response" && (message.response as WireMessage).request_id === id;
const echo: ScriptedRun = async function* ({ content }) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  yield* answerEvents(text);
  return { text };
};
const nothingDone = { toolUses: 0, usage: noUsage, lastActivities: [] };
const results = (said: WireMessage[]) => said.filter((message) => message.type === "result");

describe("messages on standard input", () => {
  it("run one after the other, with a result each", async () => {
    const program = start(echo);
    program.say(user("one"));
    program.say(user([{ type: "text", text: "two", cache_control: { type: "ephemeral" } }]));
    program.end();
    expect(await program.exit).toBe(0);
    expect(results(program.said).map((result) => result.result)).toEqual([
      "one",
      '[{"type":"text","text":"two"}]',
    ]);
    expect(program.said.filter((message) => message.subtype === "init")).toHaveLength(2);
    expect(program.opened).toHaveLength(1);
    expect(program.session.closed).toBe(true);
    const states = program.said.flatMap((message) =>
      message.subtype === "session_state_changed" ? [message.state] : [],
    );
    expect(states).toEqual(["running", "idle", "running", "idle"]);
  });

  it("that cannot be read are named by their line, and the others still run", async () => {
    const program = start(echo);
    program.say("{broken");
    program.say("");
    program.say('{"type":"user","message":{"role":"user","content":[]}}');
    program.say("[1]");
    program.say({ type: "keep_alive" });
    program.say(user("fine"));
    program.end();
    expect(await program.exit).toBe(2);
    expect(results(program.said).map((result) => result.errors ?? result.result)).toEqual([
      [expect.stringContaining("standard input, line 1: not valid JSON")],
      [expect.stringContaining("standard input, line 3: message.content")],
      [expect.stringContaining("standard input, line 4: unknown type")],
      "fine",
    ]);
    expect(program.complaints.join("")).toContain("cadre: standard input, line 1");
  });

  it("end with success when nothing was said at all, and open no session", async () => {
    const program = start(echo);
    program.end();
    expect(await program.exit).toBe(0);
    expect(program.opened).toEqual([]);
  });

  it("get an error result each when no session can be opened", async () => {
    const program = start(echo, {
      open: () => {
        throw new CadreError({ code: "model-key-missing", message: "no key" });
      },
    });
    program.say(user("x"));
    program.end();
    expect(await program.exit).toBe(3);
    expect(results(program.said)).toMatchObject([{ is_error: true, errors: ["no key"] }]);
  });
});

describe("control requests", () => {
  it("initialize before the first message shapes the session", async () => {
    const program = start(echo);
    program.say(
      control("1", {
        subtype: "initialize",
        hooks: null,
        systemPrompt: ["a", "b"],
        appendSystemPrompt: "c",
        jsonSchema: { type: "object" },
      }),
    );
    program.say(control("2", { subtype: "set_model", model: "haiku" }));
    program.say(control("3", { subtype: "set_permission_mode", mode: "plan" }));
    program.say(user("go"));
    program.end();
    await program.exit;
    expect(await program.hears(replyTo("1"))).toMatchObject({
      response: { subtype: "success", request_id: "1", response: { commands: [], output_style: "default" } },
    });
    expect(program.opened).toEqual([
      {
        systemPrompt: "a\n\nb",
        appendSystemPrompt: "c",
        outputSchema: { type: "object" },
        model: "haiku",
        permissionMode: "plan",
      },
    ]);
  });

  it("an empty system prompt on this wire means that none was chosen", async () => {
    const program = start(echo);
    program.say(control("1", { subtype: "initialize", systemPrompt: [""] }));
    program.say(user("go"));
    program.end();
    await program.exit;
    expect(program.opened).toEqual([{}]);
  });

  it("initialize brings agents along, and says whether their words are wanted", async () => {
    const agent = createScriptedAgent("a");
    const speaking: ScriptedRun = async function* () {
      yield agent.start;
      yield* agent.turn();
      return {};
    };
    const wordsAfter = async (initialize?: Record<string, unknown>) => {
      const program = start(speaking);
      if (initialize) program.say(control("1", { subtype: "initialize", ...initialize }));
      program.say(user("go"));
      program.end();
      await program.exit;
      return { words: program.said.filter(({ type }) => type === "assistant").length, program };
    };
    const agents = { scout: { description: "looks", prompt: "Look." } };
    const asked = await wordsAfter({ agents, forwardSubagentText: true });
    expect(asked.words).toBe(1);
    expect(asked.program.opened).toEqual([{ agents }]);
    expect((await wordsAfter({ agents: null })).words).toBe(0);
    expect((await wordsAfter()).words).toBe(1);
  });

  it("initialize asks for suggestions, and only then there are some", async () => {
    const silent = start(echo);
    silent.say(control("1", { subtype: "initialize" }));
    silent.say(user("one"));
    silent.end();
    await silent.exit;
    expect(silent.opened[0]).not.toHaveProperty("onSuggestion");
    const program = start(echo);
    program.say(control("1", { subtype: "initialize", promptSuggestions: true }));
    program.say(user("one"));
    await program.hears((message) => message.type === "result");
    program.opened[0]?.onSuggestion?.("run the tests");
    expect(await program.hears((message) => message.type === "prompt_suggestion")).toEqual({
      type: "prompt_suggestion",
      suggestion: "run the tests",
      session_id: program.session.id,
      uuid: expect.stringMatching(/^uuid-/),
    });
    program.end();
    expect(await program.exit).toBe(0);
  });

  it("initialize asks for summaries of agents, and only then somebody watches them", async () => {
    const program = start(echo);
    let watched = 0;
    const watchAgents = () => {
      watched++;
      return () => {};
    };
    Object.assign(program.session, { watchAgents });
    program.say(control("1", { subtype: "initialize", agentProgressSummaries: true }));
    program.say(user("one"));
    await program.hears((message) => message.type === "result");
    const run = program.session.tasks.register(
      {
        id: "a",
        kind: "local_agent",
        description: "task of a",
        toolUseId: "call-a",
        isBackgrounded: true,
        agent: { agentType: "Explore", prompt: "Look.", depth: 1, progress: nothingDone },
      },
      { stop() {} },
    );
    run.update({ agent: { progress: { ...nothingDone, toolUses: 3, summary: "reads the parser" } } });
    expect(await program.hears((message) => message.subtype === "task_progress")).toMatchObject({
      task_id: "a",
      tool_use_id: "call-a",
      description: "task of a",
      subagent_type: "Explore",
      summary: "reads the parser",
      usage: { tool_uses: 3, total_tokens: 0 },
    });
    run.end({ status: "completed" });
    program.say(user("two"));
    program.end();
    await program.exit;
    expect(watched).toBe(1);
    const silent = start(echo);
    Object.assign(silent.session, { watchAgents });
    silent.say(user("one"));
    silent.end();
    await silent.exit;
    expect(watched).toBe(1);
  });

  it("that cannot be honoured are refused, not ignored", async () => {
    const program = start(echo);
    program.say(control("hooks", { subtype: "initialize", hooks: { PreToolUse: [{}] } }));
    program.say(control("mode", { subtype: "set_permission_mode", mode: "bubble" }));
    program.say(control("unknown", { subtype: "make_coffee" }));
    program.say(user("go"));
    program.say(control("late", { subtype: "set_model", model: "opus" }));
    program.end();
    await program.exit;
    for (const id of ["hooks", "mode", "unknown", "late"])
      expect(await program.hears(replyTo(id))).toMatchObject({ response: { subtype: "error" } });
  });

  it("interrupt and change the mode of a run that goes on", async () => {
    const program = start(async function* ({ interrupted }) {
      yield { type: "turn-start", turn: 1 };
      return await untilInterrupted(interrupted);
    });
    program.say(user("long work"));
    await program.hears((message) => message.subtype === "init");
    program.say(control("1", { subtype: "set_permission_mode", mode: "acceptEdits" }));
    expect(await program.hears(replyTo("1"))).toMatchObject({ response: { subtype: "success" } });
    expect(program.session.permissionMode).toBe("acceptEdits");
    program.say(control("2", { subtype: "interrupt" }));
    expect(await program.hears((message) => message.type === "result")).toMatchObject({
      subtype: "error_during_execution",
      terminal_reason: "aborted",
    });
    program.end();
    expect(await program.exit).toBe(0);
  });
});

describe("a signal", () => {
  it("ends a run and what waits behind it", async () => {
    const program = start(async function* ({ interrupted }) {
      yield* answerEvents("working");
      return await untilInterrupted(interrupted);
    });
    program.say(user("one"));
    program.say(user("two"));
    await program.hears((message) => message.type === "assistant");
    program.interruption.abort();
    expect(await program.exit).toBe(130);
    expect(program.session.submitted).toEqual(["one"]);
    expect(program.session.closed).toBe(true);
  });

  it("ends the wait for input", async () => {
    const program = start(echo);
    program.interruption.abort();
    expect(await program.exit).toBe(130);
  });
});

describe("permission over the control channel", () => {
  const request = {
    toolName: "Bash",
    toolUseId: "t1",
    input: { command: "ls" },
    reason: "no rule",
    suggestions: ["Bash(ls:*)", "Bash"],
    agent: { id: "a1" },
  };

  function asking() {
    const program: ReturnType<typeof start> = start(
      async function* () {
        yield { type: "turn-start", turn: 1 };
        return { text: JSON.stringify(await program.session.ask(request)) };
      },
      { permissions: true },
    );
    return program;
  }

  async function answered(response: unknown) {
    const program = asking();
    program.say(user("go"));
    const asked = await program.hears((message) => message.type === "control_request");
    expect(asked.request).toEqual({
      subtype: "can_use_tool",
      tool_name: "Bash",
      input: { command: "ls" },
      tool_use_id: "t1",
      agent_id: "a1",
      decision_reason: "no rule",
      permission_suggestions: [
        {
          type: "addRules",
          rules: [{ toolName: "Bash", ruleContent: "ls:*" }],
          behavior: "allow",
          destination: "session",
        },
        { type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "session" },
      ],
    });
    program.say({
      type: "control_response",
      response: { subtype: "success", request_id: asked.request_id, response },
    });
    program.end();
    await program.exit;
    expect(program.said.filter((message) => message.type === "control_cancel_request")).toEqual([]);
    return { verdict: JSON.parse(String(results(program.said)[0]?.result)) as Verdict, program };
  }

  const addRules = (destination: string, ...rules: object[]) => ({
    type: "addRules",
    rules,
    behavior: "allow",
    destination,
  });

  it.each([
    [
      { behavior: "allow", updatedInput: { command: "ls" } },
      { kind: "allowed", scope: "once", rules: [] },
    ],
    [
      { behavior: "deny", message: "not now" },
      { kind: "refused", message: "not now" },
    ],
    [
      {
        behavior: "allow",
        updatedPermissions: [addRules("session", { toolName: "Bash", ruleContent: "ls:*" })],
      },
      { kind: "allowed", scope: "session", rules: ["Bash(ls:*)"] },
    ],
    [
      { behavior: "allow", updatedPermissions: [addRules("localSettings", { toolName: "Bash" })] },
      { kind: "allowed", scope: "project", rules: ["Bash"] },
    ],
    [
      {
        behavior: "allow",
        updatedPermissions: [
          addRules("localSettings", { toolName: "Bash" }),
          addRules("session", { toolName: "Edit" }),
        ],
      },
      { kind: "allowed", scope: "session", rules: ["Bash", "Edit"] },
    ],
    [
      { behavior: "allow", updatedPermissions: [{ type: "addDirectories", directories: ["/"] }, null, 7] },
      { kind: "allowed", scope: "once", rules: [] },
    ],
  ])("takes %j for %j", async (response, verdict) => {
    expect((await answered(response)).verdict).toEqual(verdict);
  });

  it("changes the mode, and interrupts, when the answer says so", async () => {
    const changed = await answered({
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
    });
    expect(changed.program.session.permissionMode).toBe("acceptEdits");
    expect(changed.verdict).toMatchObject({ kind: "allowed", scope: "once" });
  });

  it("takes anything unclear, and a changed input, for a no", async () => {
    const changed = { behavior: "allow", updatedInput: { command: "ls /tmp" } };
    for (const unclear of [changed, {}, null, "allow", { behavior: "ask" }])
      expect((await answered(unclear)).verdict).toMatchObject({ kind: "refused" });
  });

  it("denies what still waits when the other side is gone", async () => {
    const program = asking();
    program.say(user("go"));
    await program.hears((message) => message.type === "control_request");
    program.end();
    await program.exit;
    expect(String(results(program.said)[0]?.result)).toContain('"everybody-left"');
  });

  it("goes on waiting when the next message comes", async () => {
    const bridge = createPermissionBridge({ emit: async () => {} });
    const session = createScriptedSession(echo);
    bridge.attach(session);
    const asked = session.ask(request);
    bridge.attach(session);
    expect(session.permissions.waiting).toHaveLength(1);
    bridge.close();
    expect(await asked).toEqual({ kind: "unanswered", why: "everybody-left" });
  });

  it("withdraws the question when the call is cancelled, and ignores a late answer", async () => {
    const sent: WireMessage[] = [];
    const bridge = createPermissionBridge({ emit: async (message) => void sent.push(message) });
    const session = createScriptedSession(echo);
    bridge.attach(session);
    const controller = new AbortController();
    const asked = session.ask(request, controller.signal);
    const id = String(sent[0]?.request_id);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ name: "CancelledError" });
    expect(sent.at(-1)).toEqual({ type: "control_cancel_request", request_id: id });
    bridge.accept({ subtype: "success", request_id: id, response: { behavior: "allow" } });
    expect(session.permissions.waiting).toEqual([]);
  });
});

describe("background tasks", () => {
  const states = (said: WireMessage[]) =>
    said.flatMap((message) => (message.subtype === "session_state_changed" ? [message.state] : []));
  const isResult = (message: WireMessage) => message.type === "result";
  const isIdle = (message: WireMessage) => message.state === "idle";
  const says: ScriptedRun = async function* ({ content }) {
    const text = content === undefined ? "what came" : String(content);
    yield* answerEvents(text);
    return { text };
  };
  const handle = { stop() {} };
  const shell = { id: "b1", kind: "local_bash", description: "serve", isBackgrounded: true };
  const agent = {
    id: "a",
    kind: "local_agent",
    description: "task of a",
    toolUseId: "call-a",
    isBackgrounded: true,
    agent: {
      agentType: "Explore",
      prompt: "Do a.",
      depth: 1,
      progress: { toolUses: 0, usage: noUsage, lastActivities: [] },
    },
  };

  it("start a run by themselves when no other goes on, with a result of its own", async () => {
    const program = start(says);
    program.say(user("one"));
    await program.hears(isIdle);
    const run = program.session.tasks.register(agent, handle);
    run.end({ status: "completed" });
    program.session.wake();
    await program.hears((message) => message.result === "what came");
    program.end();
    expect(await program.exit).toBe(0);
    expect(program.session.submitted).toEqual(["one", undefined]);
    expect(program.said.filter(({ subtype }) => subtype === "init")).toHaveLength(2);
  });

  it("that are agents keep the session from being idle, commands do not", async () => {
    const program = start(says);
    program.session.tasks.register(shell, handle);
    const run = program.session.tasks.register(agent, handle);
    program.say(user("one"));
    await program.hears(isResult);
    await new Promise(setImmediate);
    expect(states(program.said)).toEqual(["running"]);
    run.end({ status: "completed" });
    program.session.wake();
    await program.hears(isIdle);
    expect(results(program.said)).toHaveLength(2);
    expect(states(program.said)).toEqual(["running", "idle"]);
    program.session.tasks.end("b1", { status: "completed" });
    program.end();
    await program.exit;
    expect(states(program.said)).toEqual(["running", "idle"]);
  });

  it("are waited for when the input has ended", async () => {
    const program = start(says);
    const run = program.session.tasks.register(agent, handle);
    program.say(user("one"));
    program.end();
    await program.hears(isResult);
    await new Promise(setImmediate);
    expect(program.session.closed).toBe(false);
    program.session.tell(besideOf(createScriptedAgent("a").start));
    program.session.tell(besideOf(createScriptedAgent("a").end()));
    run.end({ status: "completed" });
    program.session.wake();
    expect(await program.exit).toBe(0);
    expect(results(program.said).map(({ result }) => result)).toEqual(["one", "what came"]);
    expect(program.said.at(-1)).toMatchObject({ state: "idle" });
    expect(program.said.filter(({ subtype }) => subtype === "task_notification")).toHaveLength(1);
  });

  it("are stopped at the end of the input when told not to wait", async () => {
    const program = start(says, { noWait: true });
    const stopped: string[] = [];
    program.session.tasks.register(shell, { stop: (reason) => void stopped.push(reason) });
    program.say(user("one"));
    program.end();
    expect(await program.exit).toBe(0);
    expect(stopped).toHaveLength(1);
    expect(program.complaints.join("")).toContain("1 background task was still at work");
  });

  it("are stopped by a signal that comes while they are waited for", async () => {
    const program = start(says);
    const stopped: string[] = [];
    program.session.tasks.register(shell, { stop: (reason) => void stopped.push(reason) });
    program.say(user("one"));
    program.end();
    await program.hears(isResult);
    program.interruption.abort();
    expect(await program.exit).toBe(130);
    expect(stopped).toHaveLength(1);
  });

  it("whose run fails do not start it over and over", async () => {
    const program = start(async function* ({ content }) {
      yield { type: "turn-start", turn: 1 };
      if (content !== undefined) return {};
      // As a session whose disk is full: what waits stays where it is.
      program.session.wake();
      throw new CadreError({ code: "journal-unwritable", message: "the disk is full" });
    });
    program.say(user("one"));
    await program.hears(isIdle);
    program.session.tasks.register(shell, handle);
    program.session.wake();
    await program.hears((message) => message.is_error === true);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    program.end();
    expect(await program.exit).toBe(2);
    expect(program.session.submitted).toEqual(["one", undefined]);
  });

  it("are stopped, moved and read by control requests", async () => {
    const program = start(says);
    const done: string[] = [];
    const { tasks } = program.session;
    tasks.register(shell, { stop: () => void done.push("stop b1") });
    tasks.register(
      { ...agent, isBackgrounded: false },
      { stop() {}, toBackground: () => void done.push("move a") },
    );
    tasks.register(
      { ...agent, id: "below", toolUseId: "call-below", parentAgentId: "a", isBackgrounded: false },
      { stop() {}, toBackground: () => void done.push("move below") },
    );
    program.say(user("one"));
    await program.hears(isResult);
    program.say(control("1", { subtype: "stop_task", task_id: "b1" }));
    program.say(control("2", { subtype: "background_tasks" }));
    program.say(control("3", { subtype: "background_tasks", tool_use_id: "call-below" }));
    program.say(control("4", { subtype: "get_task_output", task_id: "b1" }));
    expect(await program.hears(replyTo("4"))).toMatchObject({
      response: {
        subtype: "success",
        response: { output: "what b1 wrote", total_bytes: 13, truncated: false },
      },
    });
    expect(done).toEqual(["stop b1", "move a", "move below"]);
    for (const id of ["1", "2", "3"])
      expect(await program.hears(replyTo(id))).toMatchObject({
        response: { subtype: "success", response: {} },
      });
    for (const { id } of tasks.list()) tasks.end(id, { status: "completed" });
    program.end();
    await program.exit;
  });

  it("that are not there, or have ended, are refused by name", async () => {
    const program = start(says);
    program.say(control("early", { subtype: "get_task_output", task_id: "x1" }));
    program.say(user("one"));
    await program.hears(isResult);
    program.session.tasks.register(shell, handle).end({ status: "failed" });
    program.session.tasks.register({ ...agent, isBackgrounded: false }, handle);
    program.say(control("stop", { subtype: "stop_task", task_id: "x1" }));
    program.say(control("late", { subtype: "stop_task", task_id: "b1" }));
    program.say(control("move", { subtype: "background_tasks", tool_use_id: "call-x" }));
    program.say(control("fixed", { subtype: "background_tasks", tool_use_id: "call-a" }));
    program.say(control("read", { subtype: "get_task_output", task_id: "x1" }));
    program.say(control("none", { subtype: "stop_task" }));
    const errors: Record<string, RegExp> = {
      early: /no task "x1"/,
      stop: /no task "x1"/,
      late: /b1 has ended \(failed\)/,
      move: /call-x/,
      fixed: /call-a .* cannot/,
      read: /no task x1/,
      none: /task_id must be a text/,
    };
    for (const [id, error] of Object.entries(errors))
      expect(await program.hears(replyTo(id))).toMatchObject({
        response: { subtype: "error", error: expect.stringMatching(error) },
      });
    program.end();
    await program.exit;
  });
});
