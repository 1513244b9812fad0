/** The command against providers that answer nonsense, and models that say strange things. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MockAnswer } from "../../src/testing/mock-provider.ts";
import { secretKey } from "./built-command.ts";
import { expectPaired } from "./invariants.ts";
import { allowed, bash, call, script, setStage, text } from "./stage.ts";

const stage = setStage();
const { connect, cadre, loaded } = stage;

const sse = (...events: { type: string }[]): MockAnswer => ({
  raw: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
});
const begin = {
  type: "message_start",
  message: {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const block = (index: number, content_block: { type: string }) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, change: { type: string }) => ({
  type: "content_block_delta",
  index,
  delta: change,
});
const stop = (index: number) => ({ type: "content_block_stop", index });
const finish = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const words = [
  block(1, { type: "text" }),
  delta(1, { type: "text_delta", text: "well" } as { type: string }),
  stop(1),
];

describe("a provider that answers", () => {
  it.each<[string, MockAnswer]>([
    ["nothing", { raw: "" }],
    ["half an event", { raw: 'event: message_start\ndata: {"type":"mess' }],
    ["a text", { raw: "hello", headers: { "content-type": "text/plain" } }],
    ["a delta of no block", sse(begin, delta(0, { type: "text_delta" }))],
    ["a block before the message", sse(block(0, { type: "text" }))],
    ["an end before the beginning", sse({ type: "message_stop" })],
    ["a hang-up", { fault: "hang-up" }],
  ])("%s is asked again", async (_, answer) => {
    const env = await connect(script(answer));
    expect(await cadre(["-p", "go"], { env })).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    expect(stage.provider?.requests).toHaveLength(2);
  });

  it.each<[string, MockAnswer, string]>([
    ["an event of a kind to come", sse(begin, { type: "news" }, ...words, ...finish), "well"],
    [
      "a block of a kind to come",
      sse(begin, block(0, { type: "hologram" }), stop(0), ...words, ...finish),
      "well",
    ],
    ["a lone surrogate and a NUL", text("a\ud800b\u0000c"), "a\ufffdb\u0000c"],
  ])("%s is understood as far as possible", async (_, answer, expected) => {
    const env = await connect(answer);
    expect(await cadre(["-p", "go"], { env })).toMatchObject({
      code: 0,
      stdout: `${expected}\n`,
      stderr: "",
    });
  });

  it("a page: its address is named, and what it began with", async () => {
    const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>Log in</html>" };
    const env = await connect(page);
    const { code, stderr } = await cadre(["-p", "go"], { env });
    expect(code).toBeGreaterThan(0);
    expect(stderr).toMatch(/^cadre: .*ANTHROPIC_BASE_URL.*<html>Log in.*\n$/);
  });

  it("the key that it was given: it is not passed on", async () => {
    const error = { type: "invalid_request_error", message: `no such key: ${secretKey}` };
    const env = await connect({ status: 400, body: { type: "error", error } });
    const { code, stderr } = await cadre(["-p", "go", "--debug"], { env });
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain("no such key");
  });

  const strange: [string, MockAnswer][] = [
    [
      "the same id again and again",
      [
        { type: "tool_use", id: "same", name: "Glob", input: { pattern: "*" } },
        { type: "tool_use", id: "same", name: "Glob", input: { pattern: "*" } },
      ],
    ],
    [
      "a megabyte of thinking",
      [
        { type: "thinking", thinking: "hm ".repeat(350_000), signature: "s" },
        { type: "tool_use", name: "Glob", input: { pattern: "*" } },
      ],
    ],
    ["an input of 2 MB", call("Write", { file_path: "a", content: "x".repeat(2_000_000) })],
    ["a command of 2 MB", bash(`echo ${"x".repeat(2_000_000)}`)],
    [
      "NULs",
      [...["a\0b", "\0"].map((command) => ({ type: "tool_use" as const, name: "Bash", input: { command } }))],
    ],
    ["a path with a NUL and half a character", call("Write", { file_path: "a\0\ud800", content: "\ud800" })],
    [
      "an input that is nested without end",
      [{ type: "tool_use", name: "Write", json: `{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}` }],
    ],
    [
      "names that every object has",
      ["__proto__", "constructor", "toString", ""].map((name) => ({
        type: "tool_use" as const,
        name,
        json: "{}",
      })),
    ],
    [
      "__proto__ in an input",
      [
        {
          type: "tool_use",
          name: "Write",
          json: '{"__proto__":{"file_path":"evil","content":"evil"},"file_path":"good","content":"good"}',
        },
      ],
    ],
  ];
  it.each(strange)("%s: the run goes on, and every call has its result", async (_, answer) => {
    const env = await connect(script(answer, answer));
    // Some fill the window: what is done about that is told elsewhere.
    const asItComes = ["--settings", '{"compaction":{"auto":false}}'];
    const ended = await cadre([...asItComes, ...allowed], { env });
    expect(ended).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    expect(stage.provider?.requests).toHaveLength(3);
    const { messages, problems } = await loaded();
    expect(problems).toEqual([]);
    expectPaired(messages, { whole: true });
    expect(existsSync(join(stage.place.project, "evil"))).toBe(false);
  });
});
