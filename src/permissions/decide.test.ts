import { describe, expect, it } from "vitest";
import { type CallFacts, decide, problemOfAllowRule, type Rules } from "./decide.ts";

const write: CallFacts = { toolName: "Write", aliases: [], isReadOnly: false, writesInside: true };
const read: CallFacts = { toolName: "Read", aliases: [], isReadOnly: true, writesInside: undefined };
const none: Rules = { allow: [], deny: [] };

describe("the decision", () => {
  it("lets reading go on and asks for the rest", () => {
    expect(decide({ facts: read, rules: none, mode: "default" }).decision).toBe("allow");
    expect(decide({ facts: write, rules: none, mode: "default" }).decision).toBe("ask");
    expect(decide({ facts: write, rules: { allow: ["Write"], deny: [] }, mode: "default" })).toEqual({
      decision: "allow",
      reason: 'allowed by the rule "Write"',
    });
  });

  it("lets no allow rule and no mode beat a deny rule, by name or alias, with a condition or without", () => {
    const task: CallFacts = { ...write, toolName: "Agent", aliases: ["Task"] };
    for (const mode of ["default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"] as const) {
      expect(decide({ facts: write, rules: { allow: ["Write"], deny: ["Write"] }, mode }).decision).toBe(
        "deny",
      );
      expect(
        decide({ facts: write, rules: { allow: ["Write"], deny: ["Write(./secret)"] }, mode }).decision,
      ).toBe("deny");
      expect(decide({ facts: read, rules: { allow: [], deny: ["Read"] }, mode }).decision).toBe("deny");
      expect(decide({ facts: task, rules: { allow: [], deny: ["Task"] }, mode }).decision).toBe("deny");
    }
  });

  it("only reads in plan mode, whatever the rules allow", () => {
    expect(decide({ facts: write, rules: { allow: ["Write"], deny: [] }, mode: "plan" }).decision).toBe(
      "deny",
    );
    expect(decide({ facts: read, rules: none, mode: "plan" }).decision).toBe("allow");
  });

  it("accepts edits inside the working folders only, and only in that mode", () => {
    expect(decide({ facts: write, rules: none, mode: "acceptEdits" }).decision).toBe("allow");
    expect(
      decide({ facts: { ...write, writesInside: false }, rules: none, mode: "acceptEdits" }).decision,
    ).toBe("ask");
    const shell: CallFacts = { ...write, toolName: "Bash", writesInside: undefined };
    expect(decide({ facts: shell, rules: none, mode: "acceptEdits" }).decision).toBe("ask");
  });

  it("denies instead of asking in dontAsk", () => {
    expect(decide({ facts: write, rules: none, mode: "dontAsk" }).decision).toBe("deny");
  });

  it("does not understand allow rules with conditions, and says so", () => {
    expect(problemOfAllowRule("Bash")).toBeUndefined();
    expect(problemOfAllowRule("mcp__server__tool")).toBeUndefined();
    expect(problemOfAllowRule("Bash(git diff:*)")).toContain("Bash(git diff:*)");
    expect(problemOfAllowRule("*")).toBeDefined();
  });
});
