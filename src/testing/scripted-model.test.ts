import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import { ModelError } from "../model/model-error.ts";
import { createManualClock } from "./manual-clock.ts";
import { createScriptedModel } from "./scripted-model.ts";

describe("a scripted model with a list of replies", () => {
  it("hands them out in the order of the requests and records these", async () => {
    const model = createScriptedModel(["one", { calls: [{ name: "Read", input: { file_path: "x" } }] }]);
    const request = requestOf([user("go")]);
    expect(textIn(await collect(model, request))).toBe("one");
    const events = await collect(model, request);
    expect(events.at(-1)).toMatchObject({ stopReason: "tool_use" });
    expect(jsonIn(events)).toBe('{"file_path":"x"}');
    expect(model.requests).toEqual([request, request]);
    await expect(collect(model, request)).rejects.toThrow("no reply for request 3");
  });

  it("misbehaves as it is told", async () => {
    const wrongKey = new ModelError({ kind: "unauthorized", message: "wrong key" });
    const model = createScriptedModel([
      { error: wrongKey },
      { text: "never whole", cutAfterEvents: 2 },
      {
        calls: [
          { name: "Nope", id: "same", json: '{"a":' },
          { name: "Nope", id: "same", json: "[]" },
        ],
      },
      { events: [{ type: "block-stop", index: 7 }] },
      { text: "x", stopReason: "max_tokens", usage: { outputTokens: 9 } },
    ]);
    const request = requestOf([user("go")]);
    await expect(collect(model, request)).rejects.toBe(wrongKey);
    const cut: ModelEvent[] = [];
    await expect(collect(model, request, cut)).rejects.toMatchObject({ kind: "cut" });
    expect(cut).toHaveLength(2);
    const broken = await collect(model, request);
    expect(
      broken.flatMap((event) =>
        event.type === "block-start" && event.block.type === "tool_use" ? [event.block.id] : [],
      ),
    ).toEqual(["same", "same"]);
    expect(jsonIn(broken)).toBe('{"a":[]');
    expect(await collect(model, request)).toEqual([{ type: "block-stop", index: 7 }]);
    expect((await collect(model, request)).at(-1)).toMatchObject({
      stopReason: "max_tokens",
      usage: { outputTokens: 9 },
    });
  });

  it("fails a request by its number without using up a reply", async () => {
    const failure = new ModelError({ kind: "overloaded", message: "busy" });
    const model = createScriptedModel(["one", "two"], { faults: { 1: { error: failure } } });
    const request = requestOf([user("go")]);
    expect(textIn(await collect(model, request))).toBe("one");
    await expect(collect(model, request)).rejects.toBe(failure);
    expect(textIn(await collect(model, request))).toBe("two");
  });

  it("waits by the clock it was given, and no longer than its request lives", async () => {
    const clock = createManualClock();
    const model = createScriptedModel(
      [
        { text: "late", delayMs: 1_000 },
        { text: "x", hang: true },
      ],
      { clock },
    );
    const late = collect(model, requestOf([user("go")]));
    await clock.advance(1_000);
    expect(textIn(await late)).toBe("late");
    const scope = createScope();
    const hanging = collect(model, { ...requestOf([user("go")]), scope: createScope(scope.signal) });
    scope.cancel("enough");
    await expect(hanging).rejects.toBeInstanceOf(CancelledError);
  });
});

describe("a scripted model with a generator", () => {
  const model = createScriptedModel(function* (task) {
    const [read] = yield { calls: [{ name: "Read", input: {} }] };
    yield `${task.prompt}: ${read?.text}`;
    return `then ${task.heard.at(-1)}`;
  });

  it("is replayed from each conversation, so that several can go on at once", async () => {
    const talk = [user("A")];
    const other = [user("B")];
    await advance(model, talk, "a");
    await advance(model, other, "b");
    expect(await advance(model, talk)).toBe("A: a");
    expect(await advance(model, other)).toBe("B: b");
    talk.push(user("more"));
    expect(await advance(model, talk)).toBe("then more");
  });

  it("begins anew with the next prompt after it returned", async () => {
    const talk = [user("A")];
    await advance(model, talk, "a");
    await advance(model, talk);
    talk.push(user("<task-notification>x</task-notification>"));
    expect(await advance(model, talk)).toBe("then <task-notification>x</task-notification>");
    talk.push(user("C"));
    await advance(model, talk, "c");
    expect(await advance(model, talk)).toBe("C: c");
  });

  it("lets a failed request be made again", async () => {
    const failing = createScriptedModel(
      function* () {
        yield "ok";
      },
      { faults: { 0: { cutAfterEvents: 1 } } },
    );
    await expect(collect(failing, requestOf([user("A")]))).rejects.toMatchObject({ kind: "cut" });
    expect(textIn(await collect(failing, requestOf([user("A")])))).toBe("ok");
  });

  it("lets what a script throws come through", async () => {
    // biome-ignore lint/correctness/useYield: it fails before it could.
    const broken = createScriptedModel(function* () {
      throw new Error("assertion in a script");
    });
    await expect(collect(broken, requestOf([user("A")]))).rejects.toThrow("assertion in a script");
  });
});

/** Asks once, appends the answer, and the result of its call if one is given. */
async function advance(model: Model, messages: Message[], result?: string): Promise<string> {
  const events = await collect(model, requestOf(messages));
  const calls = events.flatMap((event): Block[] =>
    event.type === "block-start" && event.block.type === "tool_use" ? [{ ...event.block, input: {} }] : [],
  );
  messages.push({
    ...user(""),
    role: "assistant",
    content: [{ type: "text", text: textIn(events) }, ...calls],
  });
  if (result !== undefined) {
    const results = calls.flatMap((call): Block[] =>
      call.type === "tool_use" ? [{ type: "tool_result", tool_use_id: call.id, content: result }] : [],
    );
    messages.push({ ...user(""), content: results });
  }
  return textIn(events);
}

function user(text: string): Message {
  return {
    uuid: text,
    parentUuid: null,
    timestamp: "2024-01-01T00:00:00.000Z",
    role: "user",
    content: [{ type: "text", text }],
  };
}

function requestOf(messages: readonly Message[]): ModelRequest {
  return {
    system: "",
    tools: [],
    messages: [...messages],
    cacheMarks: [],
    maxOutputTokens: 100,
    scope: createScope(),
  };
}

async function collect(model: Model, request: ModelRequest, into: ModelEvent[] = []): Promise<ModelEvent[]> {
  for await (const event of model.stream(request)) into.push(event);
  return into;
}

function textIn(events: readonly ModelEvent[]): string {
  return events
    .flatMap((event) =>
      event.type === "block-delta" && event.delta.type === "text" ? [event.delta.text] : [],
    )
    .join("");
}

function jsonIn(events: readonly ModelEvent[]): string {
  return events
    .flatMap((event) =>
      event.type === "block-delta" && event.delta.type === "input-json" ? [event.delta.json] : [],
    )
    .join("");
}
