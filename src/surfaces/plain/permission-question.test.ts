import { describe, expect, it } from "vitest";
import { permissionQuestion } from "./permission-question.ts";

const ask = (toolName: string, input: Record<string, unknown>, agentId?: string) =>
  permissionQuestion({ toolName, toolUseId: "t", input, reason: "", ...(agentId && { agentId }) });

describe("permissionQuestion", () => {
  it("puts a short command on the line of the question", () => {
    expect(ask("Bash", { command: "npm test" })).toBe(
      "Allow Bash: npm test? [y]es / [s]ession / [n]o (or say why): ",
    );
  });

  it("never cuts a command, whatever its length and line breaks", () => {
    const command = `${"x".repeat(5000)}\r\n${"line\n".repeat(200)}rm -rf ~`;
    const question = ask("Bash", { command });
    expect(question).toContain("x".repeat(5000));
    expect(question.split("\n").filter((line) => line === "  line")).toHaveLength(200);
    expect(question).toContain("  rm -rf ~\n");
  });

  it("shows what an edit takes away and puts in, and that it does so everywhere", () => {
    const question = ask("Edit", {
      file_path: "a.ts",
      old_string: "one\ntwo",
      new_string: "three",
      replace_all: true,
    });
    expect(question).toMatch(/^Edit a\.ts:\n {2}- one\n {2}- two\n {2}\+ three\n {2}\(in every place/);
    expect(question).toContain("Allow Edit a.ts?");
  });

  it("shows the beginning of a long file and says how much is left out", () => {
    const question = ask("Write", { file_path: "a.ts", content: "line\n".repeat(100) });
    expect(question).toContain("... 61 more lines");
  });

  it("shows any other input as JSON, and names the agent that asks", () => {
    expect(ask("WebFetch", { url: "https://example.org" }, "reviewer-1")).toMatch(
      /^WebFetch \(agent reviewer-1\):\n {2}\{\n {2} {2}"url": "https:\/\/example\.org"/,
    );
  });
});
