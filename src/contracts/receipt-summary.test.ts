import { describe, expect, it } from "vitest";
import type { CallReceipt } from "./receipt.ts";
import { summarizeReceipt } from "./receipt-summary.ts";

const call = (facts: Partial<CallReceipt>): CallReceipt => ({
  toolUseId: "c",
  tool: "T",
  outcome: "done",
  ...facts,
});

const summaryOf = (...calls: Partial<CallReceipt>[]) =>
  summarizeReceipt({ calls: calls.map(call), omittedCalls: 0 });

describe("the summary of a receipt", () => {
  it("counts calls; one that was cut off counts as failed", () => {
    expect(summaryOf({}, { outcome: "failed" }, { outcome: "stopped" }, { outcome: "denied" })).toEqual({
      calls: 4,
      failed: 2,
      denied: 1,
      files: [],
      commands: [],
    });
    expect(summarizeReceipt({ calls: [call({})], omittedCalls: 7 }).calls).toBe(8);
  });

  it("names each file once, with what it held before the first change and after the last", () => {
    const { files } = summaryOf(
      { path: "/a", before: "1", after: "2" },
      { path: "/b", before: null, after: "9" },
      { path: "/a", before: "2", after: "3" },
    );
    expect(files).toEqual([
      { path: "/a", before: "1", after: "3" },
      { path: "/b", before: null, after: "9" },
    ]);
  });

  it("keeps that a file is new when it is changed again", () => {
    const { files } = summaryOf(
      { path: "/b", before: null, after: "1" },
      { path: "/b", before: "1", after: "2" },
    );
    expect(files).toEqual([{ path: "/b", before: null, after: "2" }]);
  });

  it("leaves out a file that ends as it began, one that was only read, and one whose change failed", () => {
    const { files } = summaryOf(
      { path: "/a", before: "1", after: "2" },
      { path: "/a", before: "2", after: "1" },
      { path: "/read" },
      { path: "/missed", outcome: "failed" },
    );
    expect(files).toEqual([]);
  });

  it("names the commands that ran, were cut off or go on, and none that could not start", () => {
    const { commands } = summaryOf(
      { command: "make", exitCode: 0 },
      { command: "sleep 9", outcome: "stopped" },
      { command: "crash", exitCode: null, outcome: "failed" },
      { command: "serve", taskId: "b1" },
      { command: "nowhere", outcome: "failed" },
    );
    expect(commands).toEqual([
      { command: "make", exitCode: 0 },
      { command: "sleep 9", exitCode: null },
      { command: "crash", exitCode: null },
      { command: "serve", exitCode: null, taskId: "b1" },
    ]);
  });

  it("keeps twenty commands: those that failed before the others, the latest before the earliest", () => {
    const fine = (name: string) => ({ command: name, exitCode: 0 });
    const failing = (name: string) => ({ command: name, exitCode: 1, outcome: "failed" as const });
    const many = Array.from({ length: 30 }, (_, index) => (index % 10 === 0 ? failing : fine)(`c${index}`));
    const summary = summaryOf(...many);
    expect(summary.commands.map(({ command }) => command)).toEqual(
      ["c0", "c10"].concat(Array.from({ length: 18 }, (_, index) => `c${index + 12}`)),
    );
    expect(summary.omittedCommands).toBe(10);
    const failures = summaryOf(...Array.from({ length: 25 }, (_, index) => failing(`f${index}`)));
    expect(failures.commands[0]?.command).toBe("f5");
  });

  it("says how many files it does not name", () => {
    const many = Array.from({ length: 503 }, (_, index) => ({ path: `/${index}`, before: null, after: "1" }));
    const summary = summaryOf(...many);
    expect(summary.files).toHaveLength(500);
    expect(summary.omittedFiles).toBe(3);
  });
});
