import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}
type Fetch = (url: string, init: { body: string }) => Promise<Response>;

const folder = fileURLToPath(new URL("../bench/mock-model/", import.meta.url));
const { createModel } = (await import(`${folder}model.mjs`)) as {
  createModel(options?: { clock?: () => number }): { log(): { kept?: boolean }[] };
};
const { createFetch } = (await import(`${folder}server.mjs`)) as { createFetch(model: object): Fetch };

const big = "x".repeat(8000);
const mark = { cache_control: { type: "ephemeral" } };
const user = (text: string, extra?: object) => ({
  role: "user",
  content: [{ type: "text", text, ...extra }],
});
const system = (text: string) => [{ type: "text", text, ...mark }];

function createConversation(clock?: () => number) {
  const model = createModel({ ...(clock && { clock }) });
  const fetch = createFetch(model);
  const ask = async (body: object) => {
    const response = await fetch("http://mock/v1/messages", {
      body: JSON.stringify({ model: "mock", ...body }),
    });
    return (await response.json()) as {
      usage: Usage;
      content: { type: string; input: Record<string, string> }[];
    };
  };
  return { ask, usage: async (body: object) => (await ask(body)).usage, log: model.log };
}

// The bench measures the prompt cache with these rules, so they have to be right.
describe("the mock model's prompt cache", () => {
  it("writes at a mark, reads it back, and counts the rest as fresh", async () => {
    const { usage } = createConversation();
    const first = await usage({ system: system(big), messages: [user("one")] });
    expect(first.cache_creation_input_tokens).toBeGreaterThan(2000);
    expect(first.cache_read_input_tokens).toBe(0);
    expect(first.input_tokens).toBeGreaterThan(0);
    const second = await usage({ system: system(big), messages: [user("two")] });
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBe(0);
  });

  it("reads the earlier prefix of a conversation that grows", async () => {
    const { usage } = createConversation();
    const first = await usage({ system: big, messages: [user("one", mark)] });
    const messages = [user("one"), { role: "assistant", content: "ok" }, user("two", mark)];
    const second = await usage({ system: big, messages });
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBeGreaterThan(0);
  });

  it("misses after a changed byte", async () => {
    const { usage } = createConversation();
    await usage({ system: system(big), messages: [user("one")] });
    const second = await usage({ system: system(`${big}!`), messages: [user("one")] });
    expect(second.cache_read_input_tokens).toBe(0);
  });

  it("holds nothing under 1,024 tokens", async () => {
    const { usage } = createConversation();
    const only = await usage({ system: system("short"), messages: [user("one")] });
    expect(only.cache_creation_input_tokens).toBe(0);
  });

  it.each([
    [19, true],
    [20, false],
  ])("looks back 20 positions: %i blocks on, it hits: %s", async (count, hits) => {
    const { usage } = createConversation();
    await usage({ system: big, messages: [user("one", mark)] });
    const more = Array.from({ length: count }, (_, i) => user(`m${i}`, i === count - 1 ? mark : undefined));
    const second = await usage({ system: big, messages: [user("one"), ...more] });
    expect(second.cache_read_input_tokens > 0).toBe(hits);
  });

  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };

  it("keeps an entry for as long as it was written for, and longer when it is used", async () => {
    let nowMs = 0;
    const { usage } = createConversation(() => nowMs);
    const read = async (messages: object[], extra: object) =>
      (await usage({ system: big, messages: [...messages, user("end", extra)] })).cache_read_input_tokens;
    await read([], mark);
    nowMs += 299_000;
    expect(await read([], mark)).toBeGreaterThan(0);
    nowMs += 299_000;
    expect(await read([], mark)).toBeGreaterThan(0);
    nowMs += 300_000;
    expect(await read([], mark)).toBe(0);
    await read([user("for long")], hour);
    nowMs += 3_599_000;
    // A mark for five minutes does not shorten it.
    expect(await read([user("for long")], mark)).toBeGreaterThan(0);
    nowMs += 3_599_000;
    expect(await read([user("for long")], mark)).toBeGreaterThan(0);
    nowMs += 3_600_000;
    expect(await read([user("for long")], mark)).toBe(0);
  });

  it("counts what is written for an hour apart, and wants it before the rest", async () => {
    const { usage } = createConversation();
    const long = [{ type: "text", text: big, ...hour }];
    const { cache_creation, cache_creation_input_tokens } = await usage({
      system: long,
      messages: [user("one", mark)],
    });
    expect(cache_creation.ephemeral_1h_input_tokens).toBeGreaterThan(2000);
    expect(cache_creation.ephemeral_5m_input_tokens).toBeGreaterThan(0);
    expect(cache_creation_input_tokens).toBe(
      cache_creation.ephemeral_1h_input_tokens + cache_creation.ephemeral_5m_input_tokens,
    );
    await expect(usage({ system: system(big), messages: [user("one", hour)] })).rejects.toThrow(
      "must not come after",
    );
  });

  it("refuses a fifth mark", async () => {
    const { usage } = createConversation();
    const messages = Array.from({ length: 5 }, (_, i) => user(`${i}`, mark));
    await expect(usage({ messages })).rejects.toThrow("maximum of 4");
  });
});

describe("the mock model", () => {
  const tools = [
    {
      name: "Read",
      input_schema: {
        type: "object",
        properties: { file_path: { type: "string" } },
        required: ["file_path"],
      },
    },
    {
      name: "Agent",
      input_schema: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    },
  ];

  it("calls a tool by its schema, and answers when the script is done", async () => {
    const { ask } = createConversation();
    const start = user("[[script:loop n=1]]");
    const { content } = await ask({ tools, messages: [start] });
    expect(content).toMatchObject([{ type: "tool_use", name: "Read" }]);
    expect(content[0]?.input.file_path).toMatch(/small-0\.txt$/);
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] };
    const end = await ask({ tools, messages: [start, { role: "assistant", content }, result] });
    expect(end.content).toEqual([{ type: "text", text: "Done." }]);
  });

  it("asks for many sub-agents in one message", async () => {
    const { ask } = createConversation();
    const { content } = await ask({ tools, messages: [user("[[script:fanout n=3 k=2]]")] });
    expect(content.map(({ input }) => input.prompt)).toEqual([
      "Sub-task 0. [[script:loop n=2 id=a0]]",
      "Sub-task 1. [[script:loop n=2 id=a1]]",
      "Sub-task 2. [[script:loop n=2 id=a2]]",
    ]);
  });

  it("notices a history that was changed", async () => {
    const { ask, log } = createConversation();
    await ask({ tools, messages: [user("[[script:loop n=9]]")] });
    await ask({ tools, messages: [user("[[script:loop n=9]]"), user("more")] });
    await ask({ tools, messages: [user("[[script:loop n=9]] "), user("more"), user("and more")] });
    expect(log().map((entry) => entry.kept)).toEqual([undefined, true, false]);
  });
});
