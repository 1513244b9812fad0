import * as z from "zod";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import { createValidator, type JsonSchema, type Misfit } from "./json-schema.ts";

export interface StructuredOutputDeps {
  /** What the answer must fit. A schema that is not of an object is asked for in a field `value`. */
  readonly jsonSchema: JsonSchema;
  /** Called with every answer that fits; the last one counts. */
  readonly onValue: (value: unknown) => void;
}

const description =
  "Hands over the final answer in the form that was asked for. Call it once, at the end, with the whole answer: what you write besides is not read by a program. If it is refused, mend the fields that are named and call it again.";

export function createStructuredOutputTool({ jsonSchema, onValue }: StructuredOutputDeps): Tool {
  const isObject =
    jsonSchema.type === "object" || (jsonSchema.type === undefined && "properties" in jsonSchema);
  const validate = createValidator(jsonSchema);
  const base = defineTool({
    name: "StructuredOutput",
    description,
    input: z.record(z.string(), z.unknown()),
    isReadOnly: () => true,
    isConcurrencySafe: () => false,
    async call(input) {
      const value = isObject ? input : input.value;
      const misfits = validate(value);
      if (misfits.length > 0) throw new ToolFailure(describeMisfits(misfits));
      onValue(value);
      return value;
    },
    toResult: () => "The answer was taken. End your turn now.",
  });
  return { ...base, inputSchema: isObject ? jsonSchema : wrapped(jsonSchema) };
}

function wrapped(jsonSchema: JsonSchema): JsonSchema {
  const { $schema: _, $defs, definitions, ...rest } = jsonSchema;
  return {
    type: "object",
    properties: { value: rest },
    required: ["value"],
    additionalProperties: false,
    // References start at the top.
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

function describeMisfits(misfits: readonly Misfit[]): string {
  const shown = misfits.slice(0, 20).map(({ field, problem }) => `- ${field || "the answer"}: ${problem}`);
  const more = misfits.length > shown.length ? `\n- and ${misfits.length - shown.length} more` : "";
  return `The answer does not fit the schema:\n${shown.join("\n")}${more}\nMend these fields and call StructuredOutput again.`;
}
