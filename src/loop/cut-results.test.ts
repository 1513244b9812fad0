import { expect, it } from "vitest";
import type { Block } from "../contracts/message.ts";
import { messageOf } from "../testing/ask-model.ts";
import { cutResults, tokensOfResults } from "./cut-results.ts";

const result = (tokens: number): Block => ({
  type: "tool_result",
  tool_use_id: `call-${tokens}`,
  content: "x".repeat(4 * tokens),
});
const words: Block = { type: "text", text: "y".repeat(40_000) };
const limits = { maxTokens: 5_000, transcriptPath: "/a.jsonl" };

it("leaves short results whole and lets the long ones share what is left", () => {
  const message = messageOf("user", [result(500), result(90_000), result(40_000), words]);
  const cut = cutResults(message, limits);
  expect(cut?.content[0]).toBe(message.content[0]);
  expect(cut?.content[3]).toBe(words);
  expect(cut && tokensOfResults(cut)).toBeGreaterThan(4_500);
  expect(cut && tokensOfResults(cut)).toBeLessThan(5_100);
  expect(JSON.stringify(cut?.content[1])).toMatch(/characters left out.*Cut for its size.*\/a\.jsonl/s);
});

it("does nothing where they take no more", () => {
  expect(cutResults(messageOf("user", [result(2_000), result(3_000), words]), limits)).toBeUndefined();
  expect(cutResults(messageOf("user", [words]), limits)).toBeUndefined();
});

it("leaves out pictures of a result that is cut", () => {
  const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };
  const content = Array.from({ length: 9 }, () => image);
  const message = messageOf("user", [{ type: "tool_result", tool_use_id: "a", content } as Block]);
  expect(JSON.stringify(cutResults(message, limits))).toContain("(image left out)");
});
