import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAgentNames } from "./agent-names.ts";

const running = () => true;
const ended = () => false;

describe("a name", () => {
  it("leads to its agent and back, in any case and with blanks around it", () => {
    const names = createAgentNames();
    expect(names.exist).toBe(false);
    names.claim("  Code  reviewer ", "a1", running);
    expect(names.exist).toBe(true);
    expect(names.nameOf("a1")).toBe("Code reviewer");
    for (const written of ["Code reviewer", "code reviewer", " CODE  REVIEWER"])
      expect(names.idOf(written)).toBe("a1");
    expect(names.idOf("reviewer")).toBeUndefined();
    expect(names.nameOf("a2")).toBeUndefined();
  });

  it("in use by a running agent is refused, and stays where it is", () => {
    const names = createAgentNames();
    names.claim("reviewer", "a1", running);
    expect(() => names.claim("Reviewer", "a2", (id) => id === "a1")).toThrow(
      /"reviewer" belongs to an agent that is running \(a1\)/,
    );
    expect(names.idOf("reviewer")).toBe("a1");
    expect(names.nameOf("a2")).toBeUndefined();
  });

  it("goes to the newest once the old one has ended, and the old one has none", () => {
    const names = createAgentNames();
    names.claim("reviewer", "a1", running);
    names.claim("reviewer", "a2", ended);
    expect(names.idOf("reviewer")).toBe("a2");
    expect(names.nameOf("a1")).toBeUndefined();
    expect(names.list()).toEqual([{ name: "reviewer", agentId: "a2" }]);
  });

  it("can be claimed again by its own agent, and replaced by another", () => {
    const names = createAgentNames();
    names.claim("reviewer", "a1", running);
    names.claim("Reviewer", "a1", running);
    expect(names.nameOf("a1")).toBe("Reviewer");
    names.claim("tester", "a1", running);
    expect(names.idOf("reviewer")).toBeUndefined();
    expect(names.idOf("tester")).toBe("a1");
  });

  it("goes back to whoever had it when a start fails", () => {
    const names = createAgentNames();
    names.claim("reviewer", "a1", running);
    names.claim("tester", "a2", running);
    const undo = names.claim("reviewer", "a2", ended);
    undo();
    expect(names.list()).toEqual([
      { name: "reviewer", agentId: "a1" },
      { name: "tester", agentId: "a2" },
    ]);
  });

  it("stays where it is when a start fails after others have gone on", () => {
    const names = createAgentNames();
    names.claim("tester", "a2", running);
    const late = names.claim("tester", "a3", ended);
    names.claim("tester", "a4", ended);
    late();
    expect(names.idOf("tester")).toBe("a4");
    expect(names.nameOf("a2")).toBeUndefined();

    const renamed = names.claim("reviewer", "a5", ended);
    names.claim("tester", "a5", ended);
    renamed();
    expect(names.nameOf("a5")).toBe("tester");

    const displaced = names.claim("tester", "a6", ended);
    names.claim("writer", "a5", ended);
    displaced();
    expect(names.list()).toEqual([{ name: "writer", agentId: "a5" }]);
  });

  it.each(["a", "x".repeat(64), "code-reviewer_2.1", "Prüfer", "レビュー", "Code reviewer", "-", "mainly"])(
    "may be %s",
    (name) => {
      const names = createAgentNames();
      names.claim(name, "a1", running);
      expect(names.nameOf("a1")).toBe(name);
    },
  );

  it.each([
    ["", "empty"],
    [" \t ", "empty"],
    ["x".repeat(65), "longer than 64"],
    ["*", "other characters"],
    ["uds:x", "other characters"],
    ["a:b", "other characters"],
    ["a\nb", "other characters"],
    ['a" id="main', "other characters"],
    ["</agent-message>", "other characters"],
    ["a\u200Bb", "other characters"],
    ["main\u034F", "other characters"],
    ["rev\u3164iewer", "other characters"],
    ["m\u0430in", "mixes alphabets"],
    ["main", "somebody else"],
    ["User", "somebody else"],
    ["ｍａｉｎ", "somebody else"],
  ])("cannot be %j", (name, problem) => {
    const names = createAgentNames();
    expect(() => names.claim(name, "a1", ended)).toThrow(problem);
    expect(() => names.claim(name, "a1", ended)).toThrow('letters, digits, "_", "-", "."');
    expect(names.list()).toEqual([]);
  });

  it("is never one that could leave its attribute", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const names = createAgentNames();
        try {
          names.claim(name, "a1", ended);
        } catch {
          return;
        }
        expect(names.nameOf("a1")).not.toMatch(/[<>"'&:*\p{C}]/u);
      }),
      { numRuns: 1_000 },
    );
  });
});

it("restores names in the order of their start, without those that are none", () => {
  const names = createAgentNames();
  names.restore([
    { name: "reviewer", agentId: "a1" },
    { agentId: "a2" },
    { name: "main", agentId: "a3" },
    { name: "reviewer", agentId: "a4" },
    { name: "tester", agentId: "a5" },
  ]);
  expect(names.list()).toEqual([
    { name: "reviewer", agentId: "a4" },
    { name: "tester", agentId: "a5" },
  ]);
});

it("gives each name to one agent and each agent one name, whatever is claimed and undone", () => {
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    agentId: fc.constantFrom("1", "2", "3", "4"),
    undone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const names = createAgentNames();
      for (const { name, agentId, undone } of steps) {
        const before = names.list();
        const undo = names.claim(name, agentId, ended);
        if (undone) {
          undo();
          expect(new Set(names.list())).toEqual(new Set(before));
        }
        const list = names.list();
        expect(new Set(list.map((each) => each.name)).size).toBe(list.length);
        expect(new Set(list.map((each) => each.agentId)).size).toBe(list.length);
        for (const each of list) {
          expect(names.idOf(each.name)).toBe(each.agentId);
          expect(names.nameOf(each.agentId)).toBe(each.name);
        }
      }
    }),
  );
});
