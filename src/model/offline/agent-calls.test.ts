import { describe, expect, it } from "vitest";
import { parseAgentAnswer } from "./agent-calls.ts";
import type { CallResult } from "./playbook.ts";

function result(text: string, isError = false): CallResult {
  return { text, isError, blocks: [{ type: "text", text }] };
}

describe("the answer of an agent", () => {
  it.each([
    ["alone", "- Holds: 1 file"],
    [
      "with the runtime's trailer",
      "- Holds: 1 file\nagentId: a1b2 (SendMessage continues it)\n<usage>x: 1</usage>",
    ],
    [
      "with a trailer of several lines",
      "- Holds: 1 file\n\nagentId: a1b2\n<usage>\ntotal_tokens: 5\n</usage>\n",
    ],
    [
      "with a receipt after it",
      '- Holds: 1 file\nagentId: a1b2 (x)\n<usage>x: 1</usage>\n<task-receipt task-id="a1b2">\n1 call\nran ls: exit code 1\n</task-receipt>',
    ],
  ])("is what it said, %s", (_how, text) => {
    expect(parseAgentAnswer(result(text))).toEqual({ kind: "answered", text: "- Holds: 1 file" });
  });

  it("keeps a line that only looks like the trailer, when more words follow", () => {
    const text = "The tool prints:\nagentId: X\nand then goes on.";
    expect(parseAgentAnswer(result(text))).toEqual({ kind: "answered", text });
  });

  it("is none when the call failed, when nothing was said, and while the agent goes on", () => {
    expect(parseAgentAnswer(result("No agent is called Explore.\nThere are: a, b.", true))).toEqual({
      kind: "failed",
      problem: "No agent is called Explore. There are: a, b",
    });
    expect(parseAgentAnswer(result("", true))).toMatchObject({ problem: "no reason was given" });
    expect(parseAgentAnswer(result("\nagentId: a1\n"))).toEqual({
      kind: "failed",
      problem: "it said nothing",
    });
    const launched = "It runs in the background.\nagentId: a1\noutput_file: /tmp/a1.txt";
    expect(parseAgentAnswer(result(launched))).toEqual({ kind: "started", agentId: "a1" });
  });
});
