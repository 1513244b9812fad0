import { describe, expect, it } from "vitest";
import type { Block, Message } from "../contracts/message.ts";
import { noUsage, promptTokensOf, totalTokensOf, type Usage } from "../contracts/usage.ts";
import { estimateUsage } from "./estimate.ts";

const prefix = { system: "s".repeat(398), tools: [] };

function message(content: Block[], usage?: Partial<Usage>): Message {
  const base = { uuid: "u", parentUuid: null, timestamp: "", content };
  if (usage === undefined) return { ...base, role: "user" };
  const response = { id: "r", model: "m", stopReason: "end_turn" as const, usage: { ...noUsage, ...usage } };
  return { ...base, role: "assistant", response };
}

const text = (length: number): Block => ({ type: "text", text: "t".repeat(length) });

function estimate(messages: readonly Message[], sentCount?: number, maxOutputTokens = 16_000): Usage {
  return estimateUsage({ prefix, history: { messages, sentCount }, maxOutputTokens });
}

describe("what a request will take", () => {
  it("is guessed by its length as long as nothing was sent", () => {
    expect(estimate([message([text(400)])])).toEqual({
      ...noUsage,
      cacheWriteTokens: 200,
      outputTokens: 1_000,
    });
    expect(estimate([message([text(400)])], undefined, 100).outputTokens).toBe(100);
  });

  it("is known from the last answer, but for what came after it", () => {
    const messages = [
      message([text(400_000)]),
      message([text(40)], {
        inputTokens: 50,
        cacheReadTokens: 1_000,
        cacheWriteTokens: 200,
        outputTokens: 70,
      }),
      message([{ type: "tool_result", tool_use_id: "t", content: "r".repeat(800) }]),
    ];
    expect(estimate(messages, 1)).toEqual({
      inputTokens: 0,
      cacheReadTokens: 1_250,
      cacheWriteTokens: 70 + 200,
      outputTokens: 70,
    });
  });

  it("is not read from a cache that has never been seen", () => {
    const messages = [message([text(4)]), message([text(4)], { inputTokens: 500, outputTokens: 10 })];
    expect(estimate(messages, 1)).toMatchObject({ inputTokens: 500, cacheReadTokens: 0, outputTokens: 10 });
  });

  it("is guessed anew when the history or the prefix is another one", () => {
    const messages = [message([text(40)]), message([text(40)], { inputTokens: 90_000, outputTokens: 10 })];
    expect(promptTokensOf(estimate(messages))).toBe(100 + 10 + 10);
  });

  it("goes by the longest of the latest answers", () => {
    const answers = [5_000, 900, 30, 40].flatMap((outputTokens) => [
      message([text(4)]),
      message([text(4)], { inputTokens: 100, outputTokens }),
    ]);
    expect(estimate(answers, 7).outputTokens).toBe(900);
  });

  it("is guessed by its length when the server counts nothing", () => {
    const messages = [message([text(400)]), message([text(40)], {}), message([text(40)])];
    expect(estimate(messages, 1)).toMatchObject({ cacheWriteTokens: 100 + 100 + 20, outputTokens: 1_000 });
  });

  it("does not count pictures and pages by their bytes", () => {
    const data = "A".repeat(1_000_000);
    const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const document: Block = {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data },
    };
    const result: Block = { type: "tool_result", tool_use_id: "t", content: [image, document] };
    for (const block of [image, document, result])
      expect(totalTokensOf(estimate([message([block])]))).toBeLessThan(40_000);
  });

  it("counts what calls and thoughts hold", () => {
    const call: Block = { type: "tool_use", id: "t", name: "Edit", input: { text: "x".repeat(4_000) } };
    const thinking: Block = { type: "thinking", thinking: "y".repeat(4_000), signature: "" };
    const hidden: Block = { type: "redacted_thinking", data: "z".repeat(4_000) };
    for (const block of [call, thinking, hidden])
      expect(promptTokensOf(estimate([message([block])]))).toBeGreaterThanOrEqual(1_100);
  });
});
