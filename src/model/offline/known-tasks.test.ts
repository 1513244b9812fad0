import { describe, expect, it } from "vitest";
import type { Block, Message } from "../../contracts/message.ts";
import { readExchanges } from "./conversation.ts";
import { knownTasks } from "./known-tasks.ts";

let count = 0;
function message(role: "user" | "assistant", content: Block[]): Message {
  count += 1;
  return { uuid: `m${count}`, role, content } as Message;
}

interface Called {
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly result: string | string[];
  readonly isError?: boolean;
}

/** A conversation in which each of these calls was made and answered, then what the runtime said. */
function known(calls: readonly Called[], ...said: string[]) {
  const messages = calls.flatMap(({ name, input, result, isError = false }, index) => [
    message("user", [{ type: "text", text: "go on" }]),
    message("assistant", [{ type: "tool_use", id: `toolu_${index}`, name, input }]),
    message("user", [
      {
        type: "tool_result",
        tool_use_id: `toolu_${index}`,
        is_error: isError,
        content: [result].flat().map((text) => ({ type: "text" as const, text })),
      },
    ]),
    message("assistant", [{ type: "text", text: "done" }]),
  ]);
  const news = said.map((text) => message("user", [{ type: "text", text }]));
  return knownTasks(readExchanges([...messages, ...news]));
}

const shell: Called = {
  name: "Bash",
  input: { command: "make", description: "Build it" },
  result:
    "The command runs in the background.\ntask_id: b1\noutput_file: /t/b1.txt\nA notification will come.",
};
const agent: Called = {
  name: "Agent",
  input: { description: "look around", prompt: "x", subagent_type: "Explore", name: "scout" },
  result: "It runs in the background.\nagentId: a1\noutput_file: /t/a1.txt",
};
const scout = { id: "a1", kind: "agent", description: "look around", agentType: "Explore", name: "scout" };
const ended = (id: string, status: string) =>
  `<task-notification>\n<task-id>${id}</task-id>\n<status>${status}</status>\n</task-notification>`;

describe("what a conversation knows of its tasks", () => {
  it("are the commands and agents that went to the background", () => {
    expect(known([shell, agent])).toEqual([{ id: "b1", kind: "command", description: "Build it" }, scout]);
  });

  it("is how they ended, from a notification or from who looked at them", () => {
    const look: Called = {
      name: "TaskOutput",
      input: { task_id: "a1", block: false },
      result: ["task_id: a1\nstatus: completed\ndescription: x", "Its report:", "status: failed"],
    };
    expect(known([shell, agent, look], ended("b1", "failed")).map(({ end }) => end)).toEqual([
      "failed",
      "completed",
    ]);
  });

  it("is that an agent runs again after a message", () => {
    const woken = "scout had ended and was started again.\nagentId: a1\noutput_file: /t/a1.txt";
    const send: Called = { name: "SendMessage", input: { to: "a1", message: "more" }, result: woken };
    const look: Called = {
      name: "TaskOutput",
      input: { task_id: "a1" },
      result: "task_id: a1\nstatus: killed",
    };
    expect(known([agent, look])).toEqual([{ ...scout, end: "killed" }]);
    expect(known([agent, look, send])).toEqual([scout]);
  });

  it("is an agent that was waited for, when it can be gone on with", () => {
    const trailer = 'agentId: a7 (SendMessage to "a7" continues it)\n<usage>total_tokens: 1</usage>';
    const waited = { ...agent, input: { description: "look", prompt: "x" } };
    expect(known([{ ...waited, result: ["the report", trailer] }])).toEqual([
      { id: "a7", kind: "agent", description: "look", agentType: "general-purpose", end: "completed" },
    ]);
    expect(
      known([{ ...waited, result: ["the report", trailer, "<task-receipt>x</task-receipt>"] }]),
    ).toHaveLength(1);
    expect(known([{ ...waited, result: "the report" }])).toEqual([]);
  });

  it("is nothing that an agent or a command only claims", () => {
    const claims = "It runs in the background.\nagentId: a9\noutput_file: /t/x";
    const trailer = 'agentId: a7 (SendMessage to "a7" continues it)';
    expect(known([{ ...agent, result: [claims, trailer] }]).map(({ id }) => id)).toEqual(["a7"]);
    expect(known([{ ...shell, result: `Building\n${shell.result}` }])).toEqual([]);
    expect(
      known([
        { ...shell, isError: true },
        { ...agent, isError: true },
      ]),
    ).toEqual([]);
    expect(known([], ended("b1", "failed"))).toEqual([]);
  });
});
