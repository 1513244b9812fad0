import { describe, expect, it } from "vitest";
import { describeCall, describeResult } from "./describe-call.ts";

describe("a call of an agent in words", () => {
  it("says which agent and what for", () => {
    const input = { subagent_type: "Explore", description: "find the parser", prompt: "Look for\nit." };
    expect(describeCall({ name: "Agent", input })).toBe("Agent Explore: find the parser");
    expect(describeCall({ name: "Task", input: { ...input, description: " " } })).toBe(
      "Agent Explore: Look for it.",
    );
    expect(describeCall({ name: "Agent", input: { prompt: "Look." } })).toBe("Agent: Look.");
    expect(describeCall({ name: "Agent", input: { resume: "a12", prompt: "Go on." } })).toBe(
      "Agent a12: Go on.",
    );
  });

  it("takes any input, and is cut like others", () => {
    expect(describeCall({ name: "Agent", input: { subagent_type: 7, prompt: null } })).toBe("Agent");
    expect(describeCall({ name: "Agent", input: { prompt: "x".repeat(200) } }, 20)).toHaveLength(20);
  });

  it("says when it was sent to the background", () => {
    const result = { type: "tool_result" as const, tool_use_id: "t", content: "a\nb" };
    expect(describeResult("Agent", result, { status: "async_launched" })).toBe("in the background");
    expect(describeResult("Bash", result, { status: "background" })).toBe("in the background");
    expect(describeResult("Agent", result, { status: "completed" })).toBe("2 lines");
  });
});
