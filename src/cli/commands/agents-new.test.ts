import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemCodeOf } from "../../base/errors.ts";
import { type MockAnswer, startMockProvider } from "../../testing/mock-provider.ts";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import { createTestWorld } from "../../testing/test-world.ts";
import { parseArguments, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { agentsOptions } from "../options.ts";
import { runAgents } from "./agents.ts";

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  await workspace.write("home/.cadre/settings.json", "{}");
  await workspace.write("project/.git/HEAD", "ref: refs/heads/main\n");
});
afterEach(() => workspace.remove());

interface Run {
  readonly env?: Record<string, string>;
  /** What a person types, when there is a terminal. */
  readonly typed?: string;
}

async function create(argv: readonly string[], { env = {}, typed }: Run = {}) {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    isTerminal: false,
    write: async (text: string) => {
      written[name] += text;
    },
    flush: async () => {},
  });
  const interruption = {
    signal: new AbortController().signal,
    exitCode: () => 130,
    listen() {},
    request() {},
  };
  const io: CommandIo = {
    stdout: { ...sink("stdout"), broken: false },
    stderr: { ...sink("stderr"), broken: false },
    interruption,
    version: "0",
  };
  const world = createTestWorld({ env, homeFolder: join(workspace.path, "home") });
  const parsed = parseArguments(agentsOptions, ["new", ...argv, "--cwd", join(workspace.path, "project")]);
  const input = new PassThrough();
  const output = new PassThrough();
  if (typed !== undefined) input.end(typed);
  const code = await runAgents({
    ...parsed,
    io,
    world,
    ...(typed !== undefined && { terminal: { input, output } }),
  });
  return { code, ...written, asked: String(output.read() ?? "") };
}

const complete = ["--name", "helper", "--description", "Helps: always", "--prompt", "You help."];

describe("cadre agents new, by options", () => {
  it("writes a file that loads as it was meant", async () => {
    const { code, stdout, stderr } = await create([
      ...complete,
      "--tools",
      "Read,Bash(git diff:*)",
      "--model",
      "haiku",
      "--json",
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await workspace.read("project/.cadre/agents/helper.md")).toBe(
      '---\nname: helper\ndescription: "Helps: always"\ntools: Read, Bash(git diff:*)\nmodel: haiku\n---\n\nYou help.\n',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      file: join(workspace.path, "project/.cadre/agents/helper.md"),
      agent: {
        agentType: "helper",
        whenToUse: "Helps: always",
        tools: ["Read", "Bash(git diff:*)"],
        model: "haiku",
        source: "project",
        replacedBy: null,
      },
      replaces: [],
      warnings: [],
    });
  });

  it.each([
    [["--tools", "*"], undefined],
    [["--tools", ""], "tools: []"],
    [[], undefined],
  ])("tells all tools from none: %j", async (more, line) => {
    await create([...complete, ...more]);
    const lines = (await workspace.read("project/.cadre/agents/helper.md")).split("\n");
    expect(lines.find((each) => each.startsWith("tools"))).toBe(line);
  });

  it("takes the name as an argument, the prompt from a file, and writes for the user", async () => {
    const file = await workspace.write("prompt.txt", "From a file.\n");
    const { stdout } = await create(["helper", "--description", "d", "--prompt-file", file, "--user"]);
    expect(stdout).toBe("~/.cadre/agents/helper.md\n");
    expect(await workspace.read("home/.cadre/agents/helper.md")).toContain("\n\nFrom a file.\n");
  });

  it("replaces a file only when told to, and never through a link", async () => {
    await create(complete);
    await expect(create([...complete, "--prompt", "Other."])).rejects.toThrow("exists already");
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("You help.");
    await create([...complete, "--prompt", "Other.", "--force"]);
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("Other.");
    const { files } = createTestWorld();
    const target = await workspace.write("outside.md", "precious");
    await files.symlink(target, join(workspace.path, "project/.cadre/agents/linked.md"));
    await files.symlink(
      join(workspace.path, "missing"),
      join(workspace.path, "project/.cadre/agents/dangling.md"),
    );
    for (const name of ["linked", "dangling"])
      await expect(create([...complete, "--name", name, "--force"])).rejects.toThrow("not a file but a link");
    expect(await workspace.read("outside.md")).toBe("precious");
    expect(systemCodeOf(await workspace.read("missing").catch((error: unknown) => error))).toBe("ENOENT");
  });

  it("says which agent it replaces, and which one stands in its way", async () => {
    const first = await create([...complete, "--name", "Explore", "--user"]);
    expect(first.stderr).toContain("it replaces Explore of built-in");
    await create([...complete, "--name", "Explore"]);
    const again = await create([...complete, "--name", "Explore", "--user", "--force"]);
    expect(again.stderr).toContain(
      "it is not used here: project (.cadre/agents/Explore.md) has the same name",
    );
  });

  it("warns of tools and models that nobody knows, and writes them all the same", async () => {
    const { stderr } = await create([...complete, "--tools", "Raed", "--model", "haiko"]);
    expect(stderr).toContain('there is no tool "Raed" (did you mean Read?)');
    expect(stderr).toContain('the model "haiko" is no alias that is known (did you mean haiku?)');
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("tools: Raed");
  });

  it.each([
    [[], "needs --name, --description, --prompt or --prompt-file"],
    [["--name", "x"], "needs --description, --prompt"],
    [["--name", "../x", "--description", "d", "--prompt", "p"], "must begin with a letter"],
    [["--name", "a:b", "--description", "d", "--prompt", "p"], 'has a ":"'],
    [["x", "--name", "y"], "two names"],
    [[...complete, "--prompt-file", "p"], "exclude each other"],
    [[...complete, "--user", "--project"], "exclude each other"],
    [["--name", "x", "--description", "d", "--prompt", "  "], "is empty"],
    [["--name", "x", "--description", "d", "--prompt-file", "/does/not/exist"], "cannot read"],
  ])("wrong usage is told as such: %j", async (argv, message) => {
    await expect(create(argv)).rejects.toThrow(UsageError);
    await expect(create(argv)).rejects.toThrow(message);
  });

  it("says what is in the way when the folder cannot be made", async () => {
    await workspace.write("project/.cadre", "a file");
    await expect(create(complete)).rejects.toThrow(".cadre/agents/helper.md");
  });
});

describe("cadre agents new, by questions", () => {
  const answers = [
    "helper",
    "Helps with it",
    "Read, Grep",
    "haiku",
    "You help.",
    "",
    "Always.",
    ".",
    "n",
    "",
  ].join("\n");

  it("asks for what was not given, also when all answers are pasted at once", async () => {
    const { code } = await create([], { typed: answers });
    expect(code).toBe(0);
    expect(await workspace.read("project/.cadre/agents/helper.md")).toBe(
      "---\nname: helper\ndescription: Helps with it\ntools: Read, Grep\nmodel: haiku\n---\n\nYou help.\n\nAlways.\n",
    );
  });

  it("asks again for what cannot be, and not for what was given", async () => {
    const typed = ["a/b", "helper", "You help.", "."].join("\n");
    await create(["--description", "d", "--tools", "Read", "--model", "opus", "--project"], {
      typed: `${typed}\n`,
    });
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain(
      "name: helper\ndescription: d\n",
    );
  });

  it("takes the end of the input for the end of the instructions", async () => {
    const given = ["--name", "helper", "--description", "d", "--tools", "", "--model", "opus", "--project"];
    expect((await create(given, { typed: "You help.\nAlways." })).code).toBe(0);
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("\n\nYou help.\nAlways.\n");
  });

  it("asks before it replaces a file", async () => {
    await create(complete);
    const given = ["--name", "helper", "--description", "d", "--tools", "", "--model", "opus", "--project"];
    const no = await create(given, { typed: "Other.\n.\nn\n" });
    expect(no.code).toBe(130);
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("You help.");
    expect((await create(given, { typed: "Other.\n.\ny\n" })).code).toBe(0);
    expect(await workspace.read("project/.cadre/agents/helper.md")).toContain("Other.");
  });

  it.each(["", "helper\n", "helper\nd\n\n\n", "helper\nd\n\n\ntext"])(
    "writes nothing when the person leaves after %j",
    async (typed) => {
      expect((await create([], { typed })).code).toBe(130);
      const { files } = createTestWorld();
      await expect(files.stat(join(workspace.path, "project/.cadre"))).rejects.toThrow("ENOENT");
    },
  );
});

describe("cadre agents new --from", () => {
  const draft = `Here it is:
<name>Slow Query Finder</name>
<description>Finds slow queries.</description>
<tools>Read, Grep</tools>
<model>inherit</model>
<prompt>You find slow queries.

Report them in <b>bold</b>.</prompt>`;

  async function withModel(answer: MockAnswer, use: (env: Record<string, string>) => Promise<void>) {
    const provider = await startMockProvider({ answer: () => answer });
    try {
      await use({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: provider.url });
    } finally {
      await provider.close();
    }
    return provider.requests;
  }

  it("asks the model once and writes its draft; options win over it", async () => {
    const requests = await withModel([{ type: "text", text: draft }], async (env) => {
      const { code, stdout } = await create(
        ["--from", "slow queries", "--model", "haiku", "--description", "Mine"],
        {
          env,
        },
      );
      expect({ code, stdout }).toEqual({ code: 0, stdout: ".cadre/agents/slow-query-finder.md\n" });
    });
    expect(await workspace.read("project/.cadre/agents/slow-query-finder.md")).toBe(
      "---\nname: slow-query-finder\ndescription: Mine\ntools: Read, Grep\nmodel: haiku\n---\n\nYou find slow queries.\n\nReport them in <b>bold</b>.\n",
    );
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests[0]?.body.messages)).toContain("slow queries");
  });

  it("shows the draft to a person before it is written", async () => {
    await withModel([{ type: "text", text: draft }], async (env) => {
      const no = await create(["--from", "slow queries"], { env, typed: "n\n" });
      expect(no.code).toBe(130);
      expect(no.asked).toContain("You find slow queries.");
      expect((await create(["--from", "slow queries"], { env, typed: "y\n" })).code).toBe(0);
    });
    expect(await workspace.read("project/.cadre/agents/slow-query-finder.md")).toContain(
      "tools: Read, Grep\n---",
    );
  });

  it.each([
    ["I would rather not.", "no name, no description, no prompt"],
    [draft.replace("</prompt>", ""), "has no prompt"],
    [draft.replace("Slow Query Finder", "***"), "the name is empty"],
  ])("does not write what is no agent", async (text, message) => {
    await withModel([{ type: "text", text }], async (env) => {
      await expect(create(["--from", "x"], { env })).rejects.toThrow(message);
    });
  });

  it("says honestly that the offline model cannot do it", async () => {
    await expect(create(["--from", "x"])).rejects.toThrow("offline model cannot draft");
  });
});
