/** The offline model in real folders, through the real loop and tools: whatever it says must be true. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolUseBlock } from "../../src/contracts/message.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import { createOfflineModel } from "../../src/model/offline/offline-model.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import {
  createSampleRepository,
  type SampleKind,
  type SampleRepository,
  sampleKinds,
} from "../../src/testing/sample-repositories.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

const made: { remove(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of made.splice(0)) await one.remove();
});

async function sample(kind: SampleKind, options: { git?: boolean } = {}): Promise<SampleRepository> {
  const repository = await createSampleRepository(kind, options);
  made.push(repository);
  return repository;
}

async function emptyFolder(): Promise<TempWorkspace> {
  const folder = await createTempWorkspace();
  made.push(folder);
  return folder;
}

interface Answer {
  readonly text: string;
  readonly calls: readonly ToolUseBlock[];
}

async function ask(
  folder: { path: string },
  prompt: string,
  options: { allow?: string[]; path?: string } = {},
): Promise<Answer> {
  const home = await emptyFolder();
  const world = createTestWorld({ homeFolder: home.path });
  const session = createSession({
    world,
    cwd: folder.path,
    model: createOfflineModel(),
    settings: options.path === undefined ? {} : { env: { PATH: options.path } },
    keepTranscript: false,
    ...(options.allow === undefined ? {} : { allowedTools: options.allow }),
  });
  const calls: ToolUseBlock[] = [];
  const run = session.submit(prompt);
  let step = await run.next();
  for (; !step.done; step = await run.next())
    if (step.value.type === "call-start") calls.push(step.value.call);
  await session.close();
  expect(step.value.end.reason).toBe("completed");
  expect(step.value.text).toContain("offline model: rule-based");
  return { text: step.value.text, calls };
}

/** Every file below, by walking; `.git` and what the fixtures ignore are left out. */
function walk(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.name === ".git") return [];
    return entry.isDirectory() ? walk(folder, path) : [path];
  });
}

function linesWith(folder: string, pattern: RegExp, ending = ""): string[] {
  return walk(folder)
    .filter((path) => path.endsWith(ending))
    .flatMap((path) =>
      readFileSync(join(folder, path), "utf8")
        .split("\n")
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
    );
}

const facts: Readonly<
  Record<
    Exclude<SampleKind, "empty">,
    { says: readonly string[]; extensions: Readonly<Record<string, readonly string[]>> }
  >
> = {
  "python-package": {
    says: [
      "README.md says: Tally counts words in text files and prints a table.",
      "Main language: Python",
      "Test: `python -m pytest` (pyproject.toml)",
      "command `tally` -> tally.cli:main",
      "src/tally/cli.py (runs under",
      "src/: Counts words in text files. (src/tally/__init__.py)",
      "Licence: MIT (LICENSE)",
    ],
    extensions: { Python: [".py"], TOML: [".toml"], Markdown: [".md"] },
  },
  "go-module": {
    says: [
      "# example.com/greeter:",
      "Main language: Go",
      "Test: `go test ./...`",
      "- cmd/greeterd/main.go (`func main`)",
      "- cmd/greetctl/main.go (`func main`)",
      "greet/: Package greet makes greetings in many languages. (greet/doc.go)",
      "Licence: no licence file",
    ],
    extensions: { Go: [".go"], Markdown: [".md"] },
  },
  "rust-workspace": {
    says: [
      "Main language: Rust",
      "Test: `cargo test --workspace` (Cargo.toml)",
      "pebble-cli/src/main.rs (the binary of pebble-cli/Cargo.toml)",
      "pebble/: The store itself. (pebble/Cargo.toml)",
      "Licence: Apache License 2.0",
    ],
    extensions: { Rust: [".rs"], TOML: [".toml"], Markdown: [".md"] },
  },
  "typescript-monorepo": {
    says: [
      "# harbor:",
      "Main language: TypeScript",
      "Build: `pnpm run build` (package.json)",
      "Test: `pnpm test` (package.json)",
      "command `harbord` -> packages/server/src/main.ts",
      "packages/server/: @harbor/server: Takes bookings.",
      "Licence: ISC (package.json)",
    ],
    extensions: { TypeScript: [".ts", ".tsx"], JSON: [".json"], Markdown: [".md"], YAML: [".yaml"] },
  },
  "c-project": {
    says: [
      "Main language: C (",
      "Build: `make` (Makefile)",
      "Test: `make test` (Makefile)",
      "- src/main.c (`main`)",
      "Licence: GNU General Public License v2 (COPYING)",
    ],
    extensions: { C: [".c"], "C or C++ header": [".h"], Makefile: ["Makefile"] },
  },
  documents: {
    says: [
      "None of them is a programming language.",
      "Test: no file that I know says how.",
      "There is no README",
    ],
    extensions: { Markdown: [".md"], Text: [".txt"] },
  },
  "odd-names": {
    says: [
      "Main language: TypeScript",
      "größe/: 1 TypeScript file (münze 💰.ts)",
      `it's here/: 1 Python file (a "quoted" name.py)`,
    ],
    extensions: { TypeScript: [".ts"], Python: [".py"] },
  },
};

const kinds = sampleKinds.filter((kind) => kind !== "empty");

describe("a map of a repository", () => {
  it.each(kinds)("is true of the sample %s", async (kind) => {
    const repository = await sample(kind, { git: true });
    const { text } = await ask(repository, "map this repository");
    const paths = walk(repository.path);
    for (const said of facts[kind].says) expect(text).toContain(said);
    expect(text).toContain(`${paths.length} files in`);
    const counts = Object.entries(facts[kind].extensions).map(
      ([language, endings]) =>
        `${language} ${paths.filter((path) => endings.some((ending) => path.endsWith(ending))).length}`,
    );
    const listed = /^## Languages .*\n(.*)$/m.exec(text)?.[1]?.split(", ") ?? [];
    expect([...listed].sort()).toEqual(counts.sort());
    const folders = [
      ...new Set(paths.filter((path) => path.includes("/")).map((path) => path.split("/")[0])),
    ];
    for (const folder of folders) expect(text).toContain(`- ${folder}/: `);
  });

  it("is short where there is nothing, with or without git", async () => {
    expect((await ask(await sample("empty"), "map this repository")).text).toContain("This folder is empty");
    expect((await ask(await sample("empty", { git: true }), "map this repository")).text).toContain(
      "This folder is empty",
    );
  });

  it("leaves out what git ignores", async () => {
    const repository = await sample("c-project", { git: true });
    await repository.write("ring-demo", "binary");
    expect((await ask(repository, "map this repository")).text).toContain("7 files in 1 top folder");
  });

  it("counts exactly where there are more files than a listing shows", async () => {
    const folder = await emptyFolder();
    for (let index = 0; index < 1_205; index++)
      await folder.write(`many/part${index % 3}/f${index}.py`, "x = 1\n");
    for (let index = 0; index < 7; index++) await folder.write(`few/g${index}.go`, "package few\n");
    await folder.write("Makefile", "test:\n\ttrue\n");
    const { text } = await ask(folder, "map this repository");
    expect(text).toContain("1,213 files in 2 top folders");
    expect(text).toContain("Python 1,205, Go 7");
    expect(text).toContain("Test: `make test` (Makefile)");
    expect(text).toContain("- few/: 7 Go files");
    expect(text).toContain("- many/: 1,205 Python files; in it: part0/, part1/, part2/\n");
    expect((await ask(folder, "how many Python files are there?")).text).toContain("**1,205 Python files**");
    expect((await ask(folder, "how many files are there in few?")).text).toContain("**7 files** in few");
  });

  it("does not fail on broken manifests", async () => {
    const folder = await emptyFolder();
    await folder.write("package.json", "{ not json");
    await folder.write("Cargo.toml", "[[[");
    await folder.write("README.md", "");
    const { text } = await ask(folder, "what is this project?");
    expect(text).toContain("README.md has no paragraph of prose");
  });
});

describe("questions about code", () => {
  it.each(kinds)("counts in the sample %s what a walk counts", async (kind) => {
    const repository = await sample(kind, { git: true });
    for (const [language, endings] of Object.entries(facts[kind].extensions)) {
      const count = walk(repository.path).filter((path) =>
        endings.some((ending) => path.endsWith(ending)),
      ).length;
      const { text } = await ask(repository, `how many ${language} files are there?`);
      expect(text).toContain(`**${count} ${language.endsWith("file") ? language : `${language} file`}`);
    }
    const todos = linesWith(repository.path, /\b(?:TODO|FIXME|HACK|XXX)\b/);
    const { text } = await ask(repository, "list TODOs");
    for (const place of todos) expect(text).toContain(`- ${place}: `);
    if (todos.length === 0) expect(text).toContain("No TODO");
    else expect(text).toContain(`**${todos.length} line`);
    const lines = walk(repository.path).reduce(
      (sum, path) => sum + readFileSync(join(repository.path, path), "utf8").split("\n").length - 1,
      0,
    );
    expect((await ask(repository, "count the lines of code")).text).toContain(`**${lines} line`);
  });

  it("counts in the place it was told, and never in one that is not there", async () => {
    const repository = await sample("python-package");
    const functions = linesWith(repository.path, /^\s*def /).filter((place) =>
      place.startsWith("tests/"),
    ).length;
    expect((await ask(repository, "count the functions in tests/")).text).toContain(
      `**${functions} function or method definitions** in tests`,
    );
    expect((await ask(repository, "how many tests are there in src?")).text).toContain("**0 tests** in src");
    expect((await ask(repository, "how many lines are in README.md")).text).toContain("**9 lines**");
    for (const prompt of [
      "how many files are in nowhere",
      "count the functions in nowhere",
      "how many lines in nowhere",
    ])
      expect((await ask(repository, prompt)).text).toContain("The count failed");
  });

  it("finds where a name is defined, used and imported", async () => {
    const repository = await sample("typescript-monorepo");
    const [defined] = linesWith(repository.path, /^export function bookBerth\b/);
    expect((await ask(repository, "where is bookBerth defined?")).text).toContain(`- ${defined}: function`);
    const used = linesWith(repository.path, /\bbookBerth\b/);
    const uses = await ask(repository, "where is bookBerth used");
    for (const place of used) expect(uses.text).toContain(`- ${place}: `);
    expect(uses.text).toContain(`**${used.length} lines**`);
    expect((await ask(repository, "which files import berth")).text).toMatch(
      /\*\*1 file\*\*[\s\S]*- packages\/server\/src\/index\.ts/,
    );
    expect((await ask(repository, "find NoSuchThing")).text).toContain("Nothing found");
    expect((await ask(repository, "find bookberth")).text).toContain("with other capitals");
  });

  it.each([
    [
      "python-package",
      "what does count_words do?",
      ["src/tally/count.py:6", "Return how often each word occurs in text.", "def count_words(text)"],
    ],
    ["go-module", "explain Hello", ["greet/greet.go:4", "Hello returns a greeting for name."]],
    ["rust-workspace", "explain struct Store", ["pebble/src/map.rs:5", "Keeps values by key."]],
    ["c-project", "explain function ring_push", ["src/ring.c:6", "Puts a value into the ring."]],
    [
      "typescript-monorepo",
      "explain berth.ts",
      ["packages/server/src/berth.ts: TypeScript, 5 lines", "interface `Berth`: A place for one boat."],
    ],
    ["odd-names", "explain `[id]/page(1).ts`", ["[id]/page(1).ts: TypeScript, 1 line", "constant `page`"]],
    ["documents", "explain letter.md", ["letter.md: Markdown, 3 lines"]],
  ] as const)("in %s: %s", async (kind, prompt, says) => {
    const { text } = await ask(await sample(kind), prompt);
    for (const said of says) expect(text).toContain(said);
  });

  it("says what it did not find, and asks which of several files is meant", async () => {
    const repository = await sample("go-module");
    expect((await ask(repository, "explain nothing.go")).text).toContain("There is no file `nothing.go`");
    expect((await ask(repository, "explain main.go")).text).toContain("- explain cmd/greetctl/main.go");
    expect((await ask(repository, "what does NoSuchThing do?")).text).toContain(
      "does not occur in these files",
    );
  });
});

describe("questions to git", () => {
  it("tells the commits, authors and files of late", async () => {
    const repository = await sample("go-module", { git: true });
    await repository.write("greet/greet.go", "package greet\n");
    await repository.git("commit", "--quiet", "--all", "--message=Say less, it's $(enough)");
    expect((await ask(repository, "what changed lately?")).text).toContain("Not committed: nothing.");
    await repository.write("new file.txt", "x\n");
    const { text } = await ask(repository, "what changed lately?");
    const [hash] = (await repository.git("log", "-1", "--format=%h")).split("\n");
    expect(text).toContain("The latest 2 commits");
    expect(text).toContain(`- ${hash} `);
    expect(text).toContain("Ada Example: Say less, it's $(enough) (1 file, +0 -15)");
    expect(text).toContain("- Ada Example: 2 commits");
    expect(text).toContain("- greet/greet.go: 2 commits");
    expect(text).toContain("Not committed: 1 file");
    expect((await ask(repository, "show me the last 1 commits")).text).toContain("The latest 1 commit,");
  });

  it("says so where there is no repository, no commit or no git", async () => {
    expect((await ask(await sample("documents"), "what changed lately?")).text).toContain(
      "not in a git repository",
    );
    const folder = await emptyFolder();
    execFileSync("git", ["init", "--quiet"], { cwd: folder.path });
    expect((await ask(folder, "review my change")).text).toContain("Nothing to review");
    const without = await ask(await sample("documents"), "review my change", { path: "/nonexistent" });
    expect(without.text).toContain("git is not installed");
  });

  it("reviews what is not committed, with the lines where it found something", async () => {
    const repository = await sample("typescript-monorepo", { git: true });
    const old = await repository.read("packages/server/src/index.ts");
    await repository.write(
      "packages/server/src/index.ts",
      `${old}\nexport function leak() {\n  console.log("x");\n  try { leak(); } catch {}\n}\n`,
    );
    await repository.write("it's new/größe [1].py", "import os  \nprint(os)  # TODO remove\n");
    await repository.write(
      "picture.png",
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]).toString("latin1"),
    );
    await repository.git("rm", "--quiet", "docs/guide.md");
    const { text } = await ask(repository, "review my uncommitted changes");
    const [log] = linesWith(repository.path, /console\.log\("x"\)/, "index.ts");
    const [swallowed] = linesWith(repository.path, /catch \{\}/, "index.ts");
    expect(text).toContain("**4 files not committed: +7 -3**");
    expect(text).toContain(`- ${log}: debug output left in`);
    expect(text).toContain(`- ${swallowed}: error swallowed`);
    expect(text).toContain("- it's new/größe [1].py:1: trailing white space");
    expect(text).toContain("- it's new/größe [1].py:2: debug output left in");
    expect(text).toContain("- it's new/größe [1].py:2: TODO, FIXME, HACK or XXX added");
    expect(text).toContain("- docs/guide.md: deleted, +0 -3");
    expect(text).toContain("picture.png: a binary file");
    expect(text).toContain("2 source files changed and no test file");
  });

  it("does not take a name for a pattern", async () => {
    const folder = await emptyFolder();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", ...args], { cwd: folder.path });
    for (const name of ["[ab].ts", "a.ts"]) await folder.write(name, "export {};\n");
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message=one");
    await folder.write("[ab].ts", "export {};\nlet x;\n");
    await folder.write("a.ts", "export {};\ndebugger;\n");
    const { text } = await ask(folder, "review my change");
    expect(text).toContain("- a.ts:2: debugger statement");
    expect(text).not.toContain("[ab].ts:2: debugger");
  });

  it("finds nothing in a clean change, and says what it looked for", async () => {
    const repository = await sample("documents", { git: true });
    await repository.write("letter.md", "Dear reader,\n\nthis is a letter about something.\n");
    const { text } = await ask(repository, "review my change");
    expect(text).toContain("- letter.md: +1 -1");
    expect(text).toContain("## Findings\nNone.");
    expect(text).toContain("conflict markers, secrets");
  });

  it("reviews staged files before the first commit, and only below the folder it is in", async () => {
    const repository = await sample("c-project");
    await repository.git("init", "--quiet");
    await repository.git("add", "--all");
    expect((await ask(repository, "review my change")).text).toContain("**7 files not committed");
    const below = await ask({ path: join(repository.path, "src") }, "review my change");
    expect(below.text).toContain("**3 files not committed");
    expect(below.text).toContain("- ring.c:8: TODO, FIXME, HACK or XXX added");
  });
});

describe("running the tests", () => {
  async function nodePackage(test: string): Promise<TempWorkspace> {
    const folder = await emptyFolder();
    await folder.write(
      "package.json",
      '{ "name": "x", "type": "module", "scripts": { "test": "node --test" } }',
    );
    await folder.write(
      "a.test.js",
      `import { test } from "node:test";\nimport assert from "node:assert";\n${test}`,
    );
    return folder;
  }

  it("reports a success with its counts", async () => {
    const folder = await nodePackage('test("one", () => {});\ntest("two", () => {});\n');
    const { text } = await ask(folder, "run the tests and report", { allow: ["Bash"] });
    expect(text).toContain("**The tests pass** (exit code 0)");
    expect(text).toContain("Command: `npm test` (package.json)");
    expect(text).toContain("2 passed, 0 failed");
  });

  it("reports a failure with its place", async () => {
    const folder = await nodePackage('test("one", () => {});\ntest("two", () => assert.equal(1, 2));\n');
    const { text } = await ask(folder, "run the tests", { allow: ["Bash"] });
    expect(text).toContain("**1 test failed** (exit code 1)");
    expect(text).toContain("1 passed, 1 failed");
    expect(text).toMatch(/First signs of failure:\n- .*two/);
  });

  it("runs nothing without permission, and says how to give it", async () => {
    const folder = await nodePackage('import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\n');
    const { text } = await ask(folder, "run the tests");
    expect(text).toContain("not allowed");
    expect(text).toContain("--allowed-tools Bash");
    expect(existsSync(join(folder.path, "ran"))).toBe(false);
  });

  it("runs those of a folder below when the top has none, and stays where it is", async () => {
    const folder = await emptyFolder();
    await folder.write("it's here/Makefile", 'test:\n\t@echo ran in "$$(basename "$$(pwd)")"\n');
    await folder.write("a.txt", "");
    const { text } = await ask(folder, "run the tests; how many files are there", { allow: ["Bash"] });
    expect(text).toContain("ran in it's here");
    expect(text).toContain("**2 files**.");
  });

  it("says when nothing tells how", async () => {
    const { text, calls } = await ask(await sample("documents"), "run the tests", { allow: ["Bash"] });
    expect(text).toContain("I ran nothing");
    expect(calls.map((call) => call.name)).not.toContain("Bash");
  });
});

describe("renaming", () => {
  it.each([
    ["typescript-monorepo", "bookBerth", "reserveBerth"],
    ["python-package", "count_words", "tally_words"],
    ["go-module", "Hello", "Greeting"],
    ["rust-workspace", "Store", "Shelf"],
    ["c-project", "ring_push", "ring_add"],
    ["odd-names", "coin", "token"],
  ] as const)("in %s changes every whole word %s to %s and nothing else", async (kind, from, to) => {
    const repository = await sample(kind, { git: true });
    const expected = new Map(
      walk(repository.path).map((path) => [
        path,
        readFileSync(join(repository.path, path), "utf8").replace(
          new RegExp(`(?<![\\w$])${from}(?!\\w)`, "g"),
          to,
        ),
      ]),
    );
    const changed = (await repository.git("ls-files", "-z"))
      .split("\0")
      .filter(
        (path) => path !== "" && readFileSync(join(repository.path, path), "utf8") !== expected.get(path),
      );
    const { text } = await ask(repository, `rename ${from} to ${to}`, { allow: ["Edit"] });
    expect(
      new Map(walk(repository.path).map((path) => [path, readFileSync(join(repository.path, path), "utf8")])),
    ).toEqual(expected);
    expect(text).toContain(`in ${changed.length} file`);
    for (const path of changed) expect(text).toContain(`- ${path}: `);
    expect(text).toContain("is no longer there as a whole word");
  });

  it("stays in the folder it was told", async () => {
    const repository = await sample("python-package");
    const { text } = await ask(repository, "rename count_words to tally_words in tests/", {
      allow: ["Edit"],
    });
    expect(text).toContain("in 1 file** in tests");
    expect(await repository.read("src/tally/count.py")).toContain("def count_words(");
    expect(await repository.read("tests/test_count.py")).toContain("tally_words");
  });

  it("changes nothing when the new name is taken, unless told", async () => {
    const repository = await sample("python-package", { git: true });
    const refused = await ask(repository, "rename count_words to count_words_twice", { allow: ["Edit"] });
    expect(refused.text).toContain("already in use");
    expect(await repository.git("status", "--porcelain")).toBe("");
    await ask(repository, "rename count_words to count_words_twice anyway", { allow: ["Edit"] });
    expect(await repository.git("status", "--porcelain")).not.toBe("");
  });

  it("changes nothing without permission, asks once, and lists what it would do", async () => {
    const repository = await sample("typescript-monorepo", { git: true });
    const { text, calls } = await ask(repository, "rename bookBerth to reserveBerth");
    expect(text).toContain("9 places in 3 files; nothing was changed");
    expect(text).toContain("--permission-mode acceptEdits");
    expect(calls.filter((call) => call.name === "Edit").length).toBeLessThanOrEqual(1);
    expect(await repository.git("status", "--porcelain")).toBe("");
  });

  it("leaves a file alone that it cannot read whole", async () => {
    const folder = await emptyFolder();
    await folder.write("long.js", `foo(${"1,".repeat(2_000)}1); foo2();\n`);
    await folder.write("short.js", "foo();\n");
    const { text } = await ask(folder, "rename foo to bar", { allow: ["Edit"] });
    expect(await folder.read("short.js")).toBe("bar();\n");
    expect(await folder.read("long.js")).toMatch(/^foo\(/);
    expect(text).toContain("long.js has lines too long to be read whole");
    expect(text).toContain("1 line still with `foo`");
  });

  it("reads a long file to its end", async () => {
    const folder = await emptyFolder();
    const lines = Array.from({ length: 4_500 }, (_, index) =>
      index % 2_000 === 1_999 ? "foo(foobar);" : `line ${index}`,
    );
    await folder.write("a.js", lines.join("\n"));
    await ask(folder, "rename foo to bar", { allow: ["Edit"] });
    expect(await folder.read("a.js")).toBe(lines.join("\n").replaceAll("foo(", "bar("));
  });
});

describe("anything else", () => {
  it("is answered with what it can do and how to connect a real model, calling nothing", async () => {
    for (const prompt of ["write a poem", "hello", "what can you do?", "fix the bug"]) {
      const { text, calls } = await ask(await sample("documents"), prompt);
      expect(calls).toEqual([]);
      expect(text).toContain("map this repository");
      expect(text).toContain("export ANTHROPIC_API_KEY");
    }
  });

  it("takes up what is asked while it works, after what it is at", async () => {
    const repository = await sample("go-module");
    const home = await emptyFolder();
    const session = createSession({
      world: createTestWorld({ homeFolder: home.path }),
      cwd: repository.path,
      model: createOfflineModel(),
      settings: {},
      keepTranscript: false,
    });
    let asked = false;
    for await (const event of session.submit("map this repository")) {
      if (event.type !== "call-start" || asked) continue;
      asked = true;
      await session.enqueue("how many Go files are there?");
    }
    for await (const _ of session.submit("list TODOs")) {
      // Only what was said in the end matters.
    }
    const said = session.messages
      .filter((message) => message.role === "assistant")
      .map((message) => textOf(message.content));
    await session.close();
    const at = (words: string) => said.findIndex((text) => text.includes(words));
    expect(at("# example.com/greeter")).toBeGreaterThan(0);
    expect(at("**5 Go files**")).toBeGreaterThan(at("# example.com/greeter"));
    expect(said.at(-1)).toContain("greet/greet.go:14: TODO: other languages");
  });

  it("never runs what a file name says", async () => {
    const repository = await sample("odd-names", { git: true });
    await repository.write("$(touch pwned).ts", "export const coin = 5;\n");
    for (const prompt of ["review my change", "what changed lately", "map this repository"])
      await ask(repository, prompt);
    expect(existsSync(join(repository.path, "pwned"))).toBe(false);
  });
});
