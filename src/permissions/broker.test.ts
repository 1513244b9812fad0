import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { PermissionDecision, PermissionRequest } from "../contracts/permission.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import {
  createPermissionBroker,
  type PermissionBroker,
  type QuestionChange,
  type Verdict,
} from "./broker.ts";

let clock: ManualClock;
let granted: string[];
let kept: string[][];
let broker: PermissionBroker;
beforeEach(() => {
  clock = createManualClock(1000);
  granted = [];
  kept = [];
  broker = createPermissionBroker({
    clock,
    random: createSeededRandom(1),
    grant: (rule) => granted.push(rule),
    keep: async (rules) => {
      kept.push([...rules]);
      return "written";
    },
  });
});

const request = (toolUseId = "t", more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  toolName: "Bash",
  toolUseId,
  input: { command: "npm test" },
  reason: "no rule",
  ...more,
});

function ask(more: Partial<PermissionRequest> & { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const { timeoutMs, signal = new AbortController().signal, ...rest } = more;
  const asked = request(rest.toolUseId, rest);
  return broker.ask({
    request: asked,
    signal,
    timeoutMs,
    // What a rule says of it: allowed when its first suggestion was granted.
    judge: async (): Promise<PermissionDecision> =>
      granted.some((rule) => asked.suggestions?.includes(rule))
        ? { decision: "allow", reason: "granted" }
        : { decision: "ask", reason: "no rule" },
  });
}

const listen = () => {
  const changes: QuestionChange[] = [];
  const leave = broker.subscribe((change) => changes.push(change));
  return { changes, leave };
};
const firstId = () => broker.waiting[0]?.id ?? "none";

describe("a question", () => {
  it("is not even asked when nobody listens", async () => {
    expect(await ask()).toEqual({ kind: "unanswered", why: "nobody-there" });
    expect(broker.waiting).toEqual([]);
  });

  it("waits with all that a surface needs, and is told to those who come late too", async () => {
    const early = listen();
    const asked = ask({ agent: { id: "a", type: "Explore", name: "scout", color: "blue" }, timeoutMs: 500 });
    const late = listen();
    const question = {
      ...request(),
      agent: { id: "a", type: "Explore", name: "scout", color: "blue" },
      id: firstId(),
      sinceMs: 1000,
      deadlineMs: 1500,
    };
    expect(early.changes).toEqual([{ type: "question-open", question }]);
    expect(late.changes).toEqual(early.changes);
    await broker.answer(firstId(), { answer: "once" });
    expect(await asked).toEqual({ kind: "allowed", scope: "once", rules: [] });
    expect(late.changes.at(-1)).toMatchObject({ type: "question-close", verdict: { kind: "allowed" } });
    expect(clock.pendingMs()).toEqual([]);
  });

  it("is answered on its own while others wait", async () => {
    listen();
    const [one, two] = [ask({ toolUseId: "1" }), ask({ toolUseId: "2" })];
    await broker.answer(broker.waiting[1]?.id ?? "", { answer: "no", message: "not there" });
    expect(await two).toEqual({ kind: "refused", message: "not there" });
    expect(broker.waiting.map(({ toolUseId }) => toolUseId)).toEqual(["1"]);
    await broker.answer(firstId(), { answer: "once" });
    await one;
  });

  it("can be answered once, and only if it was asked", async () => {
    listen();
    const asked = ask();
    const id = firstId();
    await broker.answer(id, { answer: "no" });
    await expect(broker.answer(id, { answer: "once" })).rejects.toMatchObject({
      code: "question-not-waiting",
    });
    await expect(broker.answer("nonsense", { answer: "once" })).rejects.toMatchObject({
      code: "question-not-waiting",
    });
    expect(await asked).toEqual({ kind: "refused" });
  });

  it("leaves the list when its call is cancelled", async () => {
    const { changes } = listen();
    const controller = new AbortController();
    const asked = ask({ signal: controller.signal, timeoutMs: 10 });
    controller.abort();
    await expect(asked).rejects.toMatchObject({ name: "CancelledError" });
    expect(broker.waiting).toEqual([]);
    expect(changes.at(-1)).toMatchObject({ type: "question-close", verdict: undefined });
    expect(clock.pendingMs()).toEqual([]);
  });

  it("is denied at its deadline, and when the last listener leaves", async () => {
    const one = listen();
    const two = listen();
    const late = ask({ timeoutMs: 100 });
    await clock.advance(100);
    expect(await late).toEqual({ kind: "unanswered", why: "deadline" });
    const left = ask();
    one.leave();
    one.leave();
    expect(broker.waiting).toHaveLength(1);
    two.leave();
    expect(await left).toEqual({ kind: "unanswered", why: "everybody-left" });
  });

  it("cannot be used to change what will run", async () => {
    broker.subscribe((change) => {
      if (change.type === "question-open") Object.assign(change.question.input, { command: "rm -rf /" });
    });
    const mine = request("t");
    void broker.ask({
      request: mine,
      signal: new AbortController().signal,
      judge: async () => ({ decision: "ask", reason: "" }),
    });
    expect(mine.input).toEqual({ command: "npm test" });
    await broker.answer(firstId(), { answer: "no" });
  });

  it("may be answered by a listener at once; others never hear of it half", async () => {
    broker.subscribe((change) => {
      if (change.type === "question-open") void broker.answer(change.question.id, { answer: "once" });
    });
    const other = listen();
    expect(await ask()).toMatchObject({ kind: "allowed" });
    expect(other.changes).toEqual([]);
  });
});

describe("a grant", () => {
  const suggestions = ["Bash(npm test:*)", "Bash"];

  it("for the session is the first suggestion, or the rules of the answer", async () => {
    listen();
    const one = ask({ suggestions });
    expect(await broker.answer(firstId(), { answer: "session" })).toEqual({});
    expect(await one).toEqual({ kind: "allowed", scope: "session", rules: ["Bash(npm test:*)"] });
    const two = ask({ suggestions });
    await broker.answer(firstId(), { answer: "session", rules: ["Bash(npm:*)"] });
    await two;
    expect(granted).toEqual(["Bash(npm test:*)", "Bash(npm:*)"]);
    expect(kept).toEqual([]);
  });

  it("for the project holds for the session and is written down", async () => {
    listen();
    const asked = ask({ suggestions });
    expect(await broker.answer(firstId(), { answer: "project" })).toEqual({ note: "written" });
    expect(await asked).toMatchObject({ scope: "project" });
    expect(granted).toEqual(["Bash(npm test:*)"]);
    expect(kept).toEqual([["Bash(npm test:*)"]]);
  });

  it("answers the other questions that it covers, and no others", async () => {
    listen();
    const one = ask({ suggestions, toolUseId: "1" });
    const two = ask({ suggestions, toolUseId: "2" });
    const other = ask({ suggestions: ["Edit"], toolUseId: "3" });
    await broker.answer(firstId(), { answer: "session" });
    expect(await one).toMatchObject({ kind: "allowed" });
    expect(await two).toEqual({ kind: "decided", decision: { decision: "allow", reason: "granted" } });
    expect(broker.waiting.map(({ toolUseId }) => toolUseId)).toEqual(["3"]);
    await broker.answer(firstId(), { answer: "no" });
    await other;
  });

  it("where no rule can stand for the call allows it once, and says so", async () => {
    listen();
    const asked = ask({ suggestions: [] });
    const { note } = await broker.answer(firstId(), { answer: "project" });
    expect(note).toContain("this once");
    expect(await asked).toEqual({ kind: "allowed", scope: "once", rules: [] });
    expect(kept).toEqual([]);
  });
});

type Step =
  | { do: "ask"; timeoutMs: number | undefined; rule: string }
  | { do: "answer" | "cancel"; which: number; how: "once" | "session" | "project" | "no" }
  | { do: "advance"; ms: number }
  | { do: "subscribe" | "leave" };

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("ask" as const),
      timeoutMs: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
      rule: fc.constantFrom("a", "b"),
    }),
    fc.record({
      do: fc.constantFrom("answer" as const, "cancel" as const),
      which: fc.nat(20),
      how: fc.constantFrom("once" as const, "session" as const, "project" as const, "no" as const),
    }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ do: fc.constantFrom("subscribe" as const, "leave" as const) }),
  ),
  { maxLength: 40 },
);

/** What the questions must do, told without timers, promises or listeners. */
interface Modelled {
  readonly rule: string;
  readonly deadlineMs: number;
  end: string | undefined;
}

describe("whatever comes and goes", () => {
  it("every question ends exactly once, in the way that came first", async () => {
    await fc.assert(
      fc.asyncProperty(steps, (list) => play(list)),
      { numRuns: 300 },
    );
  });
});

async function play(list: readonly Step[]): Promise<void> {
  const time = createManualClock();
  const rules = new Set<string>();
  const subject = createPermissionBroker({
    clock: time,
    random: createSeededRandom(7),
    grant: (rule) => rules.add(rule),
    keep: async () => "",
  });
  const model: Modelled[] = [];
  const ends: string[][] = [];
  const ids: (string | undefined)[] = [];
  const controllers: AbortController[] = [];
  const leaves: (() => void)[] = [];
  const open = () => model.filter(({ end }) => end === undefined);
  const seen = new Map<string, number>();
  const pass = async (ms: number) => {
    await time.advance(ms);
    for (const question of open())
      if (question.deadlineMs <= time.now()) question.end = "unanswered deadline";
  };

  for (const step of list) {
    switch (step.do) {
      case "ask": {
        const index = model.length;
        const controller = new AbortController();
        const before = new Set(subject.waiting.map(({ id }) => id));
        ends.push([]);
        controllers.push(controller);
        const end = leaves.length === 0 ? "unanswered nobody-there" : undefined;
        model.push({ rule: step.rule, deadlineMs: time.now() + (step.timeoutMs ?? Infinity), end });
        void subject
          .ask({
            request: request(String(index), { suggestions: [step.rule] }),
            signal: controller.signal,
            timeoutMs: step.timeoutMs,
            judge: async () => ({ decision: rules.has(step.rule) ? "allow" : "ask", reason: "" }),
          })
          .then(
            (verdict) => ends[index]?.push(describeVerdict(verdict)),
            () => ends[index]?.push("cancelled"),
          );
        ids.push(subject.waiting.find(({ id }) => !before.has(id))?.id);
        break;
      }
      case "answer": {
        const question = model[step.which];
        const answered = subject.answer(ids[step.which] ?? "unknown", { answer: step.how });
        if (question === undefined || question.end !== undefined) {
          await expect(answered).rejects.toMatchObject({ code: "question-not-waiting" });
          break;
        }
        question.end = step.how === "no" ? "refused" : `allowed ${step.how}`;
        await answered;
        if (step.how === "session" || step.how === "project")
          for (const other of open()) if (other.rule === question.rule) other.end = "decided allow";
        break;
      }
      case "cancel": {
        controllers[step.which]?.abort();
        const question = model[step.which];
        if (question !== undefined) question.end ??= "cancelled";
        break;
      }
      case "advance":
        await pass(step.ms);
        break;
      case "subscribe":
        leaves.push(
          subject.subscribe((change) => {
            if (change.type === "question-open")
              seen.set(change.question.id, (seen.get(change.question.id) ?? 0) + 1);
          }),
        );
        break;
      case "leave": {
        const leave = leaves.pop();
        leave?.();
        if (leave !== undefined && leaves.length === 0)
          for (const question of open()) question.end = "unanswered everybody-left";
      }
    }
  }
  await pass(0);
  expect(ends).toEqual(model.map(({ end }) => (end === undefined ? [] : [end])));
  expect(subject.waiting.map(({ toolUseId }) => Number(toolUseId))).toEqual(
    model.flatMap(({ end }, index) => (end === undefined ? [index] : [])),
  );
  for (const id of ids) if (id !== undefined) expect(seen.get(id)).toBeGreaterThan(0);
}

function describeVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case "allowed":
      return `allowed ${verdict.scope}`;
    case "refused":
      return "refused";
    case "decided":
      return `decided ${verdict.decision.decision}`;
    case "unanswered":
      return `unanswered ${verdict.why}`;
  }
}
