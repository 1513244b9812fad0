import { describe, expect, it } from "vitest";
import { contentsOf } from "./folder-contents.ts";
import { folderCommentFiles, folderCommentPattern, purposeIn, tellingFiles } from "./folder-purpose.ts";

describe("the purpose of a folder", () => {
  it("is what its main files say, with the file that says it", () => {
    expect(purposeIn("a/README.md", ["# A", "", "Keeps boats apart. And more."])).toBe(
      "Keeps boats apart. (a/README.md)",
    );
    expect(purposeIn("a/package.json", ['{ "description": "Takes bookings." }'])).toBe(
      "Takes bookings. (a/package.json)",
    );
    expect(purposeIn("q/__init__.py", ['r"""Queues.', "", ...Array(60).fill("more")])).toBe(
      "Queues. (q/__init__.py)",
    );
    expect(purposeIn("t/__init__.py", ["# Dummy file to make this directory a package."])).toBeUndefined();
  });

  it("is not told by every file that begins with README", () => {
    expect(tellingFiles("a", ["a/README.FHS", "a/x.ts", "a/y.ts"])).toEqual([]);
    expect(tellingFiles("queue", ["queue/list.go", "queue/queue.go", "queue/queue_test.go"])).toEqual([
      "queue/queue.go",
    ]);
    expect(tellingFiles("cmd", ["cmd/srv/main.go", "cmd/srv/flags.go"])).toEqual(["cmd/srv/main.go"]);
  });

  it("is found in a comment that names the folder, and only in a file of that folder", () => {
    const pattern = new RegExp(folderCommentPattern);
    const text = "// parser/ owns the grammar: it turns text into trees.";
    expect(pattern.test(text)).toBe(true);
    expect(pattern.test("see parser/ for more")).toBe(false);
    const speaking = folderCommentFiles([
      { path: "src/other/a.ts", line: 1, text },
      { path: "src/parser/tree.ts", line: 1, text },
      { path: "src/parser/late.ts", line: 90, text },
    ]);
    expect([...speaking]).toEqual([["src/parser", "src/parser/tree.ts"]]);
    expect(purposeIn("src/parser/tree.ts", [text, 'import "x";'])).toBe(
      "owns the grammar: it turns text into trees. (src/parser/tree.ts)",
    );
  });
});

describe("contentsOf", () => {
  const folder = (name: string, files: string[], total = files.length) => ({
    name,
    paths: files.map((file) => `${name}/${file}`),
    total,
  });

  it("names the files of a flat folder and the folders of a deep one", () => {
    expect(contentsOf(folder("a", ["x.ts", "y.ts", "z.test.ts", "run"]))).toBe(
      "2 TypeScript files (x.ts, y.ts), 1 test file (z.test.ts), 1 extensionless file (run)",
    );
    expect(contentsOf(folder("src", ["cli/x.ts", "loop/y.ts", "loop/Makefile"]))).toBe(
      "2 TypeScript files, 1 Makefile; in it: cli/, loop/",
    );
  });

  it("tells the true number where only some files are known", () => {
    expect(contentsOf(folder("a", ["x.py", "y.py"], 90_000))).toBe("90,000 files, most of them Python files");
  });
});
