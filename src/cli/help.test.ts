import { describe, expect, it } from "vitest";
import { helpText, helpTopics } from "./help.ts";
import { runOptions } from "./options.ts";

describe("helpText", () => {
  it.each([undefined, ...helpTopics])("fits 80 columns and ends with a line break (%s)", (topic) => {
    const text = helpText(topic);
    expect(text.split("\n").filter((line) => line.length > 79)).toEqual([]);
    expect(text.endsWith("\n")).toBe(true);
    expect(text).toContain("Example");
  });

  it("names every option once", () => {
    const lines = helpText().split("\n");
    for (const { name } of runOptions)
      expect(lines.filter((line) => new RegExp(`^  (-\\w, )?--${name}( |$)`).test(line))).toHaveLength(1);
  });
});
