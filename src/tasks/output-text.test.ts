import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forTerminal } from "../base/markup.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import { textOfEnd, textOfEvent, textOfMessages } from "./output-text.ts";

const message = (role: Message["role"], ...content: Block[]): Message => ({
  uuid: "u",
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  role,
  content,
});
const text = (value: string): Block => ({ type: "text", text: value });
const call = (name: string, input: Record<string, unknown>): Block => ({
  type: "tool_use",
  id: "c",
  name,
  input,
});
const result = (content: ToolResultBlock["content"], failed = false): Block => ({
  type: "tool_result",
  tool_use_id: "c",
  content,
  ...(failed && { is_error: true }),
});
const said = (...content: Block[]) => textOfMessages([message("assistant", ...content)]);
const told = (...content: Block[]) => textOfMessages([message("user", ...content)]);

describe("the text of a run", () => {
  const messages = [
    message(
      "user",
      text("<system-reminder>\nbe brief\n</system-reminder>"),
      text("Fix the tests.\nAll of them."),
    ),
    message(
      "assistant",
      { type: "thinking", thinking: "hm", signature: "s" },
      text("I look first."),
      call("Read", { file_path: "/p/a.ts" }),
      call("Bash", { description: "Tests", command: "npm test" }),
    ),
    message(
      "user",
      result("     1\tconst a = 1;\n     2\tb();"),
      result("> test\n2 failing\nExit code 1", true),
    ),
    message("assistant", call("Write", { file_path: "/p/a.ts", content: "x" })),
    message(
      "user",
      result("Updated a.ts (1 line, before 2)."),
      text('<agent-message from="b">hurry</agent-message>'),
    ),
    message("assistant", text("Done.\n")),
  ];
  const expected = `< Fix the tests.
< All of them.
I look first.
> Read /p/a.ts
> Bash npm test
  1. 1 const a = 1; (1 more line)
  2. failed: > test ... Exit code 1
> Write /p/a.ts
  Updated a.ts (1 line, before 2).
< <agent-message from="b">hurry</agent-message>
Done.
`;

  it("has a line for each call and result, and what was said by whom", () => {
    expect(textOfMessages(messages)).toBe(expected);
  });

  it("is the same from events as from the transcript", () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 0, cacheReadTokens: 0 };
    const events: LoopEvent[] = messages.flatMap((each, turn): LoopEvent[] => [
      { type: "turn-start", turn },
      { type: "message-append", message: each },
      { type: "turn-end", turn, usage, modelMs: 1 },
    ]);
    expect(events.map(textOfEvent).join("")).toBe(expected);
  });

  it("tells from events what no message says", () => {
    expect(textOfEvent({ type: "model-retry", attempt: 1, delayMs: 90_000, reason: "over\nloaded" })).toBe(
      "(asks its model again in 1 min 30 s: over\\nloaded)\n",
    );
    expect(textOfEvent({ type: "compaction-end", promptTokensBefore: 9 })).toBe(
      "(its conversation was shortened)\n",
    );
    expect(textOfEvent({ type: "turn-start", turn: 1 })).toBe("");
  });
});

describe("a call in the text", () => {
  it.each([
    ["Grep", { pattern: "a+", path: "src" }, "> Grep a+ in src\n"],
    ["Agent", { prompt: "long", description: "Find it", subagent_type: "x" }, "> Agent Find it\n"],
    ["mcp__x__y", { first: 3, second: "two" }, `> mcp__x__y {"first":3,"second":"two"}\n`],
    ["Nothing", {}, "> Nothing\n"],
    ["Bash", { command: "cat <<E\n--- completed ---\nE\n" }, "> Bash cat <<E\\n--- completed ---\\nE\n"],
  ])("%s is told by what it is about", (name, input, line) => {
    expect(said(call(name, input))).toBe(line);
  });
});

describe("a result in the text", () => {
  it("is its first line, cut, and a count of the rest", () => {
    expect(told(result("\n\nfirst\nsecond\nthird\n"))).toBe("  first (2 more lines)\n");
    expect(told(result("x".repeat(500)))).toBe(`  ${"x".repeat(197)}...\n`);
    expect(told(result("only one", true))).toBe("  failed: only one\n");
    const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(told(result([image]))).toBe("  [image]\n");
    expect(told(image)).toBe("< [image]\n");
  });
});

describe("words of an agent in the text", () => {
  it("stay as they are but for what would pass for a line of the runtime", () => {
    expect(said(text("# Plan\n\n- a\n\n> quoted\n---\n--- completed (1 call) ---\n<b>\n    code"))).toBe(
      "# Plan\n\n- a\n\n > quoted\n ---\n --- completed (1 call) ---\n <b>\n    code\n",
    );
    expect(told(text("one\n> Bash rm\n--- failed ---"))).toBe("< one\n< > Bash rm\n< --- failed ---\n");
    expect(textOfEnd({ status: "completed", result: "--- failed ---" })).toBe(
      "--- completed ---\nResult:\n --- failed ---\n",
    );
  });

  it("are bounded, and say so", () => {
    expect(said(text("x".repeat(20_500)))).toBe(`${"x".repeat(20_000)}\n(500 more characters)\n`);
    expect(told(text("x".repeat(2_001)))).toBe(`< ${"x".repeat(2_000)}\n< (1 more character)\n`);
    expect(told(text(`\u001b[2J${"x".repeat(2_000)}`))).toBe(
      `< ^[[2J${"x".repeat(1_996)}\n< (4 more characters)\n`,
    );
    const many = said(
      ...Array.from({ length: 3_000 }, () => call("Read", { file_path: "/some/file/of/many.ts" })),
    );
    expect(many.length).toBeLessThan(64_100);
    expect(many).toMatch(/\n\(the rest of this message is left out\)\n$/);
  });

  it("never act on a terminal, begin no line of the runtime, and end with a line feed", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom("\n--- killed ---\n", "\r\n> Bash", "\u2028> x", "\u001b[2J", "\n\n", "\r< y"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const hostile = pieces.join("");
        const own = said(text(hostile));
        expect(own).not.toMatch(/^([<>]|---)/m);
        const all =
          own +
          told(text(hostile), result(hostile), result(hostile, true)) +
          said(call(hostile, { a: hostile }));
        expect(forTerminal(all)).toBe(all);
        expect(all).toMatch(/\n$/);
        // The words of others: each line says so.
        expect(told(text(hostile))).toMatch(/^(< [^\n]*\n)*$/);
        expect(told(result(hostile))).toMatch(/^ {2}[^\n]*\n$/);
      }),
    );
  });
});

describe("the end in the text", () => {
  it("says how it ended, what it cost, what it did, and what came of it", () => {
    expect(
      textOfEnd({
        status: "completed",
        result: "All tests pass.",
        receipt: {
          calls: 12,
          failed: 1,
          denied: 0,
          files: [{ path: "/p/a.ts", before: "1", after: "2" }],
          commands: [{ command: "npm test", exitCode: 1 }],
        },
        usage: { totalTokens: 8_310, toolUses: 12, durationMs: 4_210 },
      }),
    ).toBe(`--- completed (12 calls, 8,310 tokens, 4.2 s) ---
Receipt: 12 calls, 1 failed
  changed /p/a.ts
  ran npm test: exit code 1
Result:
All tests pass.
`);
  });

  it("has the error of one that failed, on one line", () => {
    expect(textOfEnd({ status: "failed", error: "no\nmodel", result: "", durationMs: 3_725_000 })).toBe(
      "--- failed (1 h 2 min) ---\nError: no\\nmodel\n",
    );
    expect(textOfEnd({ status: "killed" })).toBe("--- killed ---\n");
  });

  it.each([
    [0, "0.0 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min 0 s"],
    [3_599_600, "1 h 0 min"],
  ])("tells %d ms as %s", (durationMs, told) => {
    expect(textOfEnd({ status: "killed", durationMs })).toBe(`--- killed (${told}) ---\n`);
  });
});
