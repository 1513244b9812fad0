import { describe, expect, it } from "vitest";
import type { Block, Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { tokensOfMessages } from "../loop/estimate.ts";
import { messageOf } from "../testing/ask-model.ts";
import { cutMessage, keptCount, shorterParts, waitingMessage } from "./compaction-parts.ts";

let nextCall = 0;
const text = (tokens: number): Block => ({ type: "text", text: "x".repeat(tokens * 4) });
const user = (tokens: number) => messageOf("user", [text(tokens)]);
const said = (tokens: number) => messageOf("assistant", [text(tokens)]);
/** A call and its result. */
function round(tokens: number, ...more: Block[]): Message[] {
  const id = `call-${nextCall++}`;
  return [
    messageOf("assistant", [{ type: "tool_use", id, name: "Read", input: {} }]),
    messageOf("user", [{ type: "tool_result", tool_use_id: id, content: "x".repeat(tokens * 4) }, ...more]),
  ];
}
const kept = (messages: readonly Message[], window: number) =>
  messages.slice(messages.length - keptCount(messages, window));

describe("what is kept", () => {
  it("is the end of the conversation, a tenth of the window and a quarter of the conversation at most", () => {
    const messages = Array.from({ length: 20 }, () => round(1_000)).flat();
    expect(tokensOfMessages(kept(messages, 200_000))).toBeLessThanOrEqual(tokensOfMessages(messages) / 4);
    expect(kept(messages, 200_000)).toHaveLength(8);
    expect(kept(messages, 25_000)).toHaveLength(4);
    expectPaired(kept(messages, 25_000));
  });

  it("never parts a call from its result", () => {
    for (let tokens = 100; tokens < 3_000; tokens += 97) {
      const messages = [user(5_000), ...round(tokens), ...round(50), said(10), user(70), ...round(tokens)];
      for (let window = 1_000; window < 60_000; window += 1_111) expectPaired(kept(messages, window));
    }
  });

  it("is nothing of a message that is too long, nor of a conversation of one message", () => {
    expect(keptCount([user(9_000), said(100), user(5_000)], 10_000)).toBe(0);
    expect(keptCount([user(3_000)], 10_000)).toBe(0);
  });
});

describe("what waits for an answer", () => {
  it("is the last message, however long it is", () => {
    const last = user(50_000);
    expect(waitingMessage([user(10), said(10), last])).toBe(last);
    expect(waitingMessage([user(10), said(10)])).toBeUndefined();
    expect(waitingMessage([{ ...user(10), synthetic: true }])).toBeUndefined();
  });

  it("is what else was said beside results", () => {
    const news: Block = { type: "text", text: "somebody writes" };
    const messages = [user(10), ...round(9_000, news)];
    expect(waitingMessage(messages)).toEqual({ ...messages.at(-1), content: [news] });
    expect(waitingMessage([user(10), ...round(10)])).toBeUndefined();
  });

  it("has its beginning and its end where it is cut, and tells where the whole is", () => {
    const message = messageOf("user", [{ type: "text", text: `FIRST ${"x".repeat(9_000)} LAST` }]);
    const cut = cutMessage(message, { maxChars: 100, transcriptPath: "/a.jsonl" });
    const [note, words] = cut.content.map((block) => (block.type === "text" ? block.text : ""));
    expect(note).toMatch(/waits for your answer.*\/a\.jsonl/s);
    expect(note).toContain(message.uuid);
    expect(words).toMatch(/^FIRST x+\n\(\d+ characters left out\)\nx+ LAST$/);
    expect(cut.uuid).toBe(message.uuid);
  });
});

describe("less of a conversation", () => {
  const opening = user(10);

  it("begins with a whole turn, where turns are short, and is ever less", () => {
    const messages = Array.from({ length: 60 }, () => [user(50), ...round(1_000), said(20)]).flat();
    const parts = [...shorterParts(messages, opening)];
    expect(parts.length).toBeGreaterThan(2);
    for (const [index, part] of parts.entries()) {
      expect(part[0]).toBe(opening);
      expect(part[1]?.role).toBe("user");
      expect(part.at(-1)).toBe(messages.at(-1));
      expectPaired(part);
      expect(part.length).toBeLessThan(parts[index - 1]?.length ?? messages.length);
    }
  });

  it("is the latest rounds of one long turn", () => {
    const messages = [user(50), ...Array.from({ length: 40 }, () => round(1_000)).flat()];
    const parts = [...shorterParts(messages, opening)];
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part[1]?.role).toBe("assistant");
      expectPaired(part);
    }
  });

  it("has short results, so that one message that is too long is no hindrance", () => {
    const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };
    const messages = [user(50), ...round(90_000), messageOf("user", [image])];
    const [part] = shorterParts(messages, opening);
    expect(tokensOfMessages(part ?? [])).toBeLessThan(3_000);
    expect(JSON.stringify(part)).toContain("characters left out");
    expect(JSON.stringify(part)).toContain("(image left out)");
  });

  it("is nothing when nothing is short enough", () => {
    expect([...shorterParts([user(1_000)], opening)]).toEqual([]);
    expect([...shorterParts([user(10), user(9_000)], opening)]).toEqual([]);
  });
});

/** Every call has its result in the next message, and no result is without its call (LO-4). */
function expectPaired(messages: readonly Message[]): void {
  let awaited: string[] = [];
  for (const { content } of messages) {
    const results = content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    if (results.join() !== awaited.join())
      throw new Error(
        `Results of ${results.join() || "nothing"} follow on calls ${awaited.join() || "none"}.`,
      );
    awaited = toolUsesOf(content).map(({ id }) => id);
  }
  if (awaited.length > 0) throw new Error(`The calls ${awaited.join()} have no results.`);
}
