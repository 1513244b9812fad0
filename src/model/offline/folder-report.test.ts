import { describe, expect, it } from "vitest";
import { type FolderReport, folderOfTask, folderTask, readReport, writeReport } from "./folder-report.ts";
import { readWording } from "./wording.ts";

const report: FolderReport = {
  facts: [
    { label: "Purpose", text: "Keeps: jobs, in order. (src/README.md)" },
    { label: "Holds", text: "2 Go files; in it: a/, b/" },
    { label: "Size", text: "12 lines in 2 text files" },
  ],
  inner: [
    { name: "a b", text: "owns a. (src/a b/x.go)" },
    { name: "Size", text: "1 Go file (s.go)" },
    { name: "a:12:b", text: "1 Go file (t.go)" },
  ],
};

describe("a report on a folder", () => {
  it("is read as it was written", () => {
    expect(readReport(writeReport("src", { total: 2, report }))).toEqual(report);
  });

  it("says so when no file says what the folder is for", () => {
    const { facts, inner } = report;
    expect(writeReport("src", { total: 2, report: { facts: facts.slice(1), inner } })).toContain(
      "No file in it says",
    );
    expect(writeReport("src", { total: 2, report })).not.toContain("No file in it says");
  });

  it("is understood when another hand wrote it", () => {
    const text = [
      "Here is what I found:",
      "* **Purpose:** Keeps jobs.",
      "• holds: two files",
      "- Advice: none asked for",
      "- Purpose: a second one",
      "- `a/`: owns a.",
      "- src/a.ts: a file, no folder",
      "- src/deep/: not right below",
      "- By the way: see b/: it is old",
    ].join("\n");
    expect(readReport(text)).toEqual({
      facts: [
        { label: "Purpose", text: "Keeps jobs." },
        { label: "Holds", text: "two files" },
      ],
      inner: [{ name: "a", text: "owns a." }],
    });
  });

  it.each([
    "",
    "I could not look into it.",
    "Purpose: in prose, not in a list",
    "- Size: 3 lines",
    "- Purpose:",
    "I list the files.\n\n(It was stopped after 3 turns.)",
  ])("is none when it tells neither a purpose nor contents: %j", (text) => {
    expect(readReport(text)).toBeUndefined();
  });

  it("is kept to lines of a length that one can read", () => {
    const long = readReport(`- Purpose: ${"word ".repeat(10_000)}`);
    expect(long?.facts[0]?.text.length).toBeLessThanOrEqual(400);
  });
});

describe("the task to explore a folder", () => {
  it.each([
    "src",
    ".github",
    "it's here",
    "größe 💰",
    "[id]",
    "$(touch pwned)",
    "-rf",
    "a/b/c",
    'with "quotes"',
    "what's new",
    "please",
    "tests and report what is in it",
  ])("names the folder so that it is read back: %s", (folder) => {
    expect(folderOfTask(readWording(folderTask(folder) ?? ""))).toBe(folder);
  });

  it.each(["", " src", "src ", "a  b", "a`b", "a\nb", "a\tb", "\u001b[1m"])(
    "is not made of a name that would not be read back: %j",
    (folder) => {
      expect(folderTask(folder)).toBeUndefined();
    },
  );
});
