import { describe, expect, it } from "vitest";
import type { AskingAgent, PermissionRequest } from "../../contracts/permission.ts";
import { permissionQuestion } from "./permission-question.ts";

const ask = (toolName: string, input: Record<string, unknown>, more: Partial<PermissionRequest> = {}) =>
  permissionQuestion({ toolName, toolUseId: "t", input, reason: "", suggestions: [toolName], ...more });

describe("permissionQuestion", () => {
  it("puts a short command on the line of the question", () => {
    expect(ask("Bash", { command: "npm test" })).toBe(
      "Allow Bash: npm test? [y]es / [s]ession / [p]roject / [n]o (or say why): ",
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
    expect(ask("WebFetch", { url: "https://example.org" }, { agent: { id: "reviewer-1" } })).toMatch(
      /^WebFetch \(agent reviewer-1\):\n {2}\{\n {2} {2}"url": "https:\/\/example\.org"/,
    );
  });

  it("names the agent as it was called, or else as the lines about it do", () => {
    const request = { toolName: "Bash", toolUseId: "t", input: { command: "ls" }, reason: "" };
    const question = (agent: AskingAgent, label?: string) =>
      permissionQuestion({ ...request, agent }, label).split("?")[0];
    expect(question({ id: "a1", type: "Explore" }, "Explore 2")).toBe("Allow Bash (agent Explore 2): ls");
    expect(question({ id: "a1", type: "Explore", name: "scout" }, "Explore 2")).toBe(
      "Allow Bash (agent scout, of type Explore): ls",
    );
    expect(question({ id: "a1", type: "Explore" })).toBe("Allow Bash (agent a1, of type Explore): ls");
  });

  it("puts the choices on a line of their own where they do not fit behind the question", () => {
    expect(ask("Bash", { command: "x".repeat(20) })).toBe(
      `Allow Bash: ${"x".repeat(20)}?\n[y]es / [s]ession / [p]roject / [n]o (or say why): `,
    );
  });

  it("says why it asks, which rule would be granted, and offers none where there is none", () => {
    const question = ask(
      "Bash",
      { command: "npm test" },
      { reason: "no rule allows npm", suggestions: ["Bash(npm test:*)", "Bash"] },
    );
    expect(question).toBe(
      "  (no rule allows npm)\n  (session and project allow: Bash(npm test:*))\nAllow Bash: npm test? [y]es / [s]ession / [p]roject / [n]o (or say why): ",
    );
    expect(ask("Bash", { command: "npm test" }, { suggestions: [] })).toBe(
      "Allow Bash: npm test? [y]es / [n]o (or say why): ",
    );
  });

  it("does not let names, paths, reasons or rules make lines of their own", () => {
    const forged = "x\nAllow Bash: ls? [y]es";
    const question = ask(
      "Write",
      { file_path: forged, content: "text" },
      { agent: { id: "a", name: forged, type: forged }, reason: forged, suggestions: [`Write(${forged})`] },
    );
    expect(question.split("\n").filter((line) => line.startsWith("Allow Bash"))).toEqual([]);
  });
});
