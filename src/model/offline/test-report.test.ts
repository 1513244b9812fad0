import { describe, expect, it } from "vitest";
import { failureLines, readTestReport } from "./test-report.ts";

const reports: readonly [string, string, object][] = [
  [
    "pytest",
    "tests/test_a.py .F\n=== 1 failed, 4 passed, 2 skipped in 0.12s ===",
    { passed: 4, failed: 1, skipped: 2 },
  ],
  ["pytest", "=== 3 passed, 1 error in 0.50s ===", { passed: 3, failed: 1 }],
  ["pytest", "3 passed in 0.01s", { passed: 3, failed: 0 }],
  [
    "cargo test",
    "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured",
    { passed: 4, failed: 2, skipped: 1 },
  ],
  [
    "vitest",
    " Test Files  1 failed | 2 passed (3)\n      Tests  2 failed | 30 passed | 1 skipped (33)",
    { passed: 30, failed: 2, skipped: 1 },
  ],
  [
    "vitest",
    "\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m5 passed\u001b[39m\u001b[22m\u001b[90m (5)\u001b[39m",
    { passed: 5, failed: 0 },
  ],
  ["jest", "Tests:       1 failed, 9 passed, 10 total", { passed: 9, failed: 1 }],
  [
    "node --test",
    "# tests 4\n# suites 0\n# pass 3\n# fail 1\n# skipped 0",
    { passed: 3, failed: 1, skipped: 0 },
  ],
  ["node --test", "ℹ tests 2\nℹ pass 2\nℹ fail 0", { passed: 2, failed: 0 }],
  ["mocha", "  12 passing (30ms)\n  1 failing", { passed: 12, failed: 1 }],
  [
    "unittest",
    "Ran 7 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=2)",
    { passed: 3, failed: 2, skipped: 2 },
  ],
  ["maven", "[INFO] Tests run: 10, Failures: 1, Errors: 2, Skipped: 3", { passed: 4, failed: 3, skipped: 3 }],
  ["rspec", "5 examples, 2 failures", { passed: 3, failed: 2 }],
  ["go test", "--- FAIL: TestA (0.00s)\n    a_test.go:9: wrong\nFAIL\texample.com/a\t0.1s", { failed: 1 }],
];

describe("the report of a test run", () => {
  it.each(reports)("is read from the output of %s: %s", (runner, output, counts) => {
    expect(readTestReport(output)).toMatchObject({ runner, ...counts });
  });

  it("is not made up where no runner speaks", () => {
    expect(readTestReport("cc -o x x.c\n./x\n3")).toBeUndefined();
    expect(readTestReport("")).toBeUndefined();
  });

  it("does not invent how many passed where only failures are printed", () => {
    expect(readTestReport("ok  \texample.com/a\t0.1s")).toEqual({ runner: "go test", failed: 0 });
  });

  it("names places of failures once, and not too many", () => {
    const output = [
      "FAILED tests/a.py::test_x - AssertionError",
      "src/a.ts:3:9: wrong",
      "src/a.ts:3:9: wrong",
      "fine",
    ].join("\n");
    expect(failureLines(output)).toEqual([
      "FAILED tests/a.py::test_x - AssertionError",
      "src/a.ts:3:9: wrong",
    ]);
    expect(failureLines(Array.from({ length: 50 }, (_, index) => `not ok ${index}`).join("\n"))).toHaveLength(
      10,
    );
  });
});
