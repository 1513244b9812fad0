import { afterEach, beforeEach, expect, test } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import type { JsonSchema } from "./json-schema.ts";
import { createStructuredOutputTool } from "./structured-output.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

function toolFor(jsonSchema: JsonSchema) {
  const values: unknown[] = [];
  return { values, tool: createStructuredOutputTool({ jsonSchema, onValue: (value) => values.push(value) }) };
}

const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0, default: 3 } },
  required: ["name"],
  additionalProperties: false,
};

test("the model sees the caller's schema, and an answer that fits is handed over as it is", async () => {
  const { tool, values } = toolFor(person);
  expect(tool.inputSchema).toEqual(person);
  await scene.run(tool, { name: "Ada" });
  expect(values).toEqual([{ name: "Ada" }]);
});

test("a misfit names the fields and hands nothing over", async () => {
  const { tool, values } = toolFor(person);
  const failure = await scene.fail(tool, { age: -1, nmae: "Ada" });
  expect(failure).toContain("- name: is missing");
  expect(failure).toContain("- age: must be at least 0");
  expect(failure).toContain("- nmae: is not a known field");
  expect(values).toEqual([]);
});

test("an answer that is no object travels in a field", async () => {
  const { tool, values } = toolFor({
    type: "array",
    items: { $ref: "#/$defs/n" },
    $defs: { n: { type: "number" } },
  });
  expect(tool.inputSchema).toMatchObject({
    type: "object",
    required: ["value"],
    $defs: { n: { type: "number" } },
  });
  await scene.run(tool, { value: [1, 2] });
  expect(values).toEqual([[1, 2]]);
  expect(await scene.fail(tool, { value: ["x"] })).toContain("- 0: must be number, not string");
  expect(await scene.fail(tool, {})).toContain("the answer: must be array, not missing");
});

test.each([
  [{ $ref: "https://example.com/schema.json" }, /refers to https/],
  [{ properties: { a: { $ref: "#/$defs/none" } } }, /does not contain/],
  [{ properties: { a: { pattern: "(" } } }, /not a regular expression/],
])("the schema %j is refused at once", (schema, problem) => {
  expect(() => toolFor(schema)).toThrow(problem);
});
