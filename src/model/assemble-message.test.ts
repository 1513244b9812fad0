import { describe, expect, test } from "vitest";
import type { BlockDelta, StreamedBlock } from "../contracts/event.ts";
import { createAssembler } from "./assemble-message.ts";

function assemble(block: StreamedBlock, deltas: BlockDelta[]) {
  const assembler = createAssembler();
  assembler.accept({ type: "block-start", index: 0, block });
  for (const delta of deltas) {
    expect(assembler.accept({ type: "block-delta", index: 0, delta })).toBeUndefined();
  }
  return assembler.accept({ type: "block-stop", index: 0 });
}

function callWith(...json: string[]) {
  return assemble(
    { type: "tool_use", id: "t1", name: "Edit" },
    json.map((part) => ({ type: "input-json", json: part })),
  );
}

describe("blocks", () => {
  test("text goes on from what its start held", () => {
    const done = assemble({ type: "text", text: "He" }, [
      { type: "text", text: "ll" },
      { type: "text", text: "o" },
    ]);
    expect(done).toEqual({ block: { type: "text", text: "Hello" } });
  });

  test("thinking keeps its text and its signature apart", () => {
    const done = assemble({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking", thinking: "hm" },
      { type: "signature", signature: "si" },
      { type: "signature", signature: "g" },
    ]);
    expect(done).toEqual({ block: { type: "thinking", thinking: "hm", signature: "sig" } });
  });

  test("redacted thinking is kept as it came", () => {
    expect(assemble({ type: "redacted_thinking", data: "opaque" }, [])).toEqual({
      block: { type: "redacted_thinking", data: "opaque" },
    });
  });

  test("a delta for a block that is not open is a bug of the model", () => {
    const assembler = createAssembler();
    expect(() =>
      assembler.accept({ type: "block-delta", index: 3, delta: { type: "text", text: "x" } }),
    ).toThrow("block 3");
  });
});

describe("the input of a call", () => {
  test("is parsed when the block ends, wherever it was split", () => {
    expect(callWith('{"pa', 'th": "/a", "n', '": [1]}')).toEqual({
      block: { type: "tool_use", id: "t1", name: "Edit", input: { path: "/a", n: [1] } },
    });
  });

  test("that is empty is an empty object", () => {
    expect(callWith()?.block).toMatchObject({ input: {} });
    expect(callWith("", " ")).toEqual({ block: { type: "tool_use", id: "t1", name: "Edit", input: {} } });
  });

  test("that is broken is told with its beginning, and the call keeps its id", () => {
    const done = callWith(`{"path": "${"a".repeat(1000)}`);
    expect(done?.block).toEqual({ type: "tool_use", id: "t1", name: "Edit", input: {} });
    expect(done?.problem).toMatch(/^The input of Edit is not valid JSON.*It began with: \{"path": "aaa/);
    expect(done?.problem?.length).toBeLessThan(400);
  });

  test.each(["[]", "null", "42", '"text"', "true"])("that is %s is not an object", (json) => {
    expect(callWith(json)?.problem).toContain("is not a JSON object");
  });

  test("that is nested too deeply to be sent back is refused", () => {
    const depth = 200_000;
    const done = callWith(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    expect(done?.problem).toBeDefined();
    expect(done?.block).toMatchObject({ input: {} });
  });

  test("may hold keys that mean something to JavaScript", () => {
    const done = callWith('{"__proto__": {"polluted": 1}, "constructor": 2}');
    expect(JSON.stringify(done?.block)).toContain('"__proto__":{"polluted":1}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

test("of what had not ended only the beginning of a text can stand", () => {
  const assembler = createAssembler();
  assembler.accept({ type: "block-start", index: 0, block: { type: "text", text: "done" } });
  assembler.accept({ type: "block-stop", index: 0 });
  assembler.accept({
    type: "block-start",
    index: 1,
    block: { type: "thinking", thinking: "half", signature: "" },
  });
  assembler.accept({ type: "block-start", index: 2, block: { type: "tool_use", id: "t", name: "Read" } });
  assembler.accept({ type: "block-start", index: 3, block: { type: "text", text: "" } });
  assembler.accept({ type: "block-start", index: 4, block: { type: "text", text: "" } });
  assembler.accept({ type: "block-delta", index: 3, delta: { type: "text", text: "begun" } });
  expect(assembler.unfinishedText()).toBe("begun");
});
