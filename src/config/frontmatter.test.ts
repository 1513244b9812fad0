import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFrontmatterReader } from "./frontmatter.ts";
import { findProse } from "./frontmatter-mend.ts";
import { readPlainLines } from "./frontmatter-plain.ts";
import { readYaml } from "./frontmatter-yaml.ts";

const reader = createFrontmatterReader({
  knownKeys: ["name", "description", "tools", "model", "color", "allowed-tools"],
});

async function read(file: string | Uint8Array) {
  const { fields, body, present, reliable, repairs } = await reader.read(file);
  const values = Object.fromEntries(Array.from(fields, ([key, { value }]) => [key, value]));
  return { values, fields, body, present, reliable, repairs };
}

const lines = (...text: string[]) => text.join("\n");

describe("the fences (rule 1)", () => {
  it.each([
    ["plain", "---\nname: a\n---\nBody"],
    ["after a space without width", "\u200B---\nname: a\n---\nBody"],
    ["after a BOM", "\uFEFF---\nname: a\n---\nBody"],
    ["with Windows line ends", "---\r\nname: a\r\n---\r\nBody"],
    ["with the line ends of old", "---\rname: a\r---\rBody"],
    ["with line ends that were converted twice", "---\r\r\nname: a\r\r\n---\r\r\nBody"],
    ["after blank lines", "\n  \n---\nname: a\n---\nBody"],
    ["with blanks behind them", "--- \t\nname: a\n---  \nBody"],
    ["after a comment", "<!-- licence\n---\n-->\n\n---\nname: a\n---\nBody"],
    ["with only a longer one at the end", "---\nname: a\n--------\nBody"],
  ])("%s", async (_, file) => {
    expect(await read(file)).toMatchObject({ values: { name: "a" }, body: "Body", present: true });
  });

  it("leave no carriage returns between them", async () => {
    const file = lines("---", "description: a", "prose", "more", "---", "").replaceAll("\n", "\r\r\n");
    expect((await read(file)).values).toEqual({ description: "a\nprose\nmore" });
  });

  it("close at the first `---`, and others belong to the body", async () => {
    expect((await read("---\nname: a\n---\nOne\n---\nTwo\n-----\n")).body).toBe("One\n---\nTwo\n-----\n");
  });

  it("are not looked for inside of the text", async () => {
    const file = "# Title\n---\nname: a\n---\n";
    expect(await read(file)).toMatchObject({ present: false, body: file, repairs: [] });
  });

  it("that are never closed are none, with a warning", async () => {
    const file = "\n---\nname: a\n\nBody";
    expect(await read(file)).toMatchObject({
      present: false,
      body: file,
      values: {},
      repairs: [{ line: 2 }],
    });
  });

  it("below a comment are a rule of the text, unless fields follow", async () => {
    const file = "<!-- note -->\n---\nSome text\n---\nMore";
    expect(await read(file)).toMatchObject({ present: false, body: file });
  });

  it("may have nothing between them", async () => {
    expect(await read("---\n---\nBody")).toMatchObject({ present: true, values: {}, body: "Body" });
  });
});

describe("bytes", () => {
  it("that are not UTF-8 are replaced and reported with their line", async () => {
    const bytes = Buffer.concat([
      Buffer.from("---\nname: a\ncolor: r"),
      Buffer.from([0xff]),
      Buffer.from("d\n---\n"),
    ]);
    expect(await read(bytes)).toMatchObject({
      values: { name: "a", color: "r\uFFFDd" },
      repairs: [{ line: 3 }],
    });
  });

  it("of UTF-16 are read", async () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("---\nname: ä\n---\n", "utf16le")]);
    expect(await read(bytes)).toMatchObject({ values: { name: "ä" }, repairs: [{ line: 1 }] });
  });

  it("that are NUL are left out", async () => {
    expect(await read(Buffer.from("---\nname: a\0b\n---\nBo\0dy"))).toMatchObject({
      values: { name: "ab" },
      body: "Body",
      repairs: [{ line: 2 }],
    });
  });
});

describe("YAML (rule 2)", () => {
  it("has the core schema of 1.2: no timestamps, no yes and no, no merge keys", async () => {
    const file = "---\na: 2024-01-02\nb: yes\nc: 0x10\nd: null\ne: 1.50\n<<: {x: 1}\n---\n";
    const { values, fields } = await read(file);
    expect(values).toEqual({ a: "2024-01-02", b: "yes", c: 16, d: null, e: 1.5, "<<": { x: 1 } });
    expect(fields.get("e")?.source).toBe("1.50");
  });

  it("lets the last of two equal keys win and reports it", async () => {
    expect(await read("---\nname: a\ncolor: red\nname: b\n---\n")).toMatchObject({
      values: { name: "b" },
      repairs: [{ line: 4, what: expect.stringContaining("`name` is there twice") }],
    });
  });

  it("knows quoted keys, comments, and blocks of text", async () => {
    const file = lines("---", '"name": a # who', "# note", "description: >-", "  one", "  two", "---", "");
    expect((await read(file)).values).toEqual({ name: "a", description: "one two" });
  });

  it("says where each field stands", async () => {
    const { fields } = await read("\n---\nname: a\ndescription: |\n  x\n  y\ntools: [A]\n---\n");
    expect(Array.from(fields.values(), ({ line }) => line)).toEqual([3, 4, 7]);
  });
});

describe("values that are no YAML (rule 3)", () => {
  it.each([
    ["a colon", "Use it when: now. Examples: <example>user: hi</example>"],
    ["stars", "**bold**: text"],
    ["a lone star", "*"],
    ["what looks like an alias", "*bold*"],
    ["brackets with text after them", "[a] or [b]"],
    ["quotes with text after them", '"one" and "two"'],
    ["a quote that is not closed", '"one'],
    ["an apostrophe", "'tis it's"],
    ["an at sign", "@someone"],
    ["a back quote", "`code`"],
    ["a percent sign", "%d"],
    ["a tag", "!important thing"],
    ["a code tag", "!!js/function 'return 1'"],
    ["a brace", "{placeholder} of it"],
  ])("with %s are taken as they are", async (_, text) => {
    const { values, reliable, repairs } = await read(
      `---\nname: a\ndescription: ${text}\ntools: Read\n---\nBody`,
    );
    expect(values).toEqual({ name: "a", description: text, tools: "Read" });
    expect(reliable).toBe(true);
    expect(repairs).toEqual([{ line: 3, what: expect.stringContaining("`description`") }]);
  });

  it("are mended in unknown keys too, and the others stay what they are", async () => {
    const file = lines(
      "---",
      "argument-hint: [a] [b]",
      "tools:",
      "  - Read",
      "  - Grep",
      "count: 3",
      "---",
      "",
    );
    expect((await read(file)).values).toEqual({
      "argument-hint": "[a] [b]",
      tools: ["Read", "Grep"],
      count: 3,
    });
  });

  it("are not called quoted", async () => {
    const { fields } = await read("---\nname: 'a'\ndescription: b: c\n---\n");
    expect(fields.get("name")?.quoted).toBe(true);
    expect(fields.get("description")?.quoted).toBe(false);
  });

  it.each([
    ["tabs", "tools:\n\t- Read\n\t- Grep"],
    ["a tab after the colon of a list", "tools:\t\n  - Read\n  - Grep"],
    ["tabs beside spaces", "tools:\n  - Read\n\t- Grep"],
    ["blanks that do not break", "tools:\n\u00a0\u00a0- Read\n\u00a0\u00a0- Grep"],
  ])("because of %s are mended", async (_, tools) => {
    expect((await read(`---\nname: a\n${tools}\n---\n`)).values).toEqual({
      name: "a",
      tools: ["Read", "Grep"],
    });
  });

  it("lack only the space after the colon of a known key", async () => {
    expect(await read("---\nname:a\ndescription：b\ncolor:\u00a0red\n---\n")).toMatchObject({
      values: { name: "a", description: "b", color: "red" },
      repairs: [{ line: 2 }, { line: 3 }, { line: 4 }],
    });
  });
});

describe("the line reader (rule 4)", () => {
  const file = lines(
    "---",
    "name: a",
    "description: Use it: often",
    "",
    "<example>",
    "Context: the user asks",
    'user: "hi"',
    "</example>",
    "tools: Read, Grep",
    "model: opus",
    "---",
    "Body",
  );

  it("continues the description with all that is no known key", async () => {
    const { values, reliable, body } = await read(file);
    expect(values).toEqual({
      name: "a",
      description: 'Use it: often\n\n<example>\nContext: the user asks\nuser: "hi"\n</example>',
      tools: "Read, Grep",
      model: "opus",
    });
    expect(reliable).toBe(false);
    expect(body).toBe("Body");
  });

  it("reports the line at which YAML gave up", async () => {
    expect((await read(file)).repairs).toMatchObject([
      { line: 5, what: expect.stringContaining("line by line") },
    ]);
  });

  it("takes lists and blocks of known keys", async () => {
    const broken = lines(
      "---",
      "description: a",
      "prose",
      "tools:",
      "- Read",
      "- Grep",
      "color: red",
      "---",
      "",
    );
    expect((await read(broken)).values).toEqual({
      description: "a\nprose",
      tools: ["Read", "Grep"],
      color: "red",
    });
  });

  it("loses nothing of the description that would be another key or a comment", async () => {
    const broken = lines("---", "description: b", "# Title", "Context: hi", "tools: [Read,", "  Grep", "---");
    expect((await read(broken)).values).toMatchObject({ description: "b\n# Title\nContext: hi" });
  });

  it("keeps headings, and takes the first of two equal keys, in doubt", async () => {
    const broken = lines(
      "---",
      "name: a",
      "description: b",
      "# Title",
      "prose",
      "tools: Read",
      "name: c",
      "tools: *",
      "---",
    );
    const { values, fields } = await read(broken);
    expect(values).toEqual({ name: "a", description: "b\n# Title\nprose\nname: c\ntools: *", tools: "Read" });
    expect(fields.get("tools")?.doubtful).toBe(true);
  });

  it("takes another spelling only if the right one is nowhere", async () => {
    const broken = lines("---", "Name: a", "description: b", "prose", "Description: c", "---");
    expect((await read(broken)).values).toEqual({ Name: "a", description: "b\nprose\nDescription: c" });
  });

  it("removes the quotes around a text that is none in YAML", async () => {
    const broken = lines("---", "name: a", 'description: "one', "", 'user: \\"two\\"', '"', "---");
    expect((await read(broken)).values).toMatchObject({ description: 'one\n\nuser: "two"' });
  });
});

describe("what is made to harm (AD-4)", () => {
  it("reaches no prototype", async () => {
    const { values, fields, repairs } = await read(
      lines(
        "---",
        "__proto__: {polluted: 1}",
        "a: {__proto__: {polluted: 2}, constructor: {prototype: {polluted: 3}}}",
        "---",
      ),
    );
    expect(Object.keys(values)).toEqual(["a"]);
    expect(Object.getPrototypeOf(fields.get("a")?.value)).toBeNull();
    expect(Object.keys(fields.get("a")?.value as object)).toEqual(["constructor"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(repairs).toHaveLength(2);
  });

  it("does not multiply by aliases", async () => {
    const bomb = Array.from(
      { length: 30 },
      (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}, *a${level}]`,
    );
    const { values } = await read(lines("---", "a0: &a0 lol", ...bomb, "name: a", "---"));
    expect(values.name).toBe("a");
    expect(JSON.stringify(values).length).toBeLessThan(10_000);
  });

  it("expands the aliases that people write", async () => {
    expect((await read("---\na: &x [1, 2]\nb: *x\n---\n")).values).toEqual({ a: [1, 2], b: [1, 2] });
  });

  it("ends when an alias leads to itself", async () => {
    expect((await read("---\nname: a\ntools: &x [*x]\n---\n")).values).toMatchObject({ name: "a" });
  });

  it.each([
    ["too deep", `${"[".repeat(60)}${"]".repeat(60)}`],
    ["too many", `[${"a, ".repeat(15_000)}a]`],
  ])("is not taken apart when it is %s", async (_, list) => {
    expect((await read(`---\nname: a\ntools: ${list}\n---\n`)).values).toEqual({ name: "a", tools: list });
  });

  it.each([
    ["lists", `tools: ${"[".repeat(30_000)}`],
    ["dashes", `tools:\n ${"- ".repeat(30_000)}`],
    ["maps", `tools: ${"{a: ".repeat(10_000)}`],
    ["nesting that is valid", `tools: ${"[".repeat(200)}${"]".repeat(200)}`],
    ["a long line", `tools: ${"x".repeat(900_000)}`],
    ["many lines", "a: b: c\n".repeat(100_000)],
    ["blanks", `tools: ${" ".repeat(500_000)}x`],
    ["quotes", `tools: ${"'".repeat(500_001)}`],
    ["carriage returns", `tools: ${"\r".repeat(500_000)}`],
  ])("%s without end are only text", async (_, block) => {
    expect((await read(`---\nname: a\n${block}\n---\nBody`)).body).toBe("Body");
  });
});

describe("whatever a file holds", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "---",
      "----",
      "\n",
      "\n",
      "\r\n",
      "\t",
      ": ",
      "name: ",
      "description: ",
      "tools:",
      "- ",
      "[",
      "]",
      "{",
      "'",
      '"',
      "|",
      ">",
      "&a ",
      "*a",
      "!t ",
      "# ",
      "<example>",
      "\u00a0",
      "\0",
      "%",
      "? ",
    ),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

  it("nothing is thrown", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (file) => {
        await reader.read(file);
        await reader.read(Buffer.from(`---\n${file}\n---\n`, "latin1"));
      }),
      { numRuns: 500 },
    );
  });

  it("the body is what follows the closing fence", async () => {
    const block = text.filter(
      (given) => !/^---\s*$/m.test(given.replaceAll("\0", "").replaceAll(/\r\n?/g, "\n")),
    );
    await fc.assert(
      fc.asyncProperty(block, text, async (given, body) => {
        const file = `---\n${given}\n---\n${body}`;
        expect((await reader.read(file)).body).toBe(body.replaceAll("\0", "").replaceAll("\r\n", "\n"));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    "a: b #c",
    "a: b: c",
    "a: b:",
    'a: "b\\nc"',
    "a: 'b'c'",
    "a: null",
    "a: True",
    "a: 1.0",
    "a: 012",
    "a:",
    "a: b\u00a0",
    "a: b\t",
    "a: b\na: c",
    "a: b\n  c",
    "a:\n  - b\n - c",
    "a:\n  - b: c",
    "a:\n  - b\n    c",
    "a: [b, c",
    "a: [b: c]",
    "a: [b, , c]",
    "a: >\n  b\n\n  c",
    "a: >\n  b\n   c",
    "a: |\n  b\n c",
    "a: |2\n   b",
    "a: |\n\n  b",
    "- a: b",
    "# a",
  ])("what YAML may read in another way is left to it: %j", (text) => {
    expect(readPlainLines({ text, firstLine: 2 })).toBeUndefined();
  });

  it("prose in the first column is no YAML", () => {
    fc.assert(
      fc.property(text, fc.boolean(), (given, isField) => {
        // As the fences leave it.
        const inside = given.replaceAll(/[\0\r]/g, "").replaceAll(/-{3,}/g, "--");
        const block = { text: isField ? `name: a\n${inside}` : inside, firstLine: 2 };
        if (findProse(block) !== undefined) expect(readYaml(block)).toHaveProperty("reason");
      }),
      { numRuns: 3000 },
    );
  });

  it("plain lines mean what YAML says they mean", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "a",
        "true",
        "True",
        "null",
        "~",
        "1",
        "012",
        "1e3",
        ".5",
        "-",
        "#",
        ": ",
        ":",
        " ",
        "  ",
        "\t",
        "'",
        '"',
        "\\",
        "\\n",
        ",",
        "*",
        "&",
        "(x)",
        "é",
        "日本",
        "👩‍🔬",
        "\u00a0",
        "[",
        "{",
        "!",
        "|",
        "%",
        "@",
        "`",
        "?",
        "<b>",
      ),
      fc.string(),
    );
    const start = fc.constantFrom("", "", "a", "'", '"', "é ");
    const words = fc.array(word, { minLength: 1, maxLength: 5 }).map((all) => all.join(""));
    const value = fc.tuple(start, words).map((parts) => parts.join(""));
    const entry = fc.tuple(
      fc.constantFrom("a", "b", "when-to-use", "maxTurns"),
      fc.constantFrom(": ", ":  ", ":"),
      value,
    );
    const block = fc.array(
      fc.oneof(
        fc
          .tuple(
            fc.constantFrom("c:\n", "d: |\n", "e: >\n", "f: >-\n", "g: |-\n", "h: "),
            fc.array(
              fc
                .tuple(fc.constantFrom("  - ", "- ", "  ", "   ", "", "[", ", "), value)
                .map((parts) => parts.join("")),
              {
                maxLength: 4,
              },
            ),
            fc.constantFrom("\n", ", "),
          )
          .map(([key, items, separator]) => key + items.join(separator)),
        fc
          .array(fc.constantFrom("Read", '"Grep"', "'x y'", "1", "true", "null", "a-b", "a:b"), {
            maxLength: 4,
          })
          .map((items) => `i: [${items.join(", ")}]`),
        entry.map((parts) => parts.join("")),
        fc.constantFrom("", " "),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(block, (given) => {
        const candidate = { text: given.join("\n"), firstLine: 2 };
        const plain = readPlainLines(candidate);
        if (plain !== undefined)
          expect({ candidate, ...plain }).toEqual({ candidate, ...readYaml(candidate) });
      }),
      { numRuns: 5000 },
    );
  });
});
