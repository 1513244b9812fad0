import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { ToolProgress } from "../contracts/event.ts";
import { defineTool, findTool, type Tool, ToolFailure } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

// The tools below do not look at their context.
const context = {} as ToolContext;

const Input = z.object({ name: z.string(), times: z.int().min(1).optional() });

function toolThat(call: (input: z.infer<typeof Input>) => Promise<string>): Tool {
  return defineTool({
    name: "Greet",
    aliases: ["Hello"],
    description: "Greets.",
    input: Input,
    call,
    toResult: (output) => output,
  });
}

async function run(tool: Tool, input: unknown): Promise<{ progress: ToolProgress[]; outcome: ToolOutcome }> {
  const bound = tool.bind(input);
  if (!bound.ok) throw new Error(bound.problem);
  const progress: ToolProgress[] = [];
  const outcome = await bound.run({ ...context, report: (each) => progress.push(each) });
  return { progress, outcome };
}

describe("a tool", () => {
  it("has careful defaults", () => {
    const tool = toolThat(async () => "");
    expect(tool).toMatchObject({ interruptBehavior: "block", needsWholeMessage: false, lane: "tool" });
    expect(tool.bind({ name: "x" })).toMatchObject({ ok: true, isReadOnly: false, isConcurrencySafe: false });
  });

  it("is safe beside others if it only reads, unless it says otherwise", () => {
    const base = {
      name: "T",
      description: "",
      input: Input,
      call: async () => "",
      toResult: (x: string) => x,
    };
    const reader = defineTool({ ...base, isReadOnly: (input) => input.name === "ls" });
    expect(reader.bind({ name: "ls" })).toMatchObject({ isReadOnly: true, isConcurrencySafe: true });
    expect(reader.bind({ name: "rm" })).toMatchObject({ isReadOnly: false, isConcurrencySafe: false });
    const lonely = defineTool({ ...base, isReadOnly: () => true, isConcurrencySafe: () => false });
    expect(lonely.bind({ name: "x" })).toMatchObject({ isReadOnly: true, isConcurrencySafe: false });
  });

  it("may answer without a promise, and fail without one", async () => {
    // Nobody checks the types of a tool that is written in JavaScript.
    const plain = toolThat((() => "hi") as unknown as () => Promise<string>);
    expect((await run(plain, { name: "x" })).outcome.content).toBe("hi");
    const failing = toolThat(() => {
      throw new ToolFailure("no");
    });
    await expect(run(failing, { name: "x" })).rejects.toThrow("no");
  });

  it("shows its input to the model as JSON schema, the same object every time", () => {
    const tool = toolThat(async () => "");
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, times: { type: "integer", minimum: 1 } },
    });
    expect(tool.inputSchema).not.toHaveProperty("$schema");
    expect(tool.inputSchema).toBe(tool.inputSchema);
  });

  it.each([[undefined], [null], ["text"], [[]], [{}], [{ name: 3 }], [{ name: "x", times: 0 }]])(
    "says what is wrong with the input %j, and never throws",
    (input) => {
      const bound = toolThat(async () => "").bind(input);
      expect(bound.ok).toBe(false);
      expect(bound).toHaveProperty("problem", expect.stringMatching(/^The input of Greet does not fit/));
    },
  );

  it("names every field that is wrong", () => {
    const bound = toolThat(async () => "").bind({ name: 3, times: "many" });
    expect(bound).toHaveProperty("problem", expect.stringMatching(/\n- name: .*\n- times: /));
  });

  it("hands out progress, then the outcome with its structured output", async () => {
    const tool = defineTool({
      name: "Count",
      description: "",
      input: Input,
      async call(_input, { report }) {
        report?.({ text: "one" });
        report?.({ text: "two" });
        return { sum: 3 };
      },
      toResult: (output) => `sum ${output.sum}`,
    });
    const { progress, outcome } = await run(tool, { name: "x" });
    expect(progress).toEqual([{ text: "one" }, { text: "two" }]);
    expect(outcome).toEqual({ content: "sum 3", isError: false, output: { sum: 3 } });
  });

  it("may report an error without throwing", async () => {
    const tool = defineTool({
      name: "Fail",
      description: "",
      input: Input,
      call: async () => 7,
      toResult: () => ({ content: "exit 7", isError: true, failsSiblings: true }),
    });
    expect((await run(tool, { name: "x" })).outcome).toEqual({
      content: "exit 7",
      isError: true,
      failsSiblings: true,
      output: 7,
    });
  });

  it("lets failures through as they are", async () => {
    const tool = toolThat(() => Promise.reject(new ToolFailure("no such file")));
    await expect(run(tool, { name: "x" })).rejects.toThrow(ToolFailure);
  });

  it("is found by name before alias", () => {
    const greet = toolThat(async () => "");
    const hello = { ...greet, name: "Hello", aliases: [] };
    expect(findTool([greet, hello], "Hello")).toBe(hello);
    expect(findTool([greet], "Hello")).toBe(greet);
    expect(findTool([greet], "hello")).toBeUndefined();
  });
});
