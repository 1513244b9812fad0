/** Parent and child, both played by the offline model, over tools that answer from a list of files. */
import { describe, expect, it } from "vitest";
import { everydayPlaybooks } from "./offline-model.ts";
import { type Call, type CallResult, firstPlay, textOfEnd } from "./playbook.ts";

type Files = Readonly<Record<string, string>>;

interface Played {
  readonly text: string;
  readonly calls: readonly Call[];
  /** The calls of each message, by name. */
  readonly messages: readonly (readonly string[])[];
}

type Agent = (input: Readonly<Record<string, unknown>>) => string | Error;

/** Without `agent` the tool is not offered. */
function play(files: Files, prompt: string, agent?: Agent): Played {
  const tools = ["Glob", "Grep", "Read", ...(agent === undefined ? [] : ["Agent"])];
  const found = firstPlay(everydayPlaybooks, {
    prompt,
    heard: [prompt],
    offers: (name) => tools.includes(name),
  });
  if (found === undefined) throw new Error(`Nobody takes: ${prompt}`);
  const calls: Call[] = [];
  const messages: string[][] = [];
  let step = found.next([]);
  while (step.done !== true) {
    const asked = step.value.calls ?? [];
    calls.push(...asked);
    messages.push(asked.map(({ name }) => name));
    step = found.next(asked.map((call) => answer(files, call, agent)));
  }
  return { text: textOfEnd(step.value), calls, messages };
}

function answer(files: Files, call: Call, agent: Agent | undefined): CallResult {
  const said = call.name === "Agent" ? agent?.(call.input) : fromFiles(files, call);
  if (said === undefined) throw new Error(`${call.name} was not offered`);
  const text = said instanceof Error ? said.message : said;
  return { text, isError: said instanceof Error, blocks: [{ type: "text", text }] };
}

function fromFiles(files: Files, { name, input }: Call): string | Error {
  const { pattern = "", path = "", file_path = "" } = input as Record<string, string | undefined>;
  if (name === "Read") {
    const text = files[file_path];
    return text === undefined ? new Error("There is no such file") : numbered(text);
  }
  const below = Object.keys(files).filter((each) => path === "" || each.startsWith(`${path}/`));
  if (name === "Glob") {
    const start = pattern === "**/*" ? "" : pattern.replace(/\*\*\/\*$/, "");
    const listed = below.filter((each) => each.startsWith(start));
    return listed.length === 0 ? `No files match ${pattern}` : listed.join("\n");
  }
  const endings = typeof input.glob === "string" ? input.glob.match(/\w+(?=[,}]|$)/g) : undefined;
  const lines = below
    .filter((each) => endings?.some((ending) => each.endsWith(`.${ending}`)) ?? true)
    .flatMap((each) =>
      (files[each] ?? "")
        .split("\n")
        .slice(0, -1)
        .flatMap((line, index) => (new RegExp(pattern).test(line) ? [{ each, line, index }] : [])),
    );
  if (input.output_mode === "content")
    return lines.map(({ each, line, index }) => `${each}:${index + 1}:${line}`).join("\n");
  const counts = new Map<string, number>();
  for (const { each } of lines) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [
    ...[...counts].map(([each, count]) => `${each}:${count}`),
    `Total: ${lines.length} in ${counts.size} files`,
  ].join("\n");
}

function numbered(text: string): string {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => `${index + 1}\t${line}`)
    .join("\n");
}

const files: Files = {
  "README.md": "# Jobs\n\nRuns jobs in order.\n",
  Makefile: "test:\n\ttrue\n",
  "src/queue.ts":
    "/** src/ owns the jobs. */\nimport './x.ts';\n\nexport class Queue {}\nexport function runJobs() {}\n",
  "src/x.ts": "export const x = 1; // TODO more\n",
  "test/queue.test.ts": 'import "../src/queue.ts";\n\ntest("runs", () => {});\ntest("waits", () => {});\n',
  "docs/guide.md": "# How to use it\n\nStep by step.\n",
};

const child: Agent = ({ prompt }) => play(files, String(prompt)).text;
const orders = ({ calls }: Played) => calls.filter(({ name }) => name === "Agent").map(({ input }) => input);

describe("a map of a repository, where agents can be started", () => {
  it("sends an Explore agent into each top folder, all in one message", () => {
    const map = play(files, "map this repository", child);
    expect(map.messages.filter((names) => names.includes("Agent"))).toEqual([["Agent", "Agent", "Agent"]]);
    expect(orders(map)).toEqual(
      ["docs", "src", "test"].map((folder) => ({
        description: `Explore the ${folder} folder`,
        prompt: expect.stringContaining(`Explore the folder \`${folder}\``),
        subagent_type: "Explore",
      })),
    );
  });

  it("joins what they report into the map that it makes alone, with more on each folder", () => {
    const alone = play(files, "map this repository").text.split("\n");
    const { text } = play(files, "map this repository", child);
    for (const line of alone) expect(text.split("\n")).toContain(line);
    expect(text).toContain(
      [
        "## Folders",
        "- docs/: 1 Markdown file (guide.md)",
        "  - Texts: docs/guide.md (3 lines: How to use it)",
        "  - Size: 3 lines in 1 text file",
        "- src/: owns the jobs. (src/queue.ts)",
        "  - Holds: 2 TypeScript files (queue.ts, x.ts)",
        "  - Sources: src/queue.ts (5 lines: `Queue`, `runJobs`), src/x.ts (1 line: `x`)",
        "  - Size: 6 lines in 2 text files",
        "- test/: 1 test file (queue.test.ts)",
        "  - Tests: 2 tests in 1 file, by their marks",
        "  - Size: 4 lines in 1 text file",
        "",
        "3 Explore agents reported on a folder each.",
      ].join("\n"),
    );
  });

  it.each<[string, Agent, string]>([
    [
      "are denied",
      () => new Error("Not allowed: a rule denies Agent(Explore)."),
      "Not allowed: a rule denies Agent(Explore)",
    ],
    ["say nothing", () => "", "it said nothing"],
    ["answer something else", () => "I list the files.", "its answer was not in the form that I asked for"],
    [
      "go on in the background",
      () => "It runs.\nagentId: a1\noutput_file: /tmp/x",
      "it runs on in the background",
    ],
  ])("makes the map alone when the agents %s, and says why", (_what, agent, reason) => {
    const alone = play(files, "map this repository").text.split("\n");
    const { text } = play(files, "map this repository", agent);
    for (const line of alone) expect(text.split("\n")).toContain(line);
    expect(text).toContain(`No agent reported on docs/, src/, test/ (${reason}), so I looked myself.`);
    expect(text).not.toContain("Explore agent");
  });

  it("looks itself into the one folder on which nothing was reported", () => {
    const { text } = play(files, "map this repository", (input) =>
      String(input.prompt).includes("`src`") ? new Error("It broke.") : child(input),
    );
    expect(text).toContain("- src/: owns the jobs. (src/queue.ts)\n- test/: 1 test file");
    expect(text).toContain(
      "2 Explore agents reported on a folder each. No agent reported on src/ (It broke), so I looked myself.",
    );
  });

  it("starts at most twelve agents, in the largest folders, and tells the others itself", () => {
    const many: Files = Object.fromEntries(
      Array.from({ length: 50 }, (_, folder) =>
        Array.from({ length: folder + 1 }, (_, file) => [`d${folder}/f${file}.py`, "x = 1\n"] as const),
      ).flat(),
    );
    const hidden = Object.fromEntries(Array.from({ length: 99 }, (_, file) => [`.hidden/${file}`, "x\n"]));
    const map = play(
      { ...many, ...hidden },
      "map this repository",
      ({ prompt }) => play(many, String(prompt)).text,
    );
    const names = orders(map).map(({ prompt }) => /`(d\d+)`/.exec(String(prompt))?.[1]);
    expect(names).toEqual(Array.from({ length: 12 }, (_, index) => `d${index + 38}`));
    for (const name of Object.keys(many)) expect(map.text).toContain(`${name.split("/")[0]}/`);
    expect(map.text).toContain("- and 11 more: ");
  });

  it("does not send an agent where its name cannot be told, and tells that folder itself", () => {
    const odd = { ...files, "a`b/x.py": "x = 1\n" };
    const map = play(odd, "map this repository", child);
    expect(orders(map)).toHaveLength(3);
    expect(map.text).toContain("- a`b/: 1 Python file (x.py)");
  });

  it("tells packages once, also when an agent tells them too", () => {
    const packages: Files = {
      "packages/a/package.json": '{"name":"a","description":"Does a."}\n',
      "packages/b/package.json": '{"name":"b","description":"Does b."}\n',
    };
    const { text } = play(
      packages,
      "map this repository",
      ({ prompt }) => play(packages, String(prompt)).text,
    );
    expect(text).toContain("- packages/: 2 JSON files; 2 packages, told below\n");
    expect(text.match(/Does a\./g)).toHaveLength(1);
  });

  it("starts none for a part of the map, nor where there is no folder", () => {
    expect(orders(play(files, "show me the folder structure", child))).toEqual([]);
    expect(orders(play(files, "what language is this written in", child))).toEqual([]);
    expect(orders(play({ "a.py": "x = 1\n" }, "map this repository", child))).toEqual([]);
  });
});

describe("the task that the agents get", () => {
  it("is played by looking, and answered so that it reads well by itself", () => {
    const task = String(orders(play(files, "map this repository", child))[1]?.prompt);
    const { text, calls } = play(files, task);
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["Glob", "Grep", "Read"]));
    for (const { name, input } of calls)
      expect(String(name === "Read" ? input.file_path : input.path)).toMatch(/^src(?:\/|$)/);
    expect(text).toContain("# src/: 2 files\n\n- Purpose: owns the jobs. (src/queue.ts)\n- Holds: ");
    expect(text).toContain("- Open: 1 line with TODO, FIXME, HACK or XXX in 1 file");
  });

  it("is never handed on, also where agents may start agents", () => {
    const task = String(orders(play(files, "map this repository", child))[1]?.prompt);
    expect(orders(play(files, task, child))).toEqual([]);
  });

  it("is answered with what the folders in it are for", () => {
    const nested: Files = {
      "src/parser/tree.ts": "/** parser/ owns the grammar. */\nimport 'x';\n",
      "src/bare/a.py": "",
      "src/bare/b.py": "",
    };
    const { text } = play(nested, "map this repository", ({ prompt }) => play(nested, String(prompt)).text);
    expect(text).toContain("- src/: 2 Python files, 1 TypeScript file\n");
    expect(text).toContain(
      "  - bare/: 2 Python files (a.py, b.py)\n  - parser/: owns the grammar. (src/parser/tree.ts)",
    );
  });

  it("counts headers among the sources", () => {
    const { text } = play(
      { "lib/a.c": "int a;\n", "lib/a.h": "int one(void);\nint two(void);\n" },
      "Explore the folder `lib` and report what is in it.",
    );
    expect(text).toContain("- Sources: lib/a.h (2 lines: `one`, `two`), lib/a.c (1 line)");
  });

  it("is answered honestly when there is no such folder", () => {
    expect(play(files, "Explore the folder `gone` and report what is in it.").text).toContain(
      "There is no folder `gone`",
    );
  });
});

describe("a request for an agent", () => {
  it("starts the one that was asked for and reports what it says", () => {
    const asked = play(files, "ask an Explore agent where Queue is defined", child);
    expect(orders(asked)).toEqual([
      { description: "where Queue is defined", prompt: "where Queue is defined", subagent_type: "Explore" },
    ]);
    expect(asked.text).toMatch(/^The Explore agent reports:\n\n`Queue` is defined in 1 place/);
    expect(asked.text.match(/offline model/g)).toHaveLength(1);
  });

  it("chooses one that may act for what acts, and one that only looks for the rest", () => {
    const typeFor = (prompt: string) => orders(play(files, prompt, () => "done"))[0]?.subagent_type;
    expect(typeFor("use an agent to run the tests")).toBe("general-purpose");
    expect(typeFor("use an agent to rename Queue to Line")).toBe("general-purpose");
    expect(typeFor("use an agent to list TODOs")).toBe("Explore");
    expect(typeFor("use a reviewer agent to list TODOs")).toBe("reviewer");
  });

  it("does the looking itself when no agent answers, and says so", () => {
    const failed = play(files, "use an agent to list TODOs", () => new Error("Too many agents."));
    expect(failed.text).toContain(
      "The Explore agent did not answer: Too many agents. I did it myself:\n\n**1 line**",
    );
    expect(play(files, "use an agent to list TODOs").text).toContain(
      "I have no tool to start an agent here. I did it myself:\n\n**1 line**",
    );
  });

  it("does not do itself what changes something and was asked of an agent", () => {
    const failed = play(files, "use an agent to rename Queue to Line", () => new Error("Denied."));
    expect(failed.calls.map(({ name }) => name)).toEqual(["Agent"]);
    expect(failed.text).toContain("Nothing was done by me; to have me do it, ask: rename Queue to Line");
  });

  it("does not wait for one in the background", () => {
    const launched = () => "It runs.\nagentId: a1\noutput_file: /tmp/x";
    const asked = play(files, "start an agent in the background to list TODOs", launched);
    expect(orders(asked)).toMatchObject([{ prompt: "list TODOs", run_in_background: true }]);
    expect(asked.text).toContain("runs in the background");
    expect(asked.messages).toHaveLength(1);
  });
});

describe("a request to explore", () => {
  it("sends an agent into the folder that was found", () => {
    const explored = play(files, "explore src", child);
    expect(orders(explored)).toMatchObject([
      { description: "Explore the src folder", subagent_type: "Explore" },
    ]);
    expect(explored.text).toMatch(/^The Explore agent reports:\n\n# src\/: 2 files/);
  });

  it("is looked at here when there is no agent, or none that answers", () => {
    expect(play(files, "explore src").text).toMatch(/^# src\/: 2 files/);
    expect(play(files, "explore src", () => new Error("No.")).text).toContain(
      "The Explore agent did not answer: No. I looked myself:\n\n# src/: 2 files",
    );
  });

  it("sends nobody to a folder that is not there", () => {
    const explored = play(files, "explore the gone folder", child);
    expect(orders(explored)).toEqual([]);
    expect(explored.text).toContain("There is no folder `gone`");
  });
});
