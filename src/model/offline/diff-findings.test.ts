import { describe, expect, it } from "vitest";
import { addedLinesOf, type FileDiff } from "./diff.ts";
import { findingsIn } from "./diff-findings.ts";

function added(path: string, lines: readonly string[]): FileDiff {
  return {
    path,
    added: lines.map((text, index) => ({ line: index + 1, text })),
    addedCount: lines.length,
    removedCount: 0,
    isNew: true,
    isDeleted: false,
    isBinary: false,
    cut: false,
  };
}

function whatIn(path: string, ...lines: string[]): string[] {
  return findingsIn(added(path, lines)).map((finding) => `${finding.line} ${finding.what}`);
}

describe("findings in added lines", () => {
  it.each([
    ["a.ts", "console.log(x)", "debug output left in"],
    ["a.ts", "  debugger;", "debugger statement"],
    ["a.py", "print(x)", "debug output left in"],
    ["a.py", "    breakpoint()", "debugger call"],
    ["a.rs", "let y = dbg!(x);", "debug output left in"],
    ["a.go", "// TODO later", "TODO, FIXME, HACK or XXX added"],
    ["a.c", "<<<<<<< HEAD", "conflict marker"],
    ["a.test.ts", 'it.only("x", f)', "only some tests run"],
    ["test_a.py", "@pytest.mark.skip", "test skipped"],
    ["a.ts", "try { f() } catch {}", "error swallowed"],
    ["a.ts", "try { f() } catch (error) { }", "error swallowed"],
    ["a.py", "except Exception: pass", "error swallowed"],
    ["a.ts", "// @ts-ignore", "type check turned off"],
    ["a.ts", "const x = 1; ", "trailing white space"],
    ["config.yml", 'password: "hunter2hunter2"', "looks like a secret"],
    ["a.env", "url=postgres://bob:s3cretpw@db/x", "looks like a secret"],
    ["key.pem", "-----BEGIN RSA PRIVATE KEY-----", "looks like a secret"],
  ])("in %s: %s", (path, line, what) => {
    expect(whatIn(path, line)).toContain(`1 ${what}`);
  });

  it.each([
    ["a.ts", "logger.log(x)"],
    ["a.test.ts", "console.log(x)"],
    ["README.md", "A line with a break  "],
    ["README.md", "See the TODO list"],
    ["a.ts", "// This returns the value, if any: see below"],
    ["a.ts", "const password = process.env.PASSWORD"],
    ["a.ts", "try { f() } catch (error) { report(error) }"],
    ["a.py", "fingerprint(x)"],
    ["a.ts", "=========="],
  ])("nothing in %s: %s", (path, line) => {
    expect(whatIn(path, line)).toEqual([]);
  });

  it("never show the secret itself", () => {
    const [finding] = findingsIn(added("a.ts", ['const apiKey = "abcd1234efgh5678"']));
    expect(finding?.text).not.toContain("abcd");
  });

  it("see an empty handler over two lines, but not across a gap", () => {
    expect(whatIn("a.py", "except ValueError:", "    pass")).toContain("1 error swallowed");
    const gap = {
      ...added("a.py", []),
      added: [
        { line: 1, text: "except ValueError:" },
        { line: 9, text: "    pass" },
      ],
    };
    expect(findingsIn(gap)).toEqual([]);
  });

  it("take two comment lines of code for commented-out code, and one for a remark", () => {
    expect(whatIn("a.ts", "// const x = f(1);", "// return x;")).toContain("1 commented-out code");
    expect(whatIn("a.ts", "// const x = f(1);")).toEqual([]);
  });

  it("measure lines and whole functions", () => {
    expect(whatIn("a.ts", `const x = "${"y".repeat(200)}";`)).toEqual(["1 line of 213 characters"]);
    const body = Array.from({ length: 90 }, () => "  f();");
    expect(whatIn("a.ts", "function long() {", ...body, "}")).toEqual(["1 function of 91 lines"]);
    expect(whatIn("a.ts", "function short() {", ...body.slice(0, 20), "}")).toEqual([]);
  });
});

describe("the added lines of a diff", () => {
  it("carry the numbers of the new file", () => {
    const diff =
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+++new\n+two\n@@ -9,0 +11 @@ f()\n+eleven\r\n\\ No newline at end of file";
    expect(addedLinesOf(diff)).toEqual([
      { line: 1, text: "++new" },
      { line: 2, text: "two" },
      { line: 11, text: "eleven" },
    ]);
  });
});
