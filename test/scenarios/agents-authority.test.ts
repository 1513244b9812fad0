/** What an agent may do: never more than the one that started it, whatever its file says (SP-12 to SP-16). */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import type { PermissionMode } from "../../src/contracts/permission.ts";
import type { SessionOptions } from "../../src/runtime/session.ts";
import type { ScriptedCall } from "../../src/testing/scripted-model.ts";
import { agent, calling, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

const write = (file_path: string): ScriptedCall => ({ name: "Write", input: { file_path, content: "x" } });
const edit = (file_path: string): ScriptedCall => ({
  name: "Edit",
  input: { file_path, old_string: "old", new_string: "new" },
});
const bash = (command: string): ScriptedCall => ({ name: "Bash", input: { command } });
const read = (file_path: string): ScriptedCall => ({ name: "Read", input: { file_path } });
const helper = (fields: Record<string, unknown> = {}) => ({
  helper: { description: "helps", prompt: "You help.", ...fields },
});
const child = { subagent_type: "helper" };
const exists = (name: string) =>
  scene.workspace.read(name).then(
    () => true,
    () => false,
  );

/** What came of these calls, made one after the other by an agent of type helper. */
async function byChild(
  calls: readonly ScriptedCall[],
  options: Partial<SessionOptions> & { fields?: Record<string, unknown> } = {},
): Promise<string[]> {
  const texts: string[] = [];
  const { fields, ...rest } = options;
  const plays: Plays = {
    go: calling(agent("work", child)),
    *work() {
      texts.splice(0);
      for (const call of calls) texts.push(...(yield { calls: [call] }).map(({ text }) => text));
      return "done";
    },
  };
  await scene.open(plays, { agents: helper(fields), ...rest }).run("go");
  return texts;
}

describe("below a session that plans", () => {
  const wishes = ["bypassPermissions", "acceptEdits", "default", "bubble", "dontAsk", undefined] as const;

  it.each(wishes)("an agent whose file says %s writes nothing, by any tool", async (permissionMode) => {
    await scene.workspace.write("a.txt", "old");
    const calls = [write("b.txt"), read("a.txt"), edit("a.txt"), bash("echo x > c.txt"), bash("touch d.txt")];
    await byChild(calls, {
      permissionMode: "plan",
      allowedTools: ["Write", "Edit", "Bash"],
      fields: { tools: "*", ...(permissionMode && { permissionMode }) },
    });
    expect(await scene.workspace.read("a.txt")).toBe("old");
    for (const name of ["b.txt", "c.txt", "d.txt"]) expect(await exists(name), name).toBe(false);
  });

  it("neither one that it starts itself, nor one that leaves the plan, nor one that is resumed", async () => {
    const plays: Plays = {
      go: calling(agent("nest", child)),
      nest: calling(agent("leave", child)),
      *leave() {
        yield { calls: [{ name: "ExitPlanMode", input: { plan: "write it" } }] };
        yield { calls: [write("a.txt"), bash("touch b.txt")] };
        return "done";
      },
      *again() {
        const [resumed] = yield { calls: [agent("more", { resume: idOfLeaf })] };
        return resumed?.text ?? "";
      },
    };
    let idOfLeaf = "";
    const { run, session, model } = scene.open(plays, {
      permissionMode: "plan",
      allowedTools: ["Write", "Bash"],
      settings: { maxAgentDepth: 2 },
      surface: { approvePlan: async () => ({ approved: true }) },
      agents: helper({ permissionMode: "bypassPermissions" }),
    });
    session.tasks.onChange(({ task }) => {
      if (task.agent?.depth === 2) idOfLeaf = task.id;
    });
    await run("go");
    const before = model.requests.length;
    await run("again");
    expect(model.requests.length).toBeGreaterThan(before + 1);
    expect(await exists("a.txt")).toBe(false);
    expect(await exists("b.txt")).toBe(false);
  });
});

describe("the mode of an agent", () => {
  it.each(["acceptEdits", "bypassPermissions"])(
    "is not raised to %s by its file: it asks, and where nobody can be asked it is refused",
    async (permissionMode) => {
      await byChild([write("a.txt"), bash("touch b.txt")], { fields: { permissionMode } });
      expect(await exists("a.txt")).toBe(false);
      expect(await exists("b.txt")).toBe(false);
    },
  );

  it("is that of the session where the user has accepted edits, except for an agent that plans", async () => {
    await byChild([write("a.txt")], { permissionMode: "acceptEdits", fields: { permissionMode: "default" } });
    await byChild([write("b.txt")], { permissionMode: "acceptEdits", fields: { permissionMode: "plan" } });
    expect(await exists("a.txt")).toBe(true);
    expect(await exists("b.txt")).toBe(false);
  });

  it.each([
    ["acceptEdits", "plan", false],
    ["plan", "acceptEdits", true],
  ] as [PermissionMode, PermissionMode, boolean][])(
    "follows the session while it runs: from %s to %s",
    async (from, to, written) => {
      const plays: Plays = {
        go: calling(agent("work", child)),
        *work() {
          yield { calls: [read("here.txt")] };
          yield { calls: [write("a.txt")] };
          return "done";
        },
      };
      await scene.workspace.write("here.txt", "here");
      const { run, session } = scene.open(plays, { permissionMode: from, agents: helper() });
      await run("go", (event) => {
        if (event.type === "call-progress") session.setPermissionMode(to);
      });
      expect(await exists("a.txt")).toBe(written);
    },
  );

  it("does not reach up: an agent cannot change the mode of the one that started it", async () => {
    const plays: Plays = {
      go: calling(agent("work", child)),
      *work() {
        yield { calls: [{ name: "ExitPlanMode", input: { plan: "p" } }] };
        return "done";
      },
    };
    const { run, session } = scene.open(plays, {
      surface: { approvePlan: async () => ({ approved: true }) },
      permissionMode: "plan",
      agents: helper(),
    });
    await run("go");
    expect(session.permissionMode).toBe("plan");
  });
});

describe("what a definition narrows", () => {
  it("holds for its calls, and grants nothing", async () => {
    const fields = { tools: "Read, Bash(git log:*), Write", disallowedTools: "Read(./secret.txt)" };
    await scene.workspace.write("secret.txt", "the secret");
    const [secret, id, wrote] = await byChild([read("secret.txt"), bash("id"), write("a.txt")], {
      fields,
      allowedTools: ["Bash"],
    });
    expect(secret).not.toContain("the secret");
    expect(id).toContain("only for Bash(git log:*)");
    expect(wrote).toContain("Not allowed");
  });

  it("holds for the agents that it starts: by default, in another case, by a pattern and by resume", async () => {
    const plays: Plays = {
      *go() {
        const [first] = yield { calls: [agent("leaf")] };
        id = /agentId: (\S+)/.exec(first?.text ?? "")?.[1] ?? "";
        yield { calls: [agent("nest", child)] };
        return "done";
      },
      *nest() {
        const results = yield {
          calls: [
            agent("leaf"),
            agent("leaf", { subagent_type: "GENERAL-PURPOSE" }),
            agent("leaf", { subagent_type: "plan" }),
            agent("leaf", { resume: id, subagent_type: "Explore" }),
            agent("leaf", { subagent_type: "Explore" }),
          ],
        };
        outcomes = results.map(({ isError }) => isError);
        return "done";
      },
      leaf: saying("leaf"),
    };
    let id = "";
    let outcomes: boolean[] = [];
    for (const fields of [
      { tools: "Agent(Explore)" },
      { tools: "Agent(Exp*)" },
      { disallowedTools: "Agent(general-purpose), Task(Plan)" },
    ]) {
      await scene.open(plays, { agents: helper(fields), settings: { maxAgentDepth: 2 } }).run("go");
      expect(outcomes, JSON.stringify(fields)).toEqual([true, true, true, true, false]);
    }
  });

  it("lets Explore use Bash for reading only, whatever the session allows", async () => {
    const texts: string[] = [];
    const plays: Plays = {
      go: calling(agent("work", { subagent_type: "Explore" })),
      *work() {
        texts.splice(0);
        for (const command of ["ls", "touch a.txt", "echo x > b.txt", "git commit -m x"])
          texts.push(...(yield { calls: [bash(command)] }).map(({ text }) => text));
        return "done";
      },
    };
    await scene.open(plays, { dangerouslySkipPermissions: true, allowedTools: ["Bash"] }).run("go");
    expect(texts[0]).not.toContain("Not allowed");
    for (const text of texts.slice(1)) expect(text).toContain("only reads with Bash");
    expect(await exists("a.txt")).toBe(false);
  });

  it("gives Verification a folder to write in, through Bash and nowhere else, which is gone afterwards", async () => {
    let scratch = "";
    let texts: string[] = [];
    const plays: Plays = {
      go: calling(agent("work", { subagent_type: "Verification" })),
      *work({ system }) {
        scratch = /go into (\S+), where/.exec(system)?.[1] ?? "none";
        const results = yield {
          calls: [bash(`echo 1 > ${join(scratch, "a")} && cat ${join(scratch, "a")}`)],
        };
        const others = yield { calls: [bash("echo 1 > b.txt")] };
        texts = [...results, ...others].map(({ text }) => text);
        return "VERDICT: PASS";
      },
    };
    await scene.open(plays).run("go");
    expect(texts[0]).toContain("1");
    expect(texts[0]).not.toContain("Not allowed");
    expect(texts[1]).toContain("Not allowed");
    await expect(createNodeWorld().files.stat(scratch)).rejects.toThrow(/ENOENT/);
  });
});

describe("what an agent has for itself", () => {
  it("is what it has read: a file that its parent has read must be read before it is changed", async () => {
    await scene.workspace.write("a.txt", "old");
    const texts: string[] = [];
    const plays: Plays = {
      *go() {
        yield { calls: [read("a.txt")] };
        yield { calls: [agent("work", child)] };
        const [own] = yield { calls: [edit("a.txt")] };
        texts.push(own?.text ?? "");
        return "done";
      },
      *work() {
        texts.splice(0);
        texts.push(...(yield { calls: [edit("a.txt")] }).map(({ text }) => text));
        yield { calls: [read("a.txt")] };
        texts.push(...(yield { calls: [edit("a.txt")] }).map(({ text }) => text));
        return "done";
      },
    };
    await scene.open(plays, { permissionMode: "acceptEdits", agents: helper() }).run("go");
    expect(texts[0]).toMatch(/read/i);
    expect(await scene.workspace.read("a.txt")).toBe("new");
    // And what the child has seen, the parent has not.
    expect(texts[2]).toMatch(/changed/i);
  });

  it("is where its shell stands, and its list of what is to be done", async () => {
    await scene.workspace.write("sub/a.txt", "a");
    const todo = (content: string) => ({
      name: "TodoWrite",
      input: { todos: [{ content, status: "pending", activeForm: content }] },
    });
    const places: string[] = [];
    const plays: Plays = {
      *go() {
        yield { calls: [bash("cd sub"), todo("mine")] };
        yield { calls: [agent("work", child)] };
        places.push(...(yield { calls: [bash("pwd")] }).map(({ text }) => text.trim()));
        return "done";
      },
      *work() {
        places.splice(0);
        yield { calls: [todo("its own")] };
        places.push(...(yield { calls: [bash("pwd")] }).map(({ text }) => text.trim()));
        yield { calls: [bash("cd /")] };
        return "done";
      },
    };
    const { events } = await scene
      .open(plays, { dangerouslySkipPermissions: true, agents: helper() })
      .run("go");
    expect(places).toEqual([scene.workspace.path, join(scene.workspace.path, "sub")]);
    const inner = events.flatMap((event) =>
      event.type === "call-progress" ? [JSON.stringify(event.progress.data)] : [],
    );
    expect(inner.some((text) => text.includes('"before":[],"after":[{"content":"its own"'))).toBe(true);
  });
});

describe("the folder that a call names", () => {
  const settings = { agentCwd: true };
  const inFolder = async (cwd: string, calls: ScriptedCall[], options: Partial<SessionOptions> = {}) => {
    let texts: string[] = [];
    const plays: Plays = {
      go: calling(agent("work", { cwd })),
      *work() {
        texts = [];
        for (const call of calls) texts.push(...(yield { calls: [call] }).map(({ text }) => text.trim()));
        return "done";
      },
    };
    const { results } = await scene.open(plays, { settings, ...options }).run("go");
    return { texts, result: results[0] };
  };

  it("is where the agent begins, relative to where its parent stands", async () => {
    await scene.workspace.write("sub/a.txt", "in sub");
    const { texts } = await inFolder("sub", [bash("pwd"), read("a.txt")]);
    expect(texts[0]).toBe(join(scene.workspace.path, "sub"));
    expect(texts[1]).toContain("in sub");
  });

  it("is refused outside of the working folders, also through a link, and where there is none", async () => {
    const { files } = createNodeWorld();
    await files.symlink(scene.home.path, join(scene.workspace.path, "link"));
    await scene.workspace.write("file.txt", "");
    for (const cwd of ["/", "..", scene.home.path, "link", "nowhere", "file.txt"]) {
      const { result, texts } = await inFolder(cwd, [bash("pwd")]);
      expect(result, cwd).toMatchObject({ isError: true });
      expect(texts).toEqual([]);
    }
  });

  it("does not move the rules of the session: what is denied in the root stays denied", async () => {
    await scene.workspace.write("secrets/key.txt", "the key");
    const { texts } = await inFolder("secrets", [read("key.txt"), bash("cat key.txt")], {
      disallowedTools: ["Read(./secrets/**)"],
    });
    expect(texts.join()).not.toContain("the key");
  });

  it("is refused without its setting, and together with a worktree", async () => {
    await scene.workspace.write("sub/a.txt", "");
    const alone = await inFolder("sub", [], { settings: {} });
    expect(alone.result?.text).toContain("agentCwd");
    const plays: Plays = { go: calling(agent("work", { cwd: "sub", isolation: "worktree" })) };
    const both = await scene.open(plays, { settings }).run("go");
    expect(both.results[0]?.text).toContain("exclude each other");
  });
});
