import { expect, test } from "vitest";
import { createValidator, type JsonSchema } from "./json-schema.ts";

const cases: [schema: JsonSchema, fitting: unknown[], misfitting: unknown[]][] = [
  [{}, [1, null, "a", {}], []],
  [{ type: "string", minLength: 2, maxLength: 3 }, ["ab", "😀😀😀"], ["a", "abcd", 12]],
  [{ type: "integer" }, [1, 1.0], [1.5, "1", null]],
  [{ type: ["string", "null"] }, ["a", null], [1, undefined]],
  [{ type: "object" }, [{}], [[], null]],
  [{ type: "array" }, [[]], [{}]],
  [{ enum: ["a", 1, { b: [1] }] }, ["a", 1, { b: [1] }], ["b", { b: [2] }]],
  [{ const: null }, [null], [undefined, 0]],
  [{ pattern: "^a" }, ["ab", 5], ["ba"]],
  [{ format: "date-time" }, ["2024-01-02T03:04:05Z"], ["2024-01-02"]],
  [{ format: "made-up" }, ["anything"], []],
  [{ format: "toString" }, ["anything"], []],
  [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0, 3]],
  [{ multipleOf: 0.1 }, [0.3, 1], [0.35]],
  [{ required: ["a"] }, [{ a: undefined }, { a: 1 }, "not an object"], [{}, { b: 1 }]],
  [{ required: ["toString"] }, [], [{}]],
  [{ properties: { a: { type: "string" } } }, [{ a: "x", b: 1 }, {}], [{ a: 1 }]],
  [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "x" }]],
  [
    { properties: { a: {} }, patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
    [{ a: 1, x1: 2 }],
    [{ x1: "s" }, { b: 1 }],
  ],
  [{ propertyNames: { pattern: "^[a-z]+$" } }, [{ a: 1 }], [{ A: 1 }]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  [{ dependentRequired: { a: ["b"] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ items: { type: "number" }, minItems: 1, maxItems: 2 }, [[1]], [[], ["a"], [1, 2, 3]]],
  [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1]], [["a", "b"], [1]]],
  [{ items: [{ type: "string" }], additionalItems: false }, [["a"]], [["a", 1]]],
  [{ uniqueItems: true }, [[1, "1", { a: 1 }]], [[{ a: 1 }, { a: 1 }]]],
  [{ contains: { const: 5 } }, [[1, 5]], [[1]]],
  [{ allOf: [{ required: ["a"] }, { required: ["b"] }] }, [{ a: 1, b: 1 }], [{ a: 1 }]],
  [{ anyOf: [{ type: "string" }, { type: "number" }] }, ["a", 1], [true]],
  [{ oneOf: [{ type: "number" }, { const: 1 }] }, [2], [1, "a"]],
  [{ not: { type: "string" } }, [1], ["a"]],
  [
    {
      if: { properties: { k: { const: "a" } }, required: ["k"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
      then: { required: ["x"] },
      else: { required: ["y"] },
    },
    [
      { k: "a", x: 1 },
      { k: "b", y: 1 },
    ],
    [
      { k: "a", y: 1 },
      { k: "b", x: 1 },
    ],
  ],
  [{ properties: { no: false } }, [{}], [{ no: 1 }]],
  [
    {
      $ref: "#/$defs/tree",
      $defs: { tree: { properties: { child: { $ref: "#/$defs/tree" } }, additionalProperties: false } },
    },
    [{ child: { child: {} } }],
    [{ child: { child: { x: 1 } } }],
  ],
  [{ $ref: "#/definitions/a~1b", definitions: { "a/b": { type: "number" } } }, [1], ["x"]],
];

test.each(cases)("%j", (schema, fitting, misfitting) => {
  const validate = createValidator(schema);
  for (const value of fitting) expect({ value, misfits: validate(value) }).toEqual({ value, misfits: [] });
  for (const value of misfitting)
    expect({ value, misfits: validate(value) }).not.toEqual({ value, misfits: [] });
});

test("the field of a misfit is told with its path", () => {
  const validate = createValidator({
    properties: { items: { items: { properties: { name: { type: "string" } }, required: ["name"] } } },
  });
  expect(validate({ items: [{ name: "a" }, { name: 1 }, {}] })).toEqual([
    { field: "items.1.name", problem: "must be string, not number" },
    { field: "items.2.name", problem: "is missing" },
  ]);
});

test("of several forms the closest one is explained", () => {
  const form = (kind: string) => ({
    properties: { kind: { const: kind }, n: { type: "number" } },
    required: ["kind", "n"],
  });
  const misfits = createValidator({ anyOf: [{ type: "string" }, form("a"), form("b")] })({
    kind: "b",
    n: "x",
  });
  expect(misfits).toContainEqual({ field: "n", problem: "must be number, not string" });
  expect(misfits).not.toContainEqual({ field: "kind", problem: 'must be "a"' });
});

test("a schema that only refers to itself ends", () => {
  expect(createValidator({ $ref: "#" })(1)).toEqual([{ field: "", problem: "is nested too deeply" }]);
});
