import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import {
  createPermissionBroker,
  type PermissionBroker,
  type WaitingQuestion,
} from "../permissions/broker.ts";
import type { PermissionEngine, PermissionQuestion } from "../permissions/engine.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import type { Gate } from "../tools/executor.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { AgentPermissions, AgentScope, ToolContext } from "../tools/tool-context.ts";
import type { DecisionRecord } from "../transcript/record.ts";
import { createPermissionGate, type GateOptions } from "./permission-gate.ts";

let scene: ToolScene;
let clock: ManualClock;
let decisions: DecisionRecord[];
let judged: PermissionQuestion[];
let broker: PermissionBroker;
/** What the engine says of the next call; tests change it while questions wait. */
let says: (question: PermissionQuestion) => PermissionDecision;

beforeEach(async () => {
  scene = await createToolScene();
  clock = createManualClock();
  decisions = [];
  judged = [];
  says = () => ({ decision: "ask", reason: "no rule allows it", suggestions: ["Change(x's *)", "Change"] });
});
afterEach(() => scene.dispose());

const change = (own?: PermissionDecision): Tool =>
  defineTool({
    name: "Change",
    description: "",
    input: z.object({ file_path: z.string() }),
    checkPermissions: async () => own,
    call: async () => "done",
    toResult: (text) => text,
  });
const look = defineTool({
  name: "Look",
  description: "",
  input: z.object({}),
  isReadOnly: () => true,
  call: async () => "seen",
  toResult: (text) => text,
});

function createGate(more: Partial<GateOptions> = {}): Gate {
  const engine: PermissionEngine = {
    problems: [],
    grant: () => {},
    mayRead: async () => true,
    mayStartAgent: () => true,
    isDenied: () => false,
    decide: async (question) => {
      judged.push(question);
      return says(question);
    },
  };
  broker = createPermissionBroker({
    clock,
    random: scene.world.random,
    grant: () => {},
    keep: async () => "",
  });
  return createPermissionGate({
    engine,
    broker,
    clock,
    record: (decision) => decisions.push(decision),
    sessionFolders: ["/session"],
    ...more,
  });
}

function pass(gate: Gate, tool: Tool, more: { input?: object; context?: Partial<ToolContext> } = {}) {
  const call = {
    type: "tool_use" as const,
    id: "call-1",
    name: tool.name,
    input: { file_path: "a.txt", ...more.input },
  };
  const bound = tool.bind(call.input);
  if (!bound.ok) throw new Error(bound.problem);
  return gate({ tool, call, bound, context: { ...scene.context, ...more.context } });
}

/** A person who answers each question in turn. */
function sitsThere(reply: (question: WaitingQuestion) => void | Promise<void>) {
  broker.subscribe((event) => {
    if (event.type === "question-open") void reply(event.question);
  });
}

describe("the gate", () => {
  it("lets through what is allowed, and refuses what is denied with the reason", async () => {
    const gate = createGate();
    const rule = { source: "user" as const, rule: "Change" };
    says = () => ({ decision: "allow", reason: "allowed by a rule", rule });
    expect(await pass(gate, change())).toEqual({ allowed: true });
    says = () => ({ decision: "deny", reason: "plan mode only reads" });
    expect(await pass(gate, change())).toEqual({
      allowed: false,
      message: "Not allowed: plan mode only reads.",
    });
    expect(decisions).toEqual([
      {
        type: "decision",
        timestamp: "1970-01-01T00:00:00.000Z",
        toolUseId: "call-1",
        tool: "Change",
        decision: "allow",
        reason: "allowed by a rule",
        rule,
        by: "rule",
      },
      expect.objectContaining({ decision: "deny", by: "mode", reason: "plan mode only reads" }),
    ]);
  });

  it("records every decision, also that something only reads", async () => {
    const gate = createGate();
    says = () => ({ decision: "allow", reason: "it only reads" });
    await pass(gate, look);
    says = () => ({ decision: "deny", reason: "a rule" });
    await pass(gate, look);
    expect(decisions.map(({ decision, reason }) => [decision, reason])).toEqual([
      ["allow", "it only reads"],
      ["deny", "a rule"],
    ]);
  });

  it("hands the engine the very input that will run, with mode, folders and agent of the moment", async () => {
    const gate = createGate();
    says = () => ({ decision: "allow", reason: "" });
    const tool = change();
    const bound = tool.bind({ file_path: "b.txt" });
    if (!bound.ok) throw new Error(bound.problem);
    const call = { type: "tool_use" as const, id: "c", name: "Change", input: { file_path: "other.txt" } };
    await gate({ tool, call, bound, context: { ...scene.context, agent: { ...scene.agent, agentId: "a" } } });
    expect(judged[0]?.input).toBe(bound.input);
    expect(judged[0]).toMatchObject({ mode: "default", agentId: "a", sessionFolders: ["/session"] });
  });

  it("takes the stricter of the engine's word and the tool's own", async () => {
    const gate = createGate();
    const deny: PermissionDecision = { decision: "deny", reason: "the tool says no" };
    const asks: PermissionDecision = { decision: "ask", reason: "the tool wants to ask" };
    says = () => ({ decision: "allow", reason: "" });
    expect(await pass(gate, change(deny))).toMatchObject({ allowed: false });
    says = () => ({ decision: "deny", reason: "a rule" });
    expect(await pass(gate, change(asks))).toMatchObject({ message: "Not allowed: a rule." });
    says = () => ({ decision: "allow", reason: "" });
    const mode: PermissionMode = "dontAsk";
    const context = { agent: { ...scene.agent, mode: { current: mode } } };
    expect(await pass(gate, change(asks), { context })).toMatchObject({
      message: "Not allowed: the tool wants to ask.",
    });
  });

  it("says how to allow it when nobody can be asked, as a word that a shell takes", async () => {
    const gate = createGate();
    expect(await pass(gate, change())).toEqual({
      allowed: false,
      message:
        "Not allowed: no rule allows it, and nobody can be asked here. The user can allow it at the start with --allowed-tools 'Change(x'\\''s *)'.",
    });
    expect(decisions).toMatchObject([{ decision: "deny", by: "nobody" }]);
    says = () => ({ decision: "ask", reason: "a rule asks", rule: { source: "user", rule: "Change" } });
    expect(await pass(gate, change())).toMatchObject({
      message: expect.stringContaining("The user rule Change makes it ask."),
    });
    says = () => ({ decision: "ask", reason: "a start-up file", protected: true });
    expect(await pass(gate, change())).toMatchObject({
      message: expect.stringContaining("needs a person who is asked"),
    });
  });

  it("asks with the agent's name, and tells the model what the person said", async () => {
    const gate = createGate({ describeAgent: () => ({ name: "scout", color: "blue" }) });
    const questions: WaitingQuestion[] = [];
    sitsThere((question) => {
      questions.push(question);
      void broker.answer(question.id, { answer: "no", message: "use the other file" });
    });
    const agent = { ...scene.agent, agentId: "a1", source: { kind: "agent" as const, agentType: "Explore" } };
    expect(await pass(gate, change(), { context: { agent } })).toEqual({
      allowed: false,
      message: "The user did not allow this call. They said: use the other file",
    });
    expect(questions).toMatchObject([
      {
        toolName: "Change",
        toolUseId: "call-1",
        input: { file_path: "a.txt" },
        reason: "no rule allows it",
        suggestions: ["Change(x's *)", "Change"],
        agent: { id: "a1", type: "Explore", name: "scout", color: "blue" },
      },
    ]);
    expect(decisions).toMatchObject([
      { agentId: "a1", decision: "deny", by: "person", reason: "refused by the user: use the other file" },
    ]);
  });

  it("denies at the deadline, saying so", async () => {
    const gate = createGate({ questionTimeoutMs: 1000 });
    sitsThere(() => clock.advance(1000));
    expect(await pass(gate, change())).toMatchObject({
      message: expect.stringContaining("nobody answered the question in time"),
    });
  });

  it("passes the cancellation of a waiting call on, and records nothing", async () => {
    const gate = createGate();
    const controller = new AbortController();
    sitsThere(() => controller.abort());
    await expect(pass(gate, change(), { context: { signal: controller.signal } })).rejects.toMatchObject({
      name: "CancelledError",
    });
    expect(decisions).toEqual([]);
  });
});

describe("an agent that another one started", () => {
  const scopeOf = (permissions: AgentPermissions, mode: PermissionMode = "default"): AgentScope => ({
    ...scene.agent,
    agentId: "a1",
    source: { kind: "agent", agentType: "Explore" },
    mode: { current: mode },
    permissions,
  });

  it("is judged by what it may use beside the rules", async () => {
    const gate = createGate();
    says = () => ({ decision: "allow", reason: "" });
    const permissions: AgentPermissions = {
      within: new Map([["Change", ["Change(x)"]]]),
      denied: ["Change(y)"],
      allowInstead: ["Change"],
    };
    await pass(gate, change(), { context: { agent: scopeOf(permissions) } });
    expect(judged[0]?.limits).toBe(permissions);
    expect(judged[0]?.allowInstead).toBe(permissions.allowInstead);
  });
});

describe("between question and answer", () => {
  const yes = (question: WaitingQuestion) => void broker.answer(question.id, { answer: "once" });

  it("nothing changed: the person's yes counts", async () => {
    const gate = createGate();
    sitsThere(yes);
    expect(await pass(gate, change())).toEqual({ allowed: true });
    expect(decisions).toMatchObject([{ by: "person", reason: "allowed by the user once" }]);
  });

  it("a rule or a mode that denies came: it is refused", async () => {
    const gate = createGate();
    sitsThere((question) => {
      says = () => ({ decision: "deny", reason: "plan mode only reads" });
      yes(question);
    });
    expect(await pass(gate, change())).toEqual({
      allowed: false,
      message: "Not allowed: plan mode only reads.",
    });
  });

  it.each([
    ["the folder became a link", "folder/a.txt"],
    ["the file became a link", "folder/b.txt"],
  ])("%s: it is refused", async (_, path) => {
    const { files } = scene.world;
    await scene.write("folder/b.txt", "");
    await scene.write("elsewhere/a.txt", "");
    const gate = createGate();
    sitsThere(async (question) => {
      if (path.endsWith("b.txt")) {
        await files.remove(scene.path("folder/b.txt"));
        await files.symlink(scene.path("elsewhere/a.txt"), scene.path("folder/b.txt"));
      } else {
        await files.rename(scene.path("folder"), scene.path("old"));
        await files.symlink(scene.path("elsewhere"), scene.path("folder"));
      }
      yes(question);
    });
    expect(await pass(gate, change(), { input: { file_path: path } })).toMatchObject({
      allowed: false,
      message: expect.stringContaining("another place"),
    });
  });

  it("the current folder moved: what is relative leads elsewhere, and is refused", async () => {
    const gate = createGate();
    await scene.write("sub/a.txt", "");
    sitsThere((question) => {
      scene.agent.folder.current = scene.path("sub");
      yes(question);
    });
    expect(await pass(gate, change())).toMatchObject({ allowed: false });
  });

  it("it came to be about a protected file: the yes was not meant for that", async () => {
    const gate = createGate();
    sitsThere((question) => {
      says = () => ({ decision: "ask", reason: "a start-up file", protected: true });
      yes(question);
    });
    expect(await pass(gate, change())).toMatchObject({ allowed: false });
  });

  it("the mode came to allow it: nobody has to answer", async () => {
    const gate = createGate();
    sitsThere(() => {
      says = () => ({ decision: "allow", reason: "edits are accepted in this mode" });
      void broker.reconsider();
    });
    expect(await pass(gate, change())).toEqual({ allowed: true });
    expect(decisions).toMatchObject([{ decision: "allow", by: "mode" }]);
  });
});
