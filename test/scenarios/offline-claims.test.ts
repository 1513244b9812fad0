/** What the offline model claims about unfamiliar folders, each claim next to the fact. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createOfflineModel } from "../../src/model/offline/offline-model.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

const made: TempWorkspace[] = [];
afterEach(async () => {
  for (const one of made.splice(0)) await one.remove();
});

async function folderWith(files: Readonly<Record<string, string>>): Promise<TempWorkspace> {
  const folder = await createTempWorkspace();
  made.push(folder);
  for (const [path, text] of Object.entries(files)) await folder.write(path, text);
  return folder;
}

function git(cwd: string, ...args: string[]): string {
  const person = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.com"];
  return execFileSync("git", [...person, "-c", "protocol.file.allow=always", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: "/dev/null" },
  });
}

async function repositoryWith(files: Readonly<Record<string, string>>): Promise<TempWorkspace> {
  const folder = await folderWith(files);
  git(folder.path, "init", "--quiet", "--initial-branch=main");
  git(folder.path, "add", "--all");
  git(folder.path, "commit", "--quiet", "--allow-empty", "--message=First");
  return folder;
}

async function ask(folder: { path: string }, prompt: string, allow: string[] = []): Promise<string> {
  const home = await folderWith({});
  const session = createSession({
    world: createTestWorld({ homeFolder: home.path }),
    cwd: folder.path,
    model: createOfflineModel(),
    settings: {},
    keepTranscript: false,
    allowedTools: allow,
  });
  const run = session.submit(prompt);
  let step = await run.next();
  while (!step.done) step = await run.next();
  await session.close();
  expect(step.value.end.reason).toBe("completed");
  return step.value.text;
}

describe("a map", () => {
  it.each([
    [
      "a Maven project",
      {
        "pom.xml":
          "<project><artifactId>ledger</artifactId><description>Books.</description><licenses><license><name>Apache-2.0</name></license></licenses></project>",
        "src/main/java/Main.java": "public class Main {\n  public static void main(String[] args) {}\n}\n",
        "src/test/java/MainTest.java": "class MainTest {}\n",
      },
      [
        "# ledger: 3 files in 1 top folder",
        "pom.xml says: Books.",
        "Test: `mvn test` (pom.xml)",
        "- src/main/java/Main.java (`public static void main`)",
        "- src/: 1 Java file, 1 test file; in it: main/, test/",
        "Licence: Apache-2.0 (pom.xml)",
      ],
    ],
    [
      "a C project that is built with CMake",
      {
        "CMakeLists.txt": "project(vec C)\nadd_executable(demo src/main.c)\n",
        "src/main.c": "int\nmain(int argc, char **argv)\n{\n  return 0;\n}\n",
        "tests/t.c": "int main(void) { return 0; }\n",
        "include/vec/vec.h": "int vec(void);\n",
      },
      [
        "# vec: ",
        "- program `demo` (add_executable in CMakeLists.txt)",
        "- src/main.c (`main`)\n\n## Folders",
        "- include/: 1 C or C++ header file; in it: vec/",
      ],
    ],
    [
      "a gem",
      {
        "parcel.gemspec": 's.name = "parcel"\ns.summary = "Tracks parcels"\n',
        Gemfile: "gemspec\n",
        Rakefile: "RSpec::Core::RakeTask.new(:spec)\n",
        "exe/parcel": "#!/usr/bin/env ruby\n",
        "lib/parcel.rb": "# Tracks them all.\nmodule Parcel\nend\n",
        "spec/parcel_spec.rb": "",
      },
      [
        "Test: `bundle exec rake spec` (Rakefile)",
        "- exe/parcel (a command of parcel.gemspec, by its folder)",
        "- lib/: Tracks them all. (lib/parcel.rb)",
      ],
    ],
    [
      "a .NET solution",
      {
        "Shop.sln": "",
        "src/Shop/Shop.csproj": "<Project><OutputType>Exe</OutputType></Project>\n",
        "src/Shop/Program.cs": 'Console.WriteLine("hi");\n',
      },
      [
        "# Shop: ",
        "Test: `dotnet test` (Shop.sln)",
        "- src/Shop/Program.cs (src/Shop/Shop.csproj makes a program)",
      ],
    ],
    [
      "a folder of notebooks and data",
      { "notebooks/a.ipynb": '{"cells":[],"nbformat":4,"nbformat_minor":5}', "data/a.csv": "1\n" },
      ["CSV 1, Jupyter Notebook 1", "- notebooks/: 1 Jupyter Notebook file (a.ipynb)"],
    ],
    ["a flat folder", { "a.py": "x = 1\n" }, ["# This folder: 1 file, no folders"]],
  ] as const)("is true of %s", async (_kind, files, says) => {
    const text = await ask(await folderWith(files), "map this repository");
    for (const said of says) expect(text).toContain(said);
  });

  it("tells twelve packages that are built alike in one line, and each of them by its description", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `part${index}`);
    const files = Object.fromEntries(
      names.flatMap((name) => [
        [
          `packages/${name}/package.json`,
          JSON.stringify({ name: `@x/${name}`, description: `Does ${name}.`, main: "dist/index.js" }),
        ],
        [`packages/${name}/src/index.ts`, "export {};\n"],
      ]),
    );
    const text = await ask(
      await folderWith({
        ...files,
        "package.json": '{"name":"x","packageManager":"pnpm@9","scripts":{"test":"t"}}',
      }),
      "what is this?",
    );
    expect(text).toContain("Test: `pnpm test` (package.json)");
    expect(text).toContain(
      '- src/index.ts in 12 packages ("main" in package.json; built into dist/index.js)',
    );
    expect(text).toContain("12 packages, told below");
    for (const name of names) expect(text).toContain(`- packages/${name}/: @x/${name}: Does ${name}.`);
  });

  it("tells what the folders in a folder say they are for", async () => {
    const text = await ask(
      await folderWith({
        "src/parser/tree.ts": "/**\n * parser/ owns the grammar.\n * More.\n */\nimport x from 'x';\n",
        "src/parser/other.ts": "export {};\n",
        "src/queue/queue.go": "// Package queue keeps jobs in order.\npackage queue\n",
        "src/queue/list.go": "package queue\n",
        "src/bare/a.py": "",
        "src/bare/b.py": "",
      }),
      "show me the folder structure",
    );
    expect(text).toContain(
      [
        "- src/: 2 Go files, 2 Python files, 2 TypeScript files",
        "  - bare/: 2 Python files (a.py, b.py)",
        "  - parser/: owns the grammar. (src/parser/tree.ts)",
        "  - queue/: Package queue keeps jobs in order. (src/queue/queue.go)",
      ].join("\n"),
    );
  });

  it("counts 3,000 files in many folders exactly, and none that are ignored", async () => {
    const folder = await folderWith({ ".gitignore": "node_modules\n" });
    for (let index = 0; index < 3_000; index++)
      await folder.write(`d${index % 100}/s${index % 7}/f${index}.${index % 2 === 0 ? "py" : "go"}`, "x\n");
    for (let index = 0; index < 1_100; index++)
      await folder.write(`node_modules/m${index % 9}/f${index}.js`, "x\n");
    git(folder.path, "init", "--quiet");
    const text = await ask(folder, "map this repository");
    expect(text).toContain("3,001 files in 100 top folders");
    expect(text).toMatch(/^(?:Go 1,500, Python 1,500|Python 1,500, Go 1,500)$/m);
    expect(text).not.toContain("node_modules");
    expect(await ask(folder, "which are the 3 largest files")).toContain("The longest of 3,001 text files");
  });
});

describe("questions about size and place", () => {
  const files = {
    "src/queue.ts":
      "/** Keeps jobs. */\nexport class Queue {\n  size = 0;\n}\n\nexport function parseConfig() {}\n",
    "src/use.ts": 'import { Queue, parseConfig } from "./queue.ts";\n\nparseConfig();\nnew Queue();\n',
    "other/queue.ts": "export {};\n",
    "other/use.ts": 'import "./queue.ts";\n',
    "src/queue.test.ts": 'import { Queue } from "./queue.ts";\n\ntest("x", () => new Queue());\n',
    "README.md": "# Jobs\n\nRuns jobs in order.\n",
  };

  it("are answered with numbers that a walk confirms", async () => {
    const folder = await repositoryWith(files);
    const lines = Object.values(files).reduce((sum, text) => sum + text.split("\n").length - 1, 0);
    expect(await ask(folder, "how big is this project?")).toContain(`**6 files, ${lines} lines**`);
    expect(await ask(folder, "what's the biggest file")).toContain(":\n\n- src/queue.ts: 6\n");
    expect(await ask(folder, "how long is src/queue.ts")).toContain("**6 lines**");
    expect(await ask(folder, "how many commits are there")).toContain("**1 commit**");
    expect(await ask(folder, "how many folders")).toContain("**2 folders**");
  });

  it("find a thing by the words that its name is made of, and say when nothing has them", async () => {
    const folder = await folderWith(files);
    const found = await ask(folder, "where do we parse the config?");
    expect(found).toContain("- `parseConfig`: src/queue.ts:6, where it is defined (3 lines)");
    const nothing = await ask(folder, "where do we send the invoices?");
    expect(nothing).toContain("Nothing found");
  });

  it("tell a use from the definition, and the importers of a file from those of its namesake", async () => {
    const folder = await folderWith(files);
    expect(await ask(folder, "who uses Queue?")).toContain("Of these, its definition: src/queue.ts:2.");
    expect(await ask(folder, "explain src/queue.ts")).toContain(
      "in 2 other files: src/queue.test.ts, src/use.ts.",
    );
    expect(await ask(folder, "explain other/queue.ts")).toContain("in 1 other file: other/use.ts.");
  });

  it("find the tests of a thing", async () => {
    const text = await ask(await folderWith(files), "which tests exist for the queue?");
    expect(text).toContain("**1 test file** of 1 has `queue` in the path:\n\n- src/queue.test.ts");
  });

  it("explain a folder by its files", async () => {
    const text = await ask(await folderWith(files), "explain the src folder");
    expect(text).toContain("# src/: 3 files");
    expect(text).toContain("- queue.ts: `Queue`, `parseConfig`");
  });

  it("measure a definition that has one line as one line", async () => {
    const folder = await folderWith({ "A.cs": "class A\n{\n    public int Total() => 0;\n}\n" });
    expect(await ask(folder, "what does Total do?")).toContain("It is 1 line long.");
  });

  it("say what was read into a misspelt request", async () => {
    expect(await ask(await folderWith(files), "describe this repositry")).toMatch(
      /^I read this as: describe this repository\n\n# Jobs: 6 files/,
    );
  });
});

describe("questions to git in unusual states", () => {
  it("are honest before the first commit", async () => {
    const folder = await folderWith({});
    git(folder.path, "init", "--quiet", "--initial-branch=main");
    expect(await ask(folder, "what changed lately?")).toContain("No commit here yet.");
    expect(await ask(folder, "review my change")).toContain("there is no commit yet");
    expect(await ask(folder, "what branch am i on")).toContain("On branch main, which has no commit yet.");
  });

  it("do not take all files for the change of the first commit in a shallow clone", async () => {
    const origin = await repositoryWith({ "a.txt": "1\n", "b.txt": "1\n" });
    await origin.write("a.txt", "2\n");
    git(origin.path, "commit", "--quiet", "--all", "--message=Second");
    const folder = await folderWith({});
    git(folder.path, "clone", "--quiet", "--depth=1", `file://${origin.path}`, "clone");
    const text = await ask({ path: join(folder.path, "clone") }, "what changed?");
    expect(text).toContain("Second (the history is cut here, so its own change cannot be told)");
    expect(text).toContain("This is a shallow clone");
    expect(text).not.toMatch(/\+\d/);
  });

  it("see a detached HEAD, and a merge in conflict", async () => {
    const folder = await repositoryWith({ "a.txt": "1\n" });
    git(folder.path, "checkout", "--quiet", "-b", "other");
    await folder.write("a.txt", "2\n");
    git(folder.path, "commit", "--quiet", "--all", "--message=Other");
    git(folder.path, "checkout", "--quiet", "main");
    await folder.write("a.txt", "3\n");
    git(folder.path, "commit", "--quiet", "--all", "--message=Mine");
    expect(() => git(folder.path, "merge", "other")).toThrow();
    expect(await ask(folder, "what changed?")).toContain("Not committed: 1 file, 1 of them in conflict");
    git(folder.path, "merge", "--abort");
    git(folder.path, "checkout", "--quiet", "--detach");
    expect(await ask(folder, "which branch is this?")).toContain("HEAD is detached");
  });

  it("count the lines of a large commit exactly", async () => {
    const folder = await folderWith({});
    for (let index = 0; index < 1_500; index++)
      await folder.write(`some-folder/with-a-name/file-number-${index}.txt`, "1\n2\n");
    git(folder.path, "init", "--quiet");
    git(folder.path, "add", "--all");
    git(folder.path, "commit", "--quiet", "--message=All");
    expect(await ask(folder, "what changed?")).toContain("All (1,500 files, +3000 -0)");
  });

  it("tell the changes of a place, a person and since a tag", async () => {
    const folder = await repositoryWith({ "src/a.txt": "1\n", "b.txt": "1\n" });
    git(folder.path, "tag", "v1.0");
    await folder.write("src/a.txt", "2\n");
    git(folder.path, "commit", "--quiet", "--all", "--message=Second");
    expect(await ask(folder, "what changed since v1.0")).toContain("1 commit since v1.0");
    expect(await ask(folder, "history of src/a.txt")).toContain("2 commits in src/a.txt");
    expect(await ask(folder, "what did Ada do?")).toContain("2 commits by Ada");
    expect(await ask(folder, "what did Bo do this week?")).toContain("No commit by Bo since 1 week ago.");
    expect(await ask(folder, "who works on this?")).toContain("- Ada Example: 2 commits");
  });

  it("review a diff that is handed over, not what lies in the folder", async () => {
    const folder = await repositoryWith({ "a.ts": "export {};\n" });
    await folder.write("a.ts", "export {};\ndebugger;\n");
    const diff = git(folder.path, "diff");
    git(folder.path, "checkout", "--quiet", ".");
    const text = await ask(folder, `review this change\n\n${diff}`);
    expect(text).toContain("**1 file in the diff: +1 -0**");
    expect(text).toContain("- a.ts:2: debugger statement");
  });

  it("find white space at the very end of a change", async () => {
    const folder = await repositoryWith({ "a.ts": "export {};\n" });
    await folder.write("a.ts", "export {};\nlet x;   \n");
    expect(await ask(folder, "review my change")).toContain("- a.ts:2: trailing white space");
  });
});

describe("running the tests", () => {
  it("does not call it a pass when nothing says that a test ran", async () => {
    const folder = await folderWith({ Makefile: "test:\n\t@true\n" });
    const text = await ask(folder, "does the test suite pass?", ["Bash"]);
    expect(text).toContain("**The test command ended well** (exit code 0)");
    expect(text).toContain("It printed nothing.");
  });

  it("runs nothing when the program that was named is not the one that the files name", async () => {
    const folder = await folderWith({ Makefile: "test:\n\t@touch ran\n" });
    const text = await ask(folder, "run pytest", ["Bash"]);
    expect(text).toContain("No file here says that the tests run with `pytest`, so I ran nothing.");
    expect(text).toContain("- `make test` (Makefile)");
  });
});
