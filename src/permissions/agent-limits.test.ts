import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Given, usePermissionScene } from "../../test/attacks/permission-scene.ts";
import type { AgentLimits } from "./agent-limits.ts";

const scene = usePermissionScene();

const limited = (limits: AgentLimits, more: Given = {}): Given => ({
  ...more,
  question: { ...more.question, limits },
});
const within = (tool: string, ...rules: string[]): AgentLimits => ({ within: new Map([[tool, rules]]) });

describe("a tool that an agent has only for some calls", () => {
  test.each<[command: string, isCovered: boolean]>([
    ["git diff", true],
    ["git diff HEAD~1 -- src", true],
    ["git diff; git diff --stat", true],
    ["git diff && npm test", true],
    ["timeout 5 git diff", true],
    ["bash -c 'git diff'", true],
    ["show() { git diff; }; show", true],
    ["git diff 2>/dev/null", true],
    ["x=1; git diff $x", true],
    ["env", false],
    ["sudo git diff", false],
    ["ls | xargs git diff", false],
    ["ls", false],
    ["git log", false],
    ["git diff | head", false],
    ["git diff; cat x", false],
    ["git diff $(ls)", false],
    ["bash -c 'git diff; ls'", false],
    ["xargs git log", false],
    ["show() { git diff; ls; }; show", false],
    ["git diff > out.txt", false],
    ["PATH=. git diff", false],
    ["eval 'git diff'", false],
    ["git -c core.pager=x diff", false],
    ["npm test x", false],
    ["git 'dif", false],
    ["", false],
  ])("%s: covered: %s", async (command, isCovered) => {
    const given = limited(within("Bash", "Bash(git diff:*)", "Bash(npm test)"), {
      mode: "bypassPermissions",
      allow: ["Bash"],
    });
    const decision = await scene.bash(command, given);
    expect(decision.decision, decision.reason).toBe(isCovered ? "allow" : "deny");
    if (!isCovered) expect(decision.reason).toContain("only for Bash(git diff:*), Bash(npm test)");
  });

  test("is granted nothing by that", async () => {
    const limits = within("Bash", "Bash(npm test)");
    expect((await scene.bash("npm test", limited(limits))).decision).toBe("ask");
    expect((await scene.bash("npm test", limited(limits, { mode: "plan" }))).decision).toBe("deny");
    expect((await scene.bash("npm test", limited(limits, { deny: ["Bash(npm:*)"] }))).decision).toBe("deny");
    expect((await scene.bash("npm test", limited(limits, { allow: ["Bash(npm:*)"] }))).decision).toBe(
      "allow",
    );
  });

  test("is told by paths, by where they lead", async () => {
    await scene.write("docs/a.md");
    await scene.link("../src", "docs/way-out");
    const given = limited(within("Edit", "Edit(./docs/**)"), { mode: "acceptEdits" });
    const edit = async (path: string) => (await scene.call("Edit", { file_path: path }, given)).decision;
    expect(await edit("docs/a.md")).toBe("allow");
    expect(await edit("src/a.ts")).toBe("deny");
    expect(await edit("docs/../src/a.ts")).toBe("deny");
    expect(await edit("docs/way-out/a.ts")).toBe("deny");
    const reading = limited(within("Read", "Read(./docs/**)"));
    expect((await scene.call("Read", { file_path: "docs/a.md" }, reading)).decision).toBe("allow");
    expect((await scene.call("Read", { file_path: "src/a.ts" }, reading)).decision).toBe("deny");
    expect((await scene.call("Read", {}, reading)).decision).toBe("deny");
    expect((await scene.call("Grep", { pattern: "x" }, reading)).decision).toBe("allow");
  });

  test("is told by hosts and by names", async () => {
    const fetches = limited(within("WebFetch", "WebFetch(domain:a.org)"), { allow: ["WebFetch"] });
    expect((await scene.call("WebFetch", { url: "https://x.a.org/" }, fetches)).decision).toBe("allow");
    expect((await scene.call("WebFetch", { url: "https://b.org/" }, fetches)).decision).toBe("deny");
    expect((await scene.call("WebFetch", { url: "nothing" }, fetches)).decision).toBe("deny");
    const skills = limited(within("Skill", "Skill(deploy)"));
    expect((await scene.call("Skill", { skill: "deploy" }, skills)).decision).toBe("allow");
    expect((await scene.call("Skill", { skill: "other" }, skills)).decision).toBe("deny");
  });

  test("is not had at all where the rule is broken, and wholly where it means everything", async () => {
    expect((await scene.bash("ls", limited(within("Bash", "Bash(git diff")))).decision).toBe("deny");
    expect((await scene.bash("ls", limited(within("Bash", "Bash(*)")))).decision).toBe("allow");
    expect((await scene.bash("ls", limited(within("Edit", "Edit(./a)")))).decision).toBe("allow");
  });
});

describe("what a definition denies", () => {
  const limits: AgentLimits = { denied: ["Bash(rm:*)", "Read(./secrets/**)", "Agent(Explore)"] };

  test("is denied in every mode, whatever allows", async () => {
    const given = limited(limits, { mode: "bypassPermissions", allow: ["Bash", "Read"] });
    for (const command of ["rm x", "ls; sudo rm x", "cat secrets/key"])
      expect((await scene.bash(command, given)).decision, command).toBe("deny");
    expect(await scene.call("Read", { file_path: "secrets/key" }, given)).toMatchObject({
      decision: "deny",
      rule: { source: "agent", rule: "Read(./secrets/**)" },
    });
    expect((await scene.bash("ls", given)).decision).toBe("allow");
  });

  test("stands beside what replaces the allow rules, and is not another agent's", async () => {
    const engine = scene.engine({ allow: ["Bash"] });
    const folder = { root: scene.root, roots: [scene.root], current: scene.root };
    const call = { toolName: "Bash", aliases: [], isReadOnly: false, mode: "default" as const, folder };
    const decide = async (command: string, more: object = {}) =>
      (await engine.decide({ ...call, input: { command }, ...more })).decision;
    const both = { limits, allowInstead: ["Bash(rm:*)", "Bash(make:*)"] };
    expect(await decide("rm x", both)).toBe("deny");
    expect(await decide("make", both)).toBe("allow");
    expect(await decide("npm test", both)).toBe("ask");
    expect(await decide("rm x")).toBe("allow");
  });

  test("keeps searches out of files that it means", async () => {
    const engine = scene.engine();
    const folder = { root: scene.root, roots: [scene.root], current: scene.root };
    const secret = join(scene.root, "secrets/key");
    expect(await engine.mayRead(secret, folder)).toBe(true);
    expect(await engine.mayRead(secret, folder, limits)).toBe(false);
    expect(await engine.mayRead(join(scene.root, "src/a"), folder, limits)).toBe(true);
  });
});

describe("a tool that an agent has only to read", () => {
  const limits: AgentLimits = { readOnlyTools: new Set(["Bash", "mcp__a__b"]) };

  test.each(["default", "acceptEdits", "dontAsk", "bypassPermissions"] as const)(
    "changes nothing in the mode %s, whatever allows",
    async (mode) => {
      const given = limited(limits, { mode, allow: ["Bash", "Edit", "mcp__a"] });
      for (const command of ["npm test", "echo x > a", "mkdir x", "x=$(npm test)", "ls; touch a"]) {
        const decision = await scene.bash(command, given);
        expect(decision.decision, command).toBe("deny");
        expect(decision.reason).toMatch(/^this agent only reads with Bash/);
      }
      expect((await scene.bash("git log | head", given)).decision).toBe("allow");
      expect((await scene.call("mcp__a__b", {}, given)).decision).toBe("deny");
      expect((await scene.call("Edit", { file_path: "a" }, given)).decision).toBe("allow");
    },
  );

  test("reads where the mode lets it read", async () => {
    const read = async (given: Given) =>
      (await scene.bash("cat ../outside/a", limited(limits, given))).decision;
    expect(await read({})).toBe("ask");
    expect(await read({ mode: "dontAsk" })).toBe("deny");
    expect(await read({ mode: "bypassPermissions" })).toBe("allow");
  });
});

describe("a folder of the agent's own", () => {
  const given = async (more: Given = {}) => {
    await mkdir(join(scene.outside, "scratch"), { recursive: true });
    return limited({ ownFolders: [join(scene.outside, "scratch")] }, more);
  };

  test.each(["default", "acceptEdits", "dontAsk", "bypassPermissions", "bubble"] as const)(
    "is read and written without asking in the mode %s",
    async (mode) => {
      const when = await given({ mode });
      const at = join(scene.outside, "scratch");
      for (const tool of ["Read", "Write", "Edit"])
        expect((await scene.call(tool, { file_path: join(at, "a") }, when)).decision, tool).toBe("allow");
      for (const command of [
        `echo x > ${at}/a`,
        `mkdir -p ${at}/b`,
        `cp src/a.ts ${at}`,
        `mv ${at}/a ${at}/b && rm ${at}/b`,
        `cd ${at} && ls`,
        `cat ${at}/a`,
      ])
        expect((await scene.bash(command, when)).decision, command).toBe("allow");
    },
  );

  test("does not carry its permission anywhere else", async () => {
    const when = await given();
    const at = join(scene.outside, "scratch");
    const file = async (path: string) => (await scene.call("Write", { file_path: path }, when)).decision;
    for (const path of [`${at}-other/a`, `${at}/../a`, at, "src/a.ts"])
      expect(await file(path), path).toBe("ask");
    for (const command of [`cp ${at}/a src`, `mv ${at}/a ..`, `rm -rf ${at}/a`, `rmdir ${at}`, `sh ${at}/a`])
      expect((await scene.bash(command, when)).decision, command).toBe("ask");
  });

  test("is only read while planning", async () => {
    const when = await given({ mode: "plan" });
    const path = join(scene.outside, "scratch/a");
    expect((await scene.call("Read", { file_path: path }, when)).decision).toBe("allow");
    expect((await scene.call("Write", { file_path: path }, when)).decision).toBe("deny");
    expect((await scene.bash(`touch ${path}`, when)).decision).toBe("deny");
  });

  test("stops at rules, and at files that control the machine", async () => {
    const path = join(scene.outside, "scratch/a");
    const write = async (more: Given, target = path) =>
      (await scene.call("Write", { file_path: target }, await given(more))).decision;
    expect(await write({ deny: [`Edit(/${path})`] })).toBe("deny");
    expect(await write({ ask: [`Edit(/${path})`] })).toBe("ask");
    expect(await write({ mode: "bypassPermissions" }, join(scene.outside, "scratch/.git/hooks/x"))).toBe(
      "ask",
    );
    expect(await write({ mode: "dontAsk" }, join(scene.outside, "scratch/.bashrc"))).toBe("deny");
  });

  test("may lie in a protected folder, and opens nothing else in that", async () => {
    const memory = ".cadre/agent-memory/reviewer";
    const when = limited({ ownFolders: [join(scene.root, memory)] });
    const write = async (path: string) => (await scene.call("Write", { file_path: path }, when)).decision;
    expect(await write(`${memory}/MEMORY.md`)).toBe("allow");
    expect(await write(".cadre/agent-memory/other/MEMORY.md")).toBe("ask");
    expect(await write(".cadre/settings.json")).toBe("ask");
    expect(await write(`${memory}/../../settings.json`)).toBe("ask");
  });
});

describe("tools that are granted", () => {
  const limits: AgentLimits = { grantedTools: new Set(["WebFetch", "WebSearch", "Read", "Bash"]) };
  const fetches = { url: "https://a.org/" };

  test("need no question where none is asked", async () => {
    const silent = limited(limits, { mode: "dontAsk" });
    expect((await scene.call("WebFetch", fetches, silent)).decision).toBe("allow");
    expect((await scene.call("WebSearch", { query: "x" }, silent)).decision).toBe("allow");
    expect((await scene.call("mcp__a__b", {}, silent)).decision).toBe("deny");
    expect((await scene.call("WebFetch", fetches, limited(limits))).decision).toBe("ask");
  });

  test("still obey rules, and reach no other files or commands", async () => {
    const silent = (more: Given = {}) => limited(limits, { mode: "dontAsk", ...more });
    expect((await scene.call("WebFetch", fetches, silent({ ask: ["WebFetch"] }))).decision).toBe("deny");
    expect(
      (await scene.call("WebFetch", fetches, silent({ deny: ["WebFetch(domain:a.org)"] }))).decision,
    ).toBe("deny");
    expect((await scene.call("Read", { file_path: "../outside/key" }, silent())).decision).toBe("deny");
    expect((await scene.bash("npm test", silent())).decision).toBe("deny");
  });
});

describe("which agents may be started", () => {
  test.each<[rule: string, agentType: string | undefined, may: boolean]>([
    ["Agent(Explore)", "Explore", false],
    ["Agent(Explore)", "explore", false],
    ["Agent(Explore)", " EXPLORE\t", false],
    ["Task(Explore)", "Explore", false],
    ["task( explore )", "Explore", false],
    ["Agent(Explore, Plan)", "Plan", false],
    ["Agent(Explore)", "Explorer", true],
    ["Agent(Explore)", undefined, true],
    ["Agent(general-purpose)", undefined, false],
    ["Agent(general-purpose)", "", false],
    ["Agent(general-purpose)", "  ", false],
    ["Agent(my-plugin:folder:name)", "my-plugin:folder:name", false],
    ["Agent(my-plugin:*)", "my-plugin:folder:name", false],
    ["Agent(my-plugin:folder:name)", "my-plugin:folder:other", true],
    ["Agent(code reviewer)", "Code  Reviewer", false],
    ["Agent(a.b)", "axb", true],
    ["Agent", "Explore", false],
    ["Agent(*)", "Explore", false],
    ["Agent(", "Explore", false],
    ["Bash", "Explore", true],
  ])("%s denied: %j: %s", async (rule, agentType, may) => {
    const engine = scene.engine({ deny: [rule] });
    const input = agentType === undefined ? {} : { subagent_type: agentType };
    const decision = await scene.call("Task", input, { deny: [rule] });
    expect(engine.mayStartAgent(agentType ?? "general-purpose")).toBe(may);
    expect(decision.decision).toBe(may ? "allow" : "deny");
  });

  test("an agent can be kept to some types, and from some", async () => {
    const engine = scene.engine();
    const only = within("Agent", "Agent(Explore)", "Agent(my-*)");
    expect(["Explore", "my-own", "Plan"].map((type) => engine.mayStartAgent(type, only))).toEqual([
      true,
      true,
      false,
    ]);
    expect(engine.mayStartAgent("Explore", { denied: ["Agent(Explore)"] })).toBe(false);
    expect((await scene.call("Agent", { subagent_type: "Plan" }, limited(only))).decision).toBe("deny");
    expect((await scene.call("Agent", {}, limited(only))).decision).toBe("deny");
    expect((await scene.call("Agent", { subagent_type: "my-own" }, limited(only))).decision).toBe("allow");
  });

  test("a rule that was granted while it runs counts at once", () => {
    const engine = scene.engine();
    expect(engine.mayStartAgent("Explore")).toBe(true);
    engine.grant({ rule: "Agent(Explore)", behavior: "deny", source: "session" });
    expect(engine.mayStartAgent("Explore")).toBe(false);
  });

  test("a pattern with many stars costs no time", () => {
    const engine = scene.engine({ deny: [`Agent(${"a*".repeat(40)}b)`, `mcp__${"a*".repeat(40)}b`] });
    expect(engine.mayStartAgent("a".repeat(5_000))).toBe(true);
  });
});
