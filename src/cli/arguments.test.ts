import { describe, expect, it } from "vitest";
import { parseArguments, splitRules, UsageError } from "./arguments.ts";
import { runOptions } from "./options.ts";

const parse = (...argv: string[]) => parseArguments(runOptions, argv);

function complaintOf(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${argv.join(" ")}`);
}

describe("parseArguments", () => {
  it("reads both forms of a value, aliases and either spelling", () => {
    for (const argv of [
      ["--max-cost", "0.5"],
      ["--max-cost=0.5"],
      ["--max-budget-usd=.5"],
      ["--maxCost", "0.5"],
      ["--maxBudgetUsd", "0.50"],
    ])
      expect(parse(...argv).values["max-cost"]).toBe(0.5);
  });

  it("leaves what was not given undefined, false or empty", () => {
    const { values, positionals } = parse();
    expect(values.model).toBeUndefined();
    expect(values.print).toBe(false);
    expect(values["add-dir"]).toEqual([]);
    expect(positionals).toEqual([]);
  });

  it("keeps the prompt wherever it stands, and takes options after it", () => {
    const { values, positionals } = parse("-p", "say hi", "--model", "opus");
    expect(positionals).toEqual(["say hi"]);
    expect(values.print).toBe(true);
    expect(values.model).toBe("opus");
  });

  it("ends options at --, so that a prompt may begin with a dash", () => {
    expect(parse("-p", "--", "--model", "-x").positionals).toEqual(["--model", "-x"]);
  });

  it("takes a value that begins with a dash, but not another option", () => {
    expect(parse("--append-system-prompt", "- be brief").values["append-system-prompt"]).toBe("- be brief");
    expect(complaintOf("--model", "--print")).toBe("--model needs a value");
    expect(complaintOf("--model", "-p")).toBe("--model needs a value");
    expect(complaintOf("--permission-mode")).toMatch(/needs a value: default, acceptEdits/);
  });

  it("takes empty values where they mean something", () => {
    expect(parse("--system-prompt", "").values["system-prompt"]).toBe("");
    expect(parse("--allowedTools=").values["allowed-tools"]).toEqual([]);
    expect(complaintOf("--model=")).toMatch(/not empty/);
  });

  it("keeps everything after the first equals sign", () => {
    expect(parse("--append-system-prompt=a=b=c").values["append-system-prompt"]).toBe("a=b=c");
  });

  it("adds up repeated lists, and lets the last of a single value win", () => {
    expect(parse("--add-dir", "a", "--add-dir=b, c").values["add-dir"]).toEqual(["a", "b, c"]);
    expect(
      parse("--allowedTools", "Read,Edit", "--allowed-tools=Bash(git log:*)").values["allowed-tools"],
    ).toEqual(["Read", "Edit", "Bash(git log:*)"]);
    expect(parse("--model=a", "--model=b").values.model).toBe("b");
  });

  it("ignores an empty argument, which some programs add after a flag", () => {
    expect(parse("--verbose", "").positionals).toEqual([]);
  });

  it.each(["0", "-1", "1.5", "1e3", "0x10", "ten", "9999999999999999", " 5"])(
    "does not take %j for a number of turns",
    (value) => {
      expect(complaintOf(`--max-turns=${value}`)).toContain(`not "${value}"`);
    },
  );

  it.each(["0", "-1", "0.0", "NaN", "Infinity", "1,5", "$5", "."])(
    "does not take %j for an amount",
    (value) => {
      expect(complaintOf(`--max-cost=${value}`)).toMatch(/above 0/);
    },
  );

  it("names the nearest option when one is misspelt", () => {
    expect(complaintOf("--modle", "x")).toBe("unknown option --modle (did you mean --model?)");
    expect(complaintOf("--outputformat", "x")).toContain("did you mean --output-format?");
    expect(complaintOf("--frobnicate")).toBe("unknown option --frobnicate");
    expect(complaintOf("-x")).toMatch(/^unknown option -x/);
  });

  it("lists the choices when a value is not one of them", () => {
    expect(complaintOf("--output-format", "yaml")).toBe(
      '--output-format "yaml" is not known: text, json, stream-json',
    );
  });

  it("reads flags with true and false, and nothing else", () => {
    expect(parse("--verbose=true").values.verbose).toBe(true);
    expect(parse("--verbose=false").values.verbose).toBe(false);
    expect(complaintOf("--verbose=maybe")).toContain("takes no value");
  });

  it("lets an option that may stand alone do so at the end and before another option", () => {
    expect(parse("--resume").values.resume).toBe("");
    expect(parse("-r", "--verbose")).toMatchObject({ values: { resume: "", verbose: true } });
    expect(parse("-r", "some-id", "go")).toMatchObject({
      values: { resume: "some-id" },
      positionals: ["go"],
    });
    expect(parse("go").values.resume).toBeUndefined();
  });

  it("is not confused by names that objects inherit", () => {
    expect(complaintOf("--constructor")).toContain("unknown option");
    expect(complaintOf("--__proto__")).toContain("unknown option");
  });
});

describe("splitRules", () => {
  it("splits at commas and spaces, but not inside parentheses", () => {
    expect(splitRules(" Read, Bash(git log:*, -n 5)  Edit(src/(a b)/**),,")).toEqual([
      "Read",
      "Bash(git log:*, -n 5)",
      "Edit(src/(a b)/**)",
    ]);
  });
});
