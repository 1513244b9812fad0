import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { problemOfName, renderAgentFile } from "./agent-file.ts";

function frontmatterOf(text: string): unknown {
  const [, block = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  return parse(block);
}

describe("renderAgentFile", () => {
  it("writes plainly what is plain", () => {
    expect(
      renderAgentFile({
        name: "code-reviewer",
        description: "Reviews changes (small ones), e.g. before a commit.",
        tools: ["Read", "Bash(git diff:*)"],
        model: "haiku",
        prompt: "\n\nYou review.\r\nBriefly.\n\n",
      }),
    ).toBe(
      "---\nname: code-reviewer\ndescription: Reviews changes (small ones), e.g. before a commit.\ntools: Read, Bash(git diff:*)\nmodel: haiku\n---\n\nYou review.\nBriefly.\n",
    );
  });

  it("leaves out what is not said, and tells no tools from all", () => {
    const base = { name: "a", description: "b", prompt: "c" };
    expect(frontmatterOf(renderAgentFile(base))).toEqual({ name: "a", description: "b" });
    expect(frontmatterOf(renderAgentFile({ ...base, tools: [] }))).toMatchObject({ tools: [] });
  });

  it.each([
    'Use when: "it" breaks # or not',
    "line one\nline two\n---\nname: other",
    "true",
    "No",
    "null",
    "12",
    "- dash",
    "* star",
    "ends with colon:",
    "tab\there \u2028 \u0085 \u007f \ufeff",
    "<example>user: hi</example>",
    "{braces} [brackets] & anchors ! tags | > % @ `",
    "日本語の説明: はい",
    "back\\slash",
  ])("any description is read as it was meant: %j", (description) => {
    const text = renderAgentFile({ name: "no", description, prompt: "p" });
    expect(frontmatterOf(text)).toEqual({ name: "no", description });
    // Readers do not agree on which of these end a line.
    expect(text).not.toMatch(/[\u007f-\u009f\u2028\u2029\ufeff]/);
  });
});

describe("problemOfName", () => {
  it.each(["reviewer", "Code Reviewer", "a.b_c-d", "prüfer", "日本語", "3d"])("allows %s", (name) => {
    expect(problemOfName(name)).toBeUndefined();
  });

  it.each([
    "",
    " ",
    "-x",
    "a:b",
    "a/b",
    "..",
    ".hidden",
    "a\\b",
    "a\nb",
    "a\0b",
    "x.",
    "x ",
    "a".repeat(65),
    "$(id)",
  ])("refuses %j", (name) => {
    expect(problemOfName(name)).toEqual(expect.any(String));
  });
});
