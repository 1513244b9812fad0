import { describe, expect, it } from "vitest";
import type { CallResult } from "./playbook.ts";
import {
  isDenial,
  parseCounts,
  parseFile,
  parseMatches,
  parseOutput,
  parsePaths,
  shellQuoted,
} from "./tool-calls.ts";

function result(text: string, isError = false): CallResult {
  return { text, isError, blocks: [{ type: "text", text }] };
}

describe("a list of paths", () => {
  it("counts the lines", () => {
    expect(parsePaths(result("a.ts\nb (copy).ts\n(draft).md"))).toEqual({
      paths: ["a.ts", "b (copy).ts", "(draft).md"],
      total: 3,
    });
  });

  it("adds the files that a cut list only counts", () => {
    const list = parsePaths(result("a\nb\n(1,432 more files: use a narrower pattern.)"));
    expect(list).toEqual({ paths: ["a", "b"], total: 1_434 });
  });

  it("does not trust the names at the edges of a gap, nor the number", () => {
    const list = parsePaths(
      result("a\nb-half\n[9,000 characters were left out here. The whole is in /x; Read can]\nhalf\nz"),
    );
    expect(list).toEqual({ paths: ["a", "z"], total: undefined });
  });

  it("is empty for no match and for a failure", () => {
    expect(parsePaths(result("No files match *.x in .. Files that git ignores are not looked at."))).toEqual({
      paths: [],
      total: 0,
    });
    expect(parsePaths(result("x is not a folder.", true))).toEqual({
      paths: [],
      total: 0,
      problem: "x is not a folder.",
    });
  });
});

describe("matching lines", () => {
  it("are split at the first line number", () => {
    expect(parseMatches(result("a b.ts:12:x: 3:4\r")).matches).toEqual([
      { path: "a b.ts", line: 12, text: "x: 3:4" },
    ]);
  });

  it("keep a name that looks like a line number, if the file is known", () => {
    const matches = parseMatches(result("a:1:b.ts:7:text\na:1:other"), ["a:1:b.ts", "a"]).matches;
    expect(matches).toEqual([
      { path: "a:1:b.ts", line: 7, text: "text" },
      { path: "a", line: 1, text: "other" },
    ]);
  });

  it("tell when there are more, or that the search failed", () => {
    expect(parseMatches(result("a:1:x\n(1 to 1 of 900. Go on with offset 1.)"))).toMatchObject({
      cut: true,
      matches: [{}],
    });
    expect(parseMatches(result("No matches."))).toEqual({ matches: [], cut: false });
    expect(parseMatches(result("regex parse error", true)).problem).toBe("regex parse error");
  });
});

describe("counts", () => {
  it("are summed, also when the total is told", () => {
    const counts = parseCounts(result("a.ts:3\nb:2.ts:4\nTotal: 7 in 2 files"));
    expect([...counts.counts]).toEqual([
      ["a.ts", 3],
      ["b:2.ts", 4],
    ]);
    expect(counts).toMatchObject({ total: 7, fileCount: 2, exact: true });
  });

  it("come from the total where the list was cut", () => {
    const counts = parseCounts(
      result("a:3\n[900 characters were left out here. x]\nz:1\nTotal: 2,900 in 1,200 files"),
    );
    expect(counts).toMatchObject({ total: 2_900, fileCount: 1_200, exact: true });
  });

  it("are zero for nothing", () => {
    expect(parseCounts(result("No matches."))).toMatchObject({ total: 0, fileCount: 0 });
  });
});

describe("a file", () => {
  it("is its lines without numbers and carriage returns", () => {
    const file = parseFile(
      result("     1\tone\r\n     2\t\n     3\t\t(three)\n(Lines 1 to 3 of 9. Read on with offset 4.)"),
    );
    expect(file).toEqual({ lines: ["one", "", "\t(three)"], cut: true });
  });

  it("can be empty, and is not there after a failure or for an image", () => {
    expect(parseFile(result("(The file is empty.)"))).toEqual({ lines: [], cut: false });
    expect(parseFile(result("no such file", true))).toBeUndefined();
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png", data: "" },
    };
    expect(parseFile({ text: "", isError: false, blocks: [image] })).toBeUndefined();
  });
});

describe("the output of a command", () => {
  it("ends with the exit code of a failure", () => {
    expect(parseOutput(result("oops\nExit code 3", true))).toEqual({
      text: "oops",
      exitCode: 3,
      cut: false,
      denied: false,
    });
    expect(parseOutput(result("fine"))).toMatchObject({ exitCode: 0 });
    expect(parseOutput(result("sh: permission denied\nExit code 126", true))).toMatchObject({
      exitCode: 126,
      denied: false,
    });
  });

  it("can be nothing", () => {
    expect(parseOutput(result("(no output)"))).toMatchObject({ text: "", exitCode: 0 });
  });

  it("is told apart from a refusal to run it", () => {
    for (const text of [
      "Not allowed: Bash can change things.",
      "The user did not allow this call. They said: no",
    ]) {
      expect(parseOutput(result(text, true)).denied).toBe(true);
      expect(isDenial(result(text, true))).toBe(true);
      expect(isDenial(result(text))).toBe(false);
    }
  });

  it("tells that its middle is missing", () => {
    expect(parseOutput(result("a\n[... 99,000 bytes in all, the middle is left out here. ]\nb")).cut).toBe(
      true,
    );
  });
});

describe("a quoted word", () => {
  it("stays one word, whatever is in it", () => {
    expect(shellQuoted("it's $(x) `y` \\")).toBe(`'it'\\''s $(x) \`y\` \\'`);
  });
});
