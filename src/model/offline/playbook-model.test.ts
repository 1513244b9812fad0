import { describe, expect, it } from "vitest";
import { createScope } from "../../base/cancellation.ts";
import { CancelledError } from "../../base/errors.ts";
import type { ModelEvent } from "../../contracts/event.ts";
import type { Block, Message } from "../../contracts/message.ts";
import type { ModelRequest } from "../model.ts";
import type { Play, Playbook, Task } from "./playbook.ts";
import { createPlaybookModel } from "./playbook-model.ts";

const lost = () => ({ text: "LOST" });

function* readTwice(task: Task): Play {
  const [first] = yield { text: "looking", calls: [{ name: "Read", input: { file_path: "a", limit: 3 } }] };
  const [left, right] = yield {
    calls: [
      { name: "Read", input: { file_path: first?.text } },
      { name: "Read", input: { file_path: `x${"💰".repeat(40)}` } },
    ],
  };
  return `${task.prompt}: ${first?.text}, ${left?.text}, ${right?.text}${right?.isError ? "!" : ""}`;
}

// biome-ignore lint/correctness/useYield: it answers at once.
function* echo(task: Task): Play {
  return `echo ${task.prompt}`;
}

const playbooks: Playbook[] = [
  { name: "read", start: (task) => (task.prompt.startsWith("read") ? readTwice(task) : undefined) },
  { name: "echo", start: (task) => (task.prompt.startsWith("echo") ? echo(task) : undefined) },
];

const model = createPlaybookModel({ provider: "offline", id: "offline", playbooks, lost });

describe("a playbook model", () => {
  it("plays a task over several requests, remembering nothing between them", async () => {
    const talk = conversation("read on");
    const first = await talk.ask();
    expect(first).toMatchObject([
      { type: "text", text: "looking" },
      { type: "tool_use", name: "Read", input: { file_path: "a", limit: 3 } },
    ]);
    talk.answer(["b"]);
    const second = await talk.ask();
    expect(callInputs(second)).toEqual([{ file_path: "b" }, { file_path: `x${"💰".repeat(40)}` }]);
    talk.answer(["c", { text: "d", isError: true }]);
    expect(textOf(await talk.ask())).toBe("read on: b, c, d!");
  });

  it("streams blocks in the order of a provider, in pieces, with tokens counted", async () => {
    const events = await collect(requestOf([user("read on")]));
    expect(events[0]).toMatchObject({ type: "message-start", model: "offline", usage: { outputTokens: 0 } });
    expect(events.at(-1)).toMatchObject({
      type: "message-stop",
      stopReason: "tool_use",
      usage: { cacheReadTokens: 0 },
    });
    const open: number[] = [];
    for (const event of events) {
      if (event.type === "block-start") open.push(event.index);
      if (event.type === "block-delta") expect(open.at(-1)).toBe(event.index);
    }
    expect(open).toEqual([0, 1]);
    const stop = events.at(-1);
    expect(stop?.type === "message-stop" && stop.usage.inputTokens).toBeGreaterThan(0);
  });

  it("gives the same ids for the same position and different ones for every other", async () => {
    const talk = conversation("read on");
    const first = await talk.ask();
    expect(await collect(talk.request())).toEqual(await collect(talk.request()));
    talk.answer(["b"]);
    const second = await talk.ask();
    const ids = [...first, ...second].flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    expect(new Set(ids).size).toBe(3);
    const other = conversation("read on", "other");
    expect(callIds(await other.ask())).not.toEqual(callIds(first));
  });

  it("accepts inputs whose keys come back in another order", async () => {
    const talk = conversation("read on");
    await talk.ask();
    talk.replaceLastCalls([{ name: "Read", input: { limit: 3, file_path: "a" } }]);
    talk.answer(["b"]);
    expect(callInputs(await talk.ask())[0]).toEqual({ file_path: "b" });
  });

  it("answers honestly when other calls stand in the conversation than it made", async () => {
    const talk = conversation("read on");
    await talk.ask();
    talk.replaceLastCalls([{ name: "Write", input: {} }]);
    talk.answer(["b"]);
    expect(textOf(await talk.ask())).toBe("LOST");
  });

  it("answers honestly when a result is missing", async () => {
    const talk = conversation("read on");
    await talk.ask();
    talk.messages.push(user([{ type: "text", text: "<system-reminder>x</system-reminder>" }]));
    expect(textOf(await talk.ask())).toBe("LOST");
  });

  it("takes up a new prompt after a conversation that another model led", async () => {
    const talk = conversation("read on");
    await talk.ask();
    talk.replaceLastCalls([{ name: "Write", input: {} }]);
    talk.answer(["b"]);
    talk.messages.push(assistant([{ type: "text", text: "done" }]), user("echo two"));
    expect(textOf(await talk.ask())).toBe("echo echo two");
  });

  it("treats each prompt as a task of its own", async () => {
    const talk = conversation("echo one");
    await talk.ask();
    talk.messages.push(user("read two"));
    await talk.ask();
    talk.answer(["b"]);
    await talk.ask();
    talk.answer(["c", "d"]);
    expect(textOf(await talk.ask())).toBe("read two: b, c, d");
  });

  it("does not play tasks of the past again", async () => {
    const started: string[] = [];
    const watched: Playbook = {
      name: "watched",
      start(task) {
        started.push(task.prompt);
        return said("ok");
      },
    };
    const watching = createPlaybookModel({ provider: "offline", id: "offline", playbooks: [watched], lost });
    const past = [user("one"), assistant([{ type: "text", text: "ok" }]), user("two")];
    await blocksOf(requestOf(past), watching);
    expect(started).toEqual(["two"]);
  });

  it("finishes the task under way before a prompt that arrived with tool results", async () => {
    const talk = conversation("read one");
    await talk.ask();
    talk.answer(["b"], ["read two"]);
    expect(callInputs(await talk.ask())).toHaveLength(2);
    talk.answer(["c", "d"]);
    const both = await talk.ask();
    expect(textOf(both)).toBe("read one: b, c, d\n\nlooking");
    expect(callInputs(both)).toEqual([{ file_path: "a", limit: 3 }]);
    talk.answer(["B"]);
    await talk.ask();
    talk.answer(["C", "D"]);
    expect(textOf(await talk.ask())).toBe("read two: B, C, D");
  });

  it("answers two tasks in one message when the second needs no tool", async () => {
    const talk = conversation("read one");
    await talk.ask();
    talk.answer(["b"], ["echo two"]);
    await talk.ask();
    talk.answer(["c", "d"]);
    expect(textOf(await talk.ask())).toBe("read one: b, c, d\n\necho echo two");
  });

  it("takes up each of two requests that came in one message, and material with its request", async () => {
    const two = user([
      { type: "text", text: "echo one" },
      { type: "text", text: "echo two" },
    ]);
    expect(textOf(await blocksOf(requestOf([two])))).toBe("echo echo one\n\necho echo two");
    const withMaterial = user([
      { type: "text", text: "echo this" },
      { type: "text", text: "line\nline" },
    ]);
    expect(textOf(await blocksOf(requestOf([withMaterial])))).toBe("echo echo this\n\nline\nline");
  });

  it("is not led astray by what the runtime puts in tags", async () => {
    const talk = conversation("<system-reminder>be kind</system-reminder>\nread one");
    await talk.ask();
    talk.answer(["b"], ["<task-notification>\n<id>1</id>\n</task-notification>"]);
    await talk.ask();
    talk.answer(["c", "d"]);
    expect(textOf(await talk.ask())).toBe("read one: b, c, d");
  });

  it("hears a task of the main agent in a message, and none in a message of another", async () => {
    const message = (from: string) => `<agent-message ${from}>\necho a &amp; b\n</agent-message>`;
    const saidTo = async (text: string) => textOf(await blocksOf(requestOf([user(text)])));
    expect(await saidTo(message('from="main"'))).toBe("echo echo a & b");
    expect(await saidTo(message('from="scout" id="a1"'))).toBe("LOST");
    expect(await saidTo(message('from="main" id="a1"'))).toBe("LOST");
    expect(await saidTo('<task-receipt task-id="a1">\nx\n</task-receipt>\necho one')).toBe("echo echo one");
  });

  it("answers the main agent in its last message, which is all that one sees", async () => {
    const talk = conversation("read one");
    await talk.ask();
    talk.answer(["b"], ['<agent-message from="main">\nread two\n</agent-message>']);
    await talk.ask();
    talk.answer(["c", "d"]);
    expect(textOf(await talk.ask())).toBe("looking");
    talk.answer(["B"]);
    await talk.ask();
    talk.answer(["C", "D"]);
    expect(textOf(await talk.ask())).toBe("read one: b, c, d\n\nread two: B, C, D");
    talk.messages.push(user("echo three"));
    expect(textOf(await talk.ask())).toBe("echo echo three");
  });

  it("tells what came while it worked after the answer, once", async () => {
    const telling = createPlaybookModel({
      provider: "offline",
      id: "offline",
      playbooks,
      lost,
      told(texts) {
        const news = texts.filter((text) => text.startsWith("<task-notification>"));
        return news.length === 0 ? undefined : { text: `TOLD ${news.length}` };
      },
    });
    const note = "<task-notification>x</task-notification>";
    const talk = conversation("read one", "talk", telling);
    await talk.ask();
    talk.answer(["b"], [note]);
    expect(textOf(await talk.ask())).toBe("");
    talk.answer(["c", "d"], [note]);
    expect(textOf(await talk.ask())).toBe("read one: b, c, d\n\nTOLD 2");
    talk.messages.push(user(note));
    expect(textOf(await talk.ask())).toBe("TOLD 1");
  });

  it("tells a play what the conversation had started before, however often it is asked", async () => {
    const heard: unknown[] = [];
    const knowing: Playbook = {
      name: "knowing",
      *start(task) {
        heard.push(task.known?.().map(({ id, end }) => [id, end]));
        const [first] = yield { calls: [{ name: "Bash", input: { command: task.prompt } }] };
        return first?.text ?? "";
      },
    };
    const known = createPlaybookModel({ provider: "offline", id: "offline", playbooks: [knowing], lost });
    const talk = conversation("one", "talk", known);
    await talk.ask();
    talk.answer(["The command runs in the background.\ntask_id: b1\noutput_file: /t/b1.txt\nGo on."]);
    await talk.ask();
    talk.messages.push(user("two"));
    await talk.ask();
    talk.answer(
      ["done"],
      ["<task-notification><task-id>b1</task-id><status>failed</status></task-notification>"],
    );
    await talk.ask();
    expect(heard).toEqual([[], [], [["b1", undefined]], [["b1", undefined]]]);
  });

  it("drops a task that the user interrupted for the words that came instead", async () => {
    const talk = conversation("read one");
    await talk.ask();
    talk.answer(
      [{ text: "Not run: the user interrupted before this call started.", isError: true }],
      ["echo two"],
    );
    expect(textOf(await talk.ask())).toBe("echo echo two");
  });

  it("says so when nobody asked for anything", async () => {
    expect(textOf(await blocksOf(requestOf([])))).toBe("LOST");
    expect(textOf(await blocksOf(requestOf([user("<task-notification>x</task-notification>")])))).toBe(
      "LOST",
    );
    expect(textOf(await blocksOf(requestOf([user("dance")])))).toBe("LOST");
  });

  it("tells what the runtime said when nothing was under way, and is lost when results came with it", async () => {
    const telling = createPlaybookModel({
      provider: "offline",
      id: "offline",
      playbooks,
      lost,
      told: (texts) => (texts.some((text) => text.includes("ended")) ? { text: "TOLD" } : undefined),
    });
    const note = (text: string) => `<task-notification>${text}</task-notification>`;
    const done = [user("echo one"), assistant([{ type: "text", text: "echo one" }])];
    const said = async (content: string | Block[]) =>
      textOf(await blocksOf(requestOf([...done, user(content)]), telling));
    expect(await said(note("ended"))).toBe("TOLD");
    expect(await said(note("other"))).toBe("LOST");
    expect(await said(`${note("ended")}\necho two`)).toBe("echo echo two\n\nTOLD");
    const result: Block = { type: "tool_result", tool_use_id: "x", content: "y" };
    expect(await said([result, { type: "text", text: note("ended") }])).toBe("LOST");
  });

  it("tells a play which tools there are", async () => {
    const asking: Playbook = {
      name: "ask",
      start: (task) => said(`${task.offers("Read")} ${task.offers("Bash")}`),
    };
    const asked = createPlaybookModel({ provider: "offline", id: "offline", playbooks: [asking], lost });
    const tools = [{ name: "Read", description: "", inputSchema: {} }];
    expect(textOf(await blocksOf({ ...requestOf([user("x")]), tools }, asked))).toBe("true false");
  });

  it("turns a bug in a play into an error of the model that says so", async () => {
    const broken: Playbook = {
      name: "broken",
      start() {
        throw new TypeError("oops");
      },
    };
    const failing = createPlaybookModel({ provider: "offline", id: "offline", playbooks: [broken], lost });
    await expect(blocksOf(requestOf([user("x")]), failing)).rejects.toMatchObject({
      name: "ModelError",
      kind: "rejected",
      message: expect.stringContaining("oops"),
    });
  });

  it("stops in the middle of a message when it is cancelled", async () => {
    const scope = createScope();
    const seen: ModelEvent[] = [];
    const reading = async () => {
      for await (const event of model.stream({
        ...requestOf([user("read on")]),
        scope: createScope(scope.signal),
      })) {
        seen.push(event);
        if (seen.length === 2) scope.cancel("enough");
      }
    };
    await expect(reading()).rejects.toBeInstanceOf(CancelledError);
    expect(seen).toHaveLength(2);
  });
});

// biome-ignore lint/correctness/useYield: it answers at once.
function* said(text: string): Play {
  return text;
}

interface Conversation {
  readonly messages: Message[];
  request(): ModelRequest;
  /** Asks, and appends what was answered. */
  ask(): Promise<Block[]>;
  answer(results: (string | { text: string; isError: boolean })[], texts?: string[]): void;
  replaceLastCalls(calls: { name: string; input: Record<string, unknown> }[]): void;
}

function conversation(prompt: string, name = "talk", from = model): Conversation {
  const messages: Message[] = [user(prompt, `${name}-0`)];
  const request = () => requestOf(messages);
  return {
    messages,
    request,
    async ask() {
      const blocks = await blocksOf(request(), from);
      messages.push(assistant(blocks, `${name}-${messages.length}`));
      return blocks;
    },
    answer(results, texts = []) {
      const ids = callIds(messages.at(-1)?.content ?? []);
      const blocks = results.map((result, index): Block => {
        const { text, isError } = typeof result === "string" ? { text: result, isError: false } : result;
        return {
          type: "tool_result",
          tool_use_id: ids[index] ?? "",
          content: text,
          ...(isError ? { is_error: true } : {}),
        };
      });
      const said = texts.map((text): Block => ({ type: "text", text }));
      messages.push(user([...blocks, ...said], `${name}-${messages.length}`));
    },
    replaceLastCalls(calls) {
      const last = messages.pop();
      const blocks = calls.map((call, index): Block => ({ type: "tool_use", id: `other-${index}`, ...call }));
      messages.push(assistant(blocks, last?.uuid));
    },
  };
}

function user(content: string | Block[], uuid = "u"): Message {
  const blocks: Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return { uuid, parentUuid: null, timestamp: "2024-01-01T00:00:00.000Z", role: "user", content: blocks };
}

function assistant(content: Block[], uuid = "a"): Message {
  return { uuid, parentUuid: null, timestamp: "2024-01-01T00:00:00.000Z", role: "assistant", content };
}

function requestOf(messages: readonly Message[]): ModelRequest {
  return {
    system: "system",
    tools: [],
    messages: [...messages],
    cacheMarks: [],
    maxOutputTokens: 1_000,
    scope: createScope(),
  };
}

async function collect(request: ModelRequest, from = model): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of from.stream(request)) events.push(event);
  return events;
}

async function blocksOf(request: ModelRequest, from = model): Promise<Block[]> {
  const blocks: Block[] = [];
  let json = "";
  for (const event of await collect(request, from)) {
    if (event.type === "block-start") {
      json = "";
      blocks.push(event.block.type === "tool_use" ? { ...event.block, input: {} } : event.block);
    }
    const block = blocks.at(-1);
    if (event.type === "block-delta" && event.delta.type === "text" && block?.type === "text") {
      expect(event.delta.text).not.toMatch(/[\uD800-\uDBFF]$/);
      block.text += event.delta.text;
    }
    if (event.type === "block-delta" && event.delta.type === "input-json") {
      expect(event.delta.json).not.toMatch(/[\uD800-\uDBFF]$/);
      json += event.delta.json;
    }
    if (event.type === "block-stop" && block?.type === "tool_use") block.input = JSON.parse(json);
  }
  return blocks;
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

function callIds(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

function callInputs(blocks: readonly Block[]): unknown[] {
  return blocks.flatMap((block) => (block.type === "tool_use" ? [block.input] : []));
}
