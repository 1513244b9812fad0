import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../contracts/event.ts";
import { noUsage } from "../../contracts/usage.ts";
import { createActivityLines } from "./activity-lines.ts";

const turnEnd: LoopEvent = { type: "turn-end", turn: 1, usage: noUsage, modelMs: 1 };

function call(name: string, input: Record<string, unknown>, id = "1") {
  return { type: "tool_use" as const, id, name, input };
}

function ended(
  name: string,
  input: Record<string, unknown>,
  end: { text?: string; ms?: number; isError?: boolean; id?: string } = {},
): LoopEvent {
  const { text = "x", ms = 5, isError = false, id = "1" } = end;
  return {
    type: "call-end",
    call: call(name, input, id),
    result: { type: "tool_result", tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) },
    durationMs: ms,
  };
}

function shown(events: readonly LoopEvent[]): string[] {
  const lines = createActivityLines();
  return events.flatMap(lines);
}

describe("activity lines", () => {
  it("tell a single search with its place and what it found", () => {
    expect(
      shown([ended("Glob", { pattern: "**/*", path: "src" }, { text: "a\nb\n(3 more files: x)" }), turnEnd]),
    ).toEqual(["* Glob **/* in src (5 files)"]);
    expect(shown([ended("Grep", { pattern: "x" }, { text: "No matches." }), turnEnd])).toEqual([
      "* Grep x (no matches)",
    ]);
    expect(shown([ended("Glob", { pattern: "*.q" }, { text: "No files match *.q in ." }), turnEnd])).toEqual([
      "* Glob *.q (no files)",
    ]);
    const page = "     1\tone\n     2\ttwo\n(Lines 1 to 2 of 9. Read on with offset 3.)";
    expect(shown([ended("Read", { file_path: "a.ts" }, { text: page }), turnEnd])).toEqual([
      "* Read a.ts (2 lines)",
    ]);
  });

  it("tell the first read at once and the others of the turn in one line that fits the screen", () => {
    const names = Array.from({ length: 40 }, (_, index) => `src/some-folder/file-${index}.ts`);
    const lines = shown([...names.map((file_path) => ended("Read", { file_path })), turnEnd]);
    expect(lines).toEqual([
      "* Read src/some-folder/file-0.ts (1 line)",
      "* Read src/some-folder/file-1.ts, src/some-folder/file-2.ts and 37 more",
    ]);
    expect(shown(names.slice(0, 1).map((file_path) => ended("Read", { file_path })))).toHaveLength(1);
    const long = ["a", "x".repeat(200), "y"].map((file_path) => ended("Read", { file_path }));
    for (const line of shown([...long, turnEnd])) expect(line.length).toBeLessThanOrEqual(79);
  });

  it("keep the order of different calls, and never hold back what went wrong or took long", () => {
    expect(
      shown([
        ended("Glob", { pattern: "*" }),
        ended("Read", { file_path: "a" }),
        ended("Read", { file_path: "b" }),
        ended("Read", { file_path: "b2" }),
        { type: "call-start", call: call("Bash", { command: "npm test" }) },
        ended("Bash", { command: "npm test" }, { ms: 2_300 }),
        ended("Read", { file_path: "c" }, { text: "gone", isError: true }),
        ended("Read", { file_path: "d" }, { ms: 1_500 }),
      ]),
    ).toEqual([
      "* Glob * (1 file)",
      "* Read a (1 line)",
      "* Read b, b2",
      "* Bash npm test ...",
      "* Bash npm test (1 line, 2.3 s)",
      "! Read c: failed",
      "  gone",
      "* Read d (1 line, 1.5 s)",
    ]);
  });

  it("say once that a call was denied", () => {
    expect(
      shown([
        { type: "call-denied", call: call("Read", { file_path: "a" }), reason: "a rule\nsays so" },
        ended("Read", { file_path: "a" }, { isError: true }),
        turnEnd,
      ]),
    ).toEqual(["! Read a: denied", "  a rule says so"]);
  });

  it("say no more than that a call was interrupted", () => {
    const text = "The user interrupted this call before it finished. What it had done until then may stand.";
    expect(shown([ended("Bash", { command: "make" }, { isError: true, text })])).toEqual([
      "! Bash make: interrupted",
    ]);
  });

  it("fit 79 columns whatever a call is about", () => {
    const long = "y ".repeat(300);
    const lines = shown([
      { type: "call-start", call: call("Bash", { command: long }) },
      ended("Bash", { command: long }, { ms: 100_000 }),
      ended("Edit", { file_path: long }, { isError: true, text: "no" }),
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(79);
  });
});
