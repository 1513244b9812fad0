import { describe, expect, it } from "vitest";
import type { OptionSpec } from "./arguments.ts";
import { helpText, helpTopics } from "./help.ts";
import { agentsOptions, doctorOptions, permissionsOptions, runOptions, tasksOptions } from "./options.ts";

describe("helpText", () => {
  it.each([undefined, ...helpTopics])("fits 80 columns and ends with a line break (%s)", (topic) => {
    const text = helpText(topic);
    expect(text.split("\n").filter((line) => line.length > 79)).toEqual([]);
    expect(text.endsWith("\n")).toBe(true);
    expect(text).toContain("Example");
  });

  it.each([
    [undefined, runOptions],
    ["agents", agentsOptions],
    ["doctor", doctorOptions],
    ["permissions", permissionsOptions],
    ["tasks", tasksOptions],
  ] as const)("tells the other names of an option, and keeps its words whole (%s)", (topic, table) => {
    const words = helpText(topic).replace(/\s+/g, " ");
    for (const spec of table as readonly OptionSpec[]) {
      expect(words).toContain(spec.help);
      for (const alias of spec.aliases ?? []) expect(words).toContain(`(also --${alias})`);
    }
  });

  it("names every option once", () => {
    const lines = helpText().split("\n");
    for (const { name } of runOptions)
      expect(lines.filter((line) => new RegExp(`^ {2}(-\\w, | {4})--${name}( |$)`).test(line))).toHaveLength(
        1,
      );
  });
});
