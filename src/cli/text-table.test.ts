import { describe, expect, it } from "vitest";
import { layoutTable, wrapText } from "./text-table.ts";

const header = ["NAME", "SOURCE", "TOOLS"];

describe("layoutTable", () => {
  it("aligns columns and wraps the last one between words", () => {
    const text = layoutTable({
      header,
      rows: [
        ["one", "user", "Read, Grep, Glob, Bash, WebFetch, WebSearch"],
        ["three", "project", "Read"],
      ],
      width: 40,
    });
    expect(text.split("\n")).toEqual([
      "NAME   SOURCE   TOOLS",
      "one    user     Read, Grep, Glob, Bash,",
      "                WebFetch, WebSearch",
      "three  project  Read",
      "",
    ]);
  });

  it("lets what is too long end its line, and goes on below", () => {
    const text = layoutTable({
      header,
      rows: [
        ["plugin:with-a-name-that-is-long", "user", "Read"],
        ["short", "user", "Grep"],
      ],
      width: 50,
    });
    expect(text.split("\n").slice(1, 4)).toEqual([
      "plugin:with-a-name-that-is-long",
      "       user    Read",
      "short  user    Grep",
    ]);
  });

  it("makes a paragraph of each row where there is no room", () => {
    const text = layoutTable({ header, rows: [["name", "project", "Read, Grep, Glob, Bash"]], width: 24 });
    expect(text).toBe("name\n  source: project\n  tools: Read, Grep,\n  Glob, Bash\n");
  });

  it("has one line for each row in a pipe", () => {
    const tools = "Read, ".repeat(100).trim();
    const text = layoutTable({ header, rows: [["a".repeat(200), "user", tools]], width: undefined });
    expect(text.trimEnd().split("\n")).toHaveLength(2);
    expect(text).toContain(tools);
  });

  it("counts wide characters as two and marks as none", () => {
    const text = layoutTable({
      header,
      rows: [
        ["日本", "a", "x"],
        ["e\u0301e\u0301", "a", "x"],
        ["four", "a", "x"],
      ],
      width: 60,
    });
    expect(text.split("\n").slice(1, 4)).toEqual([
      "日本  a       x",
      "e\u0301e\u0301    a       x",
      "four  a       x",
    ]);
  });

  it("keeps each cell on one line and shows what would steer the terminal", () => {
    const text = layoutTable({ header, rows: [["a\nb", "\u001b[31mred", "x"]], width: 60 });
    expect(text.split("\n")[1]).toMatch(/^a b {3}\^\[\[31mred +x$/);
  });
});

describe("wrapText", () => {
  it("gives a word that is longer than the line a line of its own", () => {
    expect(wrapText("a very-very-long-word b", 6)).toEqual(["a", "very-very-long-word", "b"]);
  });
});
