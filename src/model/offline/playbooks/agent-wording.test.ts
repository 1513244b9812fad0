import { describe, expect, it } from "vitest";
import { readWording } from "../wording.ts";
import { agentWish, readings } from "./agent-wording.ts";

const wishOf = (prompt: string) => agentWish(readWording(prompt));

describe("a request for an agent", () => {
  it.each([
    ["ask an Explore agent where the parser is", "Explore", "where the parser is"],
    ["Please use the explore agent to find parseArgs.", "Explore", "find parseArgs"],
    ["use an agent to map this repository", undefined, "map this repository"],
    ["have a sub-agent list the TODOs", undefined, "list the TODOs"],
    ["let another subagent review my change", undefined, "review my change"],
    ["start a new general-purpose agent to run the tests", "general-purpose", "run the tests"],
    ["could you launch a `code-reviewer` agent and review my change?", "code-reviewer", "review my change"],
    ["use Explore to find parseArgs", "Explore", "find parseArgs"],
    ["with an agent, list TODOs", undefined, "list TODOs"],
    ["list TODOs in src using an Explore agent", "Explore", "list TODOs in src"],
    ["delegate list TODOs to an agent", undefined, "list TODOs"],
    ["delegate to an agent: list TODOs", undefined, "list TODOs"],
    ["send an Explore agent into src", "Explore", "into src"],
  ])("says which one and what for: %s", (prompt, agentType, task) => {
    expect(wishOf(prompt)).toEqual({
      ...(agentType === undefined ? {} : { agentType }),
      inBackground: false,
      task,
    });
  });

  it.each([
    "start an agent in the background to run the tests",
    "start a background agent to run the tests",
    "have an agent run the tests in the background",
  ])("says whether one waits for it: %s", (prompt) => {
    expect(wishOf(prompt)).toEqual({ inBackground: true, task: "run the tests" });
  });

  it.each([
    "start an agent named scout in the background to run the tests",
    "start a background agent called `scout` to run the tests",
  ])("says what it shall be called: %s", (prompt) => {
    expect(wishOf(prompt)).toEqual({ inBackground: true, name: "scout", task: "run the tests" });
  });

  it.each([
    "what is an agent",
    "explain the agent",
    "use an agent",
    "write an agent that lists TODOs",
    "find the agent tool",
    "ask a very old and wise agent to sing",
    "Explore the folder `agents` and report what is in it.",
  ])("is not seen where there is none: %s", (prompt) => {
    expect(wishOf(prompt)).toBeUndefined();
  });

  it.each([
    ["where the parser is", "where is the parser"],
    ["find parseArgs and report back to me", "find parseArgs"],
    ["where the parser is and tell me what it finds", "where is the parser"],
    ["into src/", "explore src/"],
  ])("may be meant as another request: %s", (task, meant) => {
    expect(readings(task)).toContain(meant);
  });
});
