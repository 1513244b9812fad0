/** Rows 62 to 64: what is parsed is neither run, nor does it reach prototypes, nor does it grow without limit. */
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSettings } from "../../src/config/settings-sources.ts";
import type { PermissionDecision } from "../../src/contracts/permission.ts";
import { createPermissionEngine } from "../../src/permissions/engine.ts";
import { createToolScene, type ToolScene } from "../../src/testing/tool-scene.ts";
import { createEditTool } from "../../src/toolbox/edit.ts";
import { createGlobTool } from "../../src/toolbox/glob.ts";
import { createGrepTool } from "../../src/toolbox/grep.ts";
import { createNotebookEditTool } from "../../src/toolbox/notebook-edit.ts";
import { createReadTool } from "../../src/toolbox/read.ts";
import { createTodoWriteTool } from "../../src/toolbox/todo-write.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const decide = (
  rules: { allow?: readonly string[]; deny?: readonly string[]; ask?: readonly string[] },
  question: { toolName: string; input: Record<string, unknown> },
): Promise<PermissionDecision> =>
  createPermissionEngine({
    files: scene.world.files,
    homeFolder: scene.folder,
    platform: "linux",
    rules: [{ source: "user", ...rules }],
  }).decide({
    aliases: [],
    isReadOnly: false,
    mode: "default",
    folder: { root: scene.folder, roots: [scene.folder], current: scene.folder },
    ...question,
  });

// Frontmatter is not parsed anywhere yet; whoever adds it adds `---js` here.
describe("row 62: text that is code in disguise", () => {
  const marker = () => scene.path("marker");
  const code = () => `require("node:fs").writeFileSync(${JSON.stringify(marker())}, "")`;

  it.each(["---js", "---javascript", "---json", "---coffee"])("is not run from settings: %s", (fence) => {
    expect(() => parseSettings(`${fence}\n${code()}\n---\n{}`, "f")).toThrow(/not valid JSON/);
    expect(() => parseSettings(`{"model": ${code()}}`, "f")).toThrow(/not valid JSON/);
    expect(existsSync(marker())).toBe(false);
  });

  it("is not run from a notebook that is read or edited", async () => {
    const cell = {
      cell_type: "code",
      id: "c1",
      metadata: { __js: code() },
      outputs: [{ output_type: "display_data", data: { "application/javascript": [code()] }, metadata: {} }],
      source: [`---js\n${code()}`],
    };
    const notebook = {
      cells: [cell],
      metadata: { language_info: { name: "js" } },
      nbformat: 4,
      nbformat_minor: 5,
    };
    await scene.write("a.ipynb", JSON.stringify(notebook));
    await scene.call(createReadTool(), { file_path: "a.ipynb" });
    await scene.call(createNotebookEditTool(), {
      notebook_path: "a.ipynb",
      cell_id: "c1",
      new_source: code(),
    });
    await scene.write("b.ipynb", `---js\n${code()}`);
    await scene.fail(createNotebookEditTool(), { notebook_path: "b.ipynb", cell_id: "c1", new_source: "" });
    expect(existsSync(marker())).toBe(false);
  });
});

describe("row 63: names that objects have already", () => {
  const untouched = () => {
    const fresh: Record<string, unknown> = {};
    expect(fresh.polluted).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty("polluted");
  };

  it.each([
    '{"__proto__":{"polluted":true},"model":"opus"}',
    '{"constructor":{"prototype":{"polluted":true}},"model":"opus"}',
    '{"permissions":{"__proto__":{"polluted":true}},"model":"opus"}',
    '{"env":{"__proto__":"polluted","toString":"x"},"model":"opus"}',
    '{"providers":{"__proto__":{"polluted":true}},"model":"opus"}',
    '{"models":{"__proto__":{"polluted":"x"}},"model":"opus"}',
  ])("in settings change nothing, and the settings load: %s", (text) => {
    expect(parseSettings(text, "f").settings.model).toBe("opus");
    untouched();
  });

  it("in the input of a tool change nothing", async () => {
    const hostile = (text: string) => JSON.parse(text) as unknown;
    await scene.write("a.txt", "text");
    const tools = [
      createReadTool(),
      createEditTool(),
      createGrepTool(),
      createGlobTool(),
      createTodoWriteTool(),
    ];
    for (const tool of tools) {
      tool.bind(hostile('{"__proto__":{"polluted":true,"file_path":"a.txt","pattern":"*"}}'));
      tool.bind(hostile('{"constructor":{"prototype":{"polluted":true}}}'));
      tool.bind(hostile('{"toString":1,"file_path":{"__proto__":{"polluted":true}}}'));
    }
    // What only the prototype says was not said.
    expect(createReadTool().bind(hostile('{"__proto__":{"file_path":"a.txt"}}')).ok).toBe(false);
    untouched();
  });

  it.each([
    "toString",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "valueOf",
    "__proto__(x)",
    "Bash(__proto__)",
  ])("in a rule mean a tool or a command of that name and nothing else: %s", async (rule) => {
    const touch = { toolName: "Bash", input: { command: "touch a" } };
    expect(await decide({ deny: [rule] }, touch)).toMatchObject({ decision: "ask" });
    expect(await decide({ allow: [rule] }, touch)).toMatchObject({ decision: "ask" });
    const named = { toolName: rule.replace(/\(.*/, ""), input: {} };
    expect(["allow", "ask", "deny"]).toContain((await decide({}, named)).decision);
    untouched();
  });

  it("as the name of a tool in a question find no rule by accident", async () => {
    for (const toolName of ["toString", "__proto__", "constructor"])
      expect(await decide({}, { toolName, input: {} })).toMatchObject({ decision: "ask" });
  });
});

describe("row 64: patterns that stand for very much", () => {
  const bombs = [
    "{a,b}".repeat(30),
    "{a,{b,{c,{d,e}}}}".repeat(100),
    "{1..99999999}",
    "{1..999}".repeat(200),
    `${"*a".repeat(40)}b`,
    `${"**/".repeat(300)}b`,
    `${"+(a|a)".repeat(40)}b`,
    "*(*(*(a)))b",
    "{".repeat(4000),
    "[".repeat(4000),
    "x".repeat(100_000),
  ];

  it.each(bombs)("in a search for files are answered or refused at once: %.20s", async (pattern) => {
    await scene.write("a".repeat(200), "text");
    const outcome = await scene
      .run(createGlobTool(), { pattern })
      .catch((error: { code?: string }) => error.code);
    expect(outcome === "glob-unusable" || typeof outcome === "object").toBe(true);
  });

  it.each(bombs.slice(0, 5))("in a search for text are answered or refused at once: %.20s", async (glob) => {
    await scene.write("a".repeat(200), "text");
    const grep = createGrepTool();
    const outcome = await scene.run(grep, { pattern: "text", glob }).catch(() => "refused");
    expect(outcome).toBeDefined();
  });

  it.each([
    // A deny rule that stands for too much to be understood denies its whole tool.
    ["{a,b}".repeat(30), "deny"],
    ["{a,{b,{c,{d,e}}}}".repeat(50), "deny"],
    // Braces with numbers are no alternatives: this names a file that is called so.
    ["{1..99999999}", "allow"],
    [`${"*a".repeat(40)}b`, "allow"],
    [`${"*a".repeat(10)}*`, "deny"],
  ])("in a rule cost nothing and still deny what they name: %.20s", async (pattern, expected) => {
    const question = { toolName: "Read", input: { file_path: "a".repeat(30) } };
    const { decision } = await decide({ deny: [`Read(${pattern})`] }, question);
    expect(decision).toBe(expected);
  });
});
