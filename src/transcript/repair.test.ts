import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block, Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { repairHistory } from "./repair.ts";

const message = (role: Message["role"], content: Block[], uuid = "m"): Message => ({
  uuid,
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  role,
  content,
});
const text = (value: string): Block => ({ type: "text", text: value });
const call = (id: string): Block => ({ type: "tool_use", id, name: "Do", input: {} });
const result = (id: string, content = `result of ${id}`): Block => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});

function repair(
  messages: Message[],
  options: { kept?: Record<string, string>; started?: string[] } = {},
): readonly Message[] {
  const kept = Object.entries(options.kept ?? {}).map(
    ([id, content]) => [id, { type: "tool_result" as const, tool_use_id: id, content }] as const,
  );
  return repairHistory(messages, {
    keptResults: new Map(kept),
    startedCalls: new Set(options.started),
    createUserMessage: (_, content) => message("user", content, "made"),
  });
}

const contentsOf = (message: Message | undefined) =>
  message?.content.map((block) => (block.type === "tool_result" ? block.content : block.type)) ?? [];

describe("repair of a history", () => {
  it("leaves a sound one as it is, the very same array", () => {
    const sound = [
      message("user", [text("go")]),
      message("assistant", [call("a")]),
      message("user", [result("a")]),
    ];
    expect(repair(sound)).toBe(sound);
  });

  it("answers calls that nobody answered: kept results, unknown outcomes, calls that had no effects", () => {
    const cut = [message("user", [text("go")]), message("assistant", [call("a"), call("b"), call("c")])];
    const repaired = repair(cut, { kept: { a: "it went well" }, started: ["b"] });
    expect(repaired).toHaveLength(3);
    const [a, b, c] = contentsOf(repaired[2]);
    expect(a).toBe("it went well");
    expect(b).toContain("outcome is unknown");
    expect(c).toContain("no effects");
  });

  it("completes and orders the results of a message, and keeps what else stands in it at the end", () => {
    const mixed = [
      message("assistant", [call("a"), call("b")]),
      message("user", [text("and more"), result("b")]),
    ];
    const repaired = repair(mixed);
    expect(contentsOf(repaired[1])).toEqual([expect.stringContaining("interrupted"), "result of b", "text"]);
  });

  it("drops results whose call is not just before them, and messages that were nothing else", () => {
    const stray = [
      message("user", [result("gone")]),
      message("assistant", [text("hello")]),
      message("user", [text("hi"), result("gone too")]),
    ];
    const repaired = repair(stray);
    expect(repaired.map(contentsOf)).toEqual([["text"], ["text"]]);
  });

  it("keeps one result where there were two", () => {
    const doubled = [
      message("assistant", [call("a")]),
      message("user", [result("a", "first"), result("a", "second")]),
    ];
    expect(contentsOf(repair(doubled)[1])).toEqual(["first"]);
  });

  it("makes any history one that can be sent, and mending twice changes nothing more", () => {
    const id = fc.constantFrom("a", "b", "c");
    const block = fc.oneof(
      fc.constant(text("x")),
      id.map(call),
      id.map((value) => result(value)),
    );
    const anyMessage = fc
      .record({
        role: fc.constantFrom("user" as const, "assistant" as const),
        content: fc.array(block, { maxLength: 4 }),
      })
      .map(({ role, content }) =>
        message(
          role,
          // A model never says a result and a user never calls; ids are unique within a message.
          unique(
            content.filter((item) =>
              role === "user" ? item.type !== "tool_use" : item.type !== "tool_result",
            ),
          ),
        ),
      );
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), (messages) => {
        const repaired = repair(messages);
        for (const [index, item] of repaired.entries()) {
          const calls = item.role === "assistant" ? toolUsesOf(item.content).map((used) => used.id) : [];
          const next = repaired[index + 1]?.content ?? [];
          const results = next.flatMap((found) => (found.type === "tool_result" ? [found.tool_use_id] : []));
          if (calls.length > 0) {
            expect(repaired[index + 1]?.role).toBe("user");
            expect(results).toEqual(calls);
          } else {
            expect(results).toEqual([]);
          }
        }
        expect(repair([...repaired])).toEqual(repaired);
      }),
    );
  });
});

function unique(content: Block[]): Block[] {
  const seen = new Set<string>();
  return content.filter((block) => {
    if (block.type !== "tool_use") return true;
    if (seen.has(block.id)) return false;
    seen.add(block.id);
    return true;
  });
}
