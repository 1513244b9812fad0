import { describe, expect, it } from "vitest";
import type { Block, Message } from "../../contracts/message.ts";
import { describeResumed } from "./resumed-conversation.ts";

let count = 0;
function said(role: Message["role"], ...content: (string | Block)[]): Message {
  const blocks = content.map(
    (each): Block => (typeof each === "string" ? { type: "text", text: each } : each),
  );
  return { uuid: String(++count), parentUuid: null, timestamp: "", role, content: blocks };
}
const reminder = "<system-reminder>\nThe agents\n</system-reminder>";

describe("describeResumed", () => {
  it("says nothing about a conversation that only begins", () => {
    expect(describeResumed([])).toEqual([]);
  });

  it("shows the last prompt of the user and the last answer, not what the runtime or tools said", () => {
    const messages = [
      said("user", reminder, "first"),
      said("assistant", "one"),
      said("user", reminder, "second\nline"),
      said("assistant", "I look.", { type: "tool_use", id: "t", name: "Read", input: {} }),
      said("user", { type: "tool_result", tool_use_id: "t", content: "x" }, reminder),
      said("assistant", "two\nthree"),
    ];
    expect(describeResumed(messages)).toEqual([
      "(this conversation has 6 messages; it ended with)",
      "> second line",
      "two",
      "three",
    ]);
  });

  it("says that an answer is missing", () => {
    expect(describeResumed([said("user", "go")])).toEqual([
      "(this conversation has 1 message; it ended with)",
      "> go",
      "(no answer yet)",
    ]);
  });

  it("shows the end of a long answer, and the beginning of a long prompt", () => {
    const lines = Array.from({ length: 100 }, (_, line) => `line ${line}`);
    const shown = describeResumed([said("user", "x".repeat(5000)), said("assistant", lines.join("\n"))]);
    expect(shown.length).toBeLessThan(20);
    expect(shown[1]).toMatch(/^> x{200} \.\.\.$/);
    expect(shown[2]).toBe("...");
    expect(shown.at(-1)).toBe("line 99");
  });
});
