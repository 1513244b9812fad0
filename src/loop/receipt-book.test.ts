import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../contracts/event.ts";
import { type CallReceipt, Receipt } from "../contracts/receipt.ts";
import { ReceiptBook } from "./receipt-book.ts";

function ended(id: string, facts: Partial<CallReceipt> = {}): LoopEvent {
  return {
    type: "call-end",
    call: { type: "tool_use", id, name: "T", input: {} },
    result: { type: "tool_result", tool_use_id: id, content: "ok" },
    durationMs: 1,
    receipt: { toolUseId: id, tool: "T", outcome: "done", ...facts },
  };
}

function bookOf(...events: LoopEvent[]): ReceiptBook {
  const book = new ReceiptBook();
  for (const event of events) book.see(event);
  return book;
}

describe("the book of receipts", () => {
  it("keeps calls in their order and looks at nothing else", () => {
    const book = bookOf(
      { type: "turn-start", turn: 1 },
      ended("a", { path: "/x", before: null, after: "1" }),
      ended("b", { outcome: "denied" }),
      {
        type: "turn-end",
        turn: 1,
        usage: { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 0, cacheReadTokens: 0 },
        modelMs: 1,
      },
    );
    expect(book.receipt()).toEqual({
      calls: [
        { toolUseId: "a", tool: "T", outcome: "done", path: "/x", before: null, after: "1" },
        { toolUseId: "b", tool: "T", outcome: "denied" },
      ],
      omittedCalls: 0,
    });
    expect(book.summary()).toEqual({
      calls: 2,
      failed: 0,
      denied: 1,
      files: [{ path: "/x", before: null, after: "1" }],
      commands: [],
    });
  });

  it("is of calls only as far as the executor vouches for them", () => {
    const { receipt: _, ...unseen } = ended("a") as Extract<LoopEvent, { type: "call-end" }>;
    expect(bookOf(unseen).receipt()).toEqual({ calls: [], omittedCalls: 0 });
  });

  it("gives away copies", () => {
    const book = bookOf(ended("a"));
    book.receipt().calls.length = 0;
    expect(book.receipt().calls).toHaveLength(1);
  });

  it("keeps 500 calls, those with effects before those that only looked", () => {
    const writes = Array.from({ length: 300 }, (_, i) =>
      ended(`w${i}`, { path: `/${i}`, before: null, after: "1" }),
    );
    const reads = Array.from({ length: 300 }, (_, i) => ended(`r${i}`, { path: "/r" }));
    const { calls, omittedCalls } = bookOf(...writes.slice(0, 100), ...reads, ...writes.slice(100)).receipt();
    expect(omittedCalls).toBe(100);
    expect(calls).toHaveLength(500);
    expect(calls.filter(({ toolUseId }) => toolUseId.startsWith("w"))).toHaveLength(300);
    expect(calls[100]?.toolUseId).toBe("r100");
  });

  it("keeps the beginning and the end when all have effects", () => {
    const runs = Array.from({ length: 600 }, (_, i) => ended(`c${i}`, { command: "make", exitCode: 0 }));
    const { calls, omittedCalls } = bookOf(...runs).receipt();
    expect(omittedCalls).toBe(100);
    expect(calls.slice(0, 250).map(({ toolUseId }) => toolUseId)).toEqual(
      Array.from({ length: 250 }, (_, i) => `c${i}`),
    );
    expect(calls.at(-1)?.toolUseId).toBe("c599");
  });

  it("sums up all calls, also those that it does not keep", () => {
    const first = ended("first", { path: "/x", before: "0", after: "1" });
    const runs = Array.from({ length: 1_000 }, (_, i) =>
      ended(`c${i}`, { path: "/x", before: `${i}`, after: `${i + 1}` }),
    );
    const other = ended("other", { path: "/y", before: null, after: "1" });
    const failed = ended("failed", { outcome: "failed" });
    const rest = Array.from({ length: 1_000 }, (_, i) => ended(`d${i}`, { command: `d${i}`, exitCode: 0 }));
    const summary = bookOf(
      first,
      ...runs.slice(0, 600),
      other,
      failed,
      ...runs.slice(600),
      ...rest,
    ).summary();
    expect(summary.calls).toBe(2_003);
    expect(summary.failed).toBe(1);
    expect(summary.files).toEqual([
      { path: "/x", before: "0", after: "1000" },
      { path: "/y", before: null, after: "1" },
    ]);
    expect(summary.omittedCommands).toBe(980);
  });

  it("cuts what is too long, and its receipt can be stored", () => {
    const book = bookOf(
      ended("a", {
        tool: "t".repeat(9_000),
        path: `/${"p".repeat(9_000)}`,
        command: `${"c".repeat(999)}\u{1f600}`,
        exitCode: 1,
      }),
    );
    const [call] = Receipt.parse(JSON.parse(JSON.stringify(book.receipt()))).calls;
    expect(call?.tool).toHaveLength(200);
    expect(call?.path).toHaveLength(4_096);
    expect(call?.command).toBe("c".repeat(999));
    expect(call?.exitCode).toBe(1);
  });
});
