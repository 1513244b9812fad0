import { describe, expect, test } from "vitest";
import { usePermissionScene } from "../../test/attacks/permission-scene.ts";
import type { Rule } from "../contracts/permission.ts";

const scene = usePermissionScene();

const broken: [Rule, string][] = [
  ["Bash(", "Bash"],
  ["Bash(git diff", "Bash"],
  ["Bash()", "Bash"],
  ["Bash(git 'diff)", "Bash"],
  ["Bash(git:* push)", "Bash"],
  ["Bash(a | b:*)", "Bash"],
  ["Edit(a[)", "Edit"],
  ["Edit({a,b)", "Edit"],
  ["Read(~root/x)", "Read"],
  ["WebFetch(https://example.com)", "WebFetch"],
  ["WebFetch(domain:)", "WebFetch"],
  ["TodoWrite(x)", "TodoWrite"],
  [{ tool: "Bash", args: "a 'b" }, "Bash"],
];

const inputs: Record<string, Record<string, unknown>> = {
  Bash: { command: "ls" },
  Edit: { file_path: "a" },
  Read: { file_path: "a" },
  WebFetch: { url: "https://a.org/" },
};

describe("a rule that can not be parsed", () => {
  test.each(broken)(
    "%j is reported, denies and asks for all of its tool, and allows nothing",
    async (rule, tool) => {
      const input = inputs[tool] ?? {};
      expect((await scene.call(tool, input, { deny: [rule] })).decision).toBe("deny");
      expect((await scene.call(tool, input, { ask: [rule] })).decision).toBe("ask");
      const without = await scene.call(tool, input);
      expect((await scene.call(tool, input, { allow: [rule] })).decision).toBe(without.decision);
      const engine = scene.engine({ deny: [rule] });
      expect(engine.problems).toMatchObject([{ source: "flag", behavior: "deny" }]);
      expect(engine.problems[0]?.rule).toContain(typeof rule === "string" ? rule : "tool");
    },
  );

  test("without the name of a tool has no effect but its report", async () => {
    const rules = ["", "  ", "(x)", "*x", 5 as unknown as Rule, null as unknown as Rule, {} as Rule];
    const engine = scene.engine({ deny: rules, allow: rules });
    expect(engine.problems).toHaveLength(14);
    expect((await scene.bash("ls", { deny: rules })).decision).toBe("allow");
  });

  test("names of object properties are names like others", async () => {
    const rules = ["toString", "__proto__", "constructor", "hasOwnProperty(x)", "valueOf"];
    expect((await scene.bash("ls", { deny: rules })).decision).toBe("allow");
    expect((await scene.bash("npm test", { allow: rules })).decision).toBe("ask");
    expect((await scene.call("toString", {}, { deny: ["toString"] })).decision).toBe("deny");
    expect((await scene.call("__proto__", {})).decision).toBe("ask");
  });
});

describe("forms of rules", () => {
  const cases: [string, Record<string, unknown>, Rule, boolean][] = [
    ["Bash", { command: "npm test" }, "Bash", true],
    ["Bash", { command: "npm test" }, " Bash ( npm test ) ", true],
    ["Bash", { command: "npm   test" }, "Bash(npm test)", true],
    ["Bash", { command: "npm test x" }, "Bash(npm test)", false],
    ["Bash", { command: "npm test x" }, "Bash(npm test:*)", true],
    ["Bash", { command: "npm test x" }, "Bash(npm test :*)", true],
    ["Bash", { command: "npm test x" }, "Bash(*)", true],
    ["Bash", { command: "npm test x" }, "Bash(:*)", true],
    ["Bash", { command: "npm test x" }, "bash", false],
    ["Bash", { command: "npm 'test x'" }, "Bash(npm test x)", false],
    ["Bash", { command: "npm run $X y" }, "Bash(npm run $X:*)", false],
    ["Bash", { command: "npm 'test x'" }, "Bash(npm 'test x')", true],
    ["Bash", { command: "make a && make b" }, "Bash(make a && make b)", true],
    ["Bash", { command: "make a && make c" }, "Bash(make a && make b)", false],
    ["Bash", { command: "npm test" }, { tool: "Bash", args: "npm:*" }, true],
    ["Bash", { command: "npm test" }, { tool: "Bash" }, true],
    ["Bash", { command: "A=1 make" }, "Bash(A=1 make)", true],
    ["Bash", { command: "PATH=x make" }, "Bash(PATH=x make:*)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(src/**)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(/src/**)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(./src/)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(*.ts)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(./*.ts)", false],
    ["Edit", { file_path: "src/a.ts" }, "Edit(src/*.{js,ts})", true],
    ["Edit", { file_path: "src/x/a.ts" }, "Edit(src/**/a.ts)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(src/**/a.ts)", true],
    ["Edit", { file_path: "srcx/a.ts" }, "Edit(src/**)", false],
    ["Edit", { file_path: "src/a.tsx" }, "Edit(src/a.ts)", false],
    ["Edit", { file_path: "src/a.ts" }, "Edit(src/[ab].ts)", true],
    ["Edit", { file_path: "src/a.ts" }, "Edit(src/[!a].ts)", false],
    ["Edit", { file_path: "src/a\nb" }, "Edit(src/**)", true],
    ["Edit", { file_path: "~/x/y" }, "Edit(~/x)", true],
    ["Edit", { file_path: "/opt/x" }, "Edit(//opt/**)", true],
    ["Edit", { file_path: "/opt/x" }, "Edit(/opt/**)", false],
    ["Edit", { file_path: "../outside/x" }, "Edit(../outside/**)", true],
    ["Edit", { file_path: "src/../../outside/x" }, "Edit(src/**)", false],
    ["Write", { file_path: "src/a.ts" }, "Edit(src/**)", true],
    ["NotebookEdit", { notebook_path: "src/a.ipynb" }, "Edit(src/**)", true],
    ["Edit", { file_path: "src/a.ts" }, "Write(src/**)", false],
    ["Edit", { file_path: "src/a.ts" }, "Write", false],
    ["Write", { file_path: "src/a.ts" }, "Edit", true],
    ["Bash", { command: "echo x > src/a" }, "Edit(src/**)", true],
    ["Read", { file_path: "/opt/x" }, "Read(//opt/**)", true],
    ["Grep", { pattern: "x", path: "/opt/x" }, "Read(//opt/**)", true],
    ["Glob", { pattern: "*", path: "/opt" }, "Read(//opt/**)", true],
    ["Bash", { command: "cat /opt/x" }, "Read(//opt/**)", true],
    ["WebFetch", { url: "https://docs.example.com/x" }, "WebFetch(domain:example.com)", true],
    ["WebFetch", { url: "https://docs.example.com/x" }, "WebFetch(domain:*.example.com)", true],
    ["WebFetch", { url: "https://EXAMPLE.com./" }, "WebFetch(domain: Example.com)", true],
    ["WebFetch", { url: "https://example.com.evil.org/" }, "WebFetch(domain:example.com)", false],
    ["WebFetch", { url: "https://evilexample.com/" }, "WebFetch(domain:example.com)", false],
    ["WebFetch", { url: "https://example.com@evil.org/" }, "WebFetch(domain:example.com)", false],
    ["WebFetch", { url: "https://evil.org/?example.com" }, "WebFetch(domain:example.com)", false],
    ["WebSearch", { query: "x" }, "WebSearch", true],
    ["mcp__git__log", {}, "mcp__git", true],
    ["mcp__git__log", {}, "mcp__git__*", true],
    ["mcp__git__log", {}, "mcp__git__log", true],
    ["mcp__git__log", {}, "mcp__git__lo", false],
    ["mcp__github__log", {}, "mcp__git", false],
    ["mcp__git__log", {}, "*", false],
    ["Other", {}, "Other", true],
  ];

  test.each(cases)("%s %j and the rule %j: %s", async (tool, input, rule, allowed) => {
    const decision = await scene.call(tool, input, { allow: [rule] });
    expect(decision.decision, decision.reason).toBe(allowed ? "allow" : "ask");
    if (!allowed) return;
    expect((await scene.call(tool, input, { deny: [rule], allow: [rule] })).decision).toBe("deny");
    expect((await scene.call(tool, input, { ask: [rule], allow: [rule] })).decision).toBe("ask");
    expect((await scene.call(tool, input, { ask: [rule], mode: "dontAsk" })).decision).toBe("deny");
  });

  test("agents and skills never ask, and a rule by either name of the tool denies them", async () => {
    const explore = { subagent_type: "Explore" };
    expect((await scene.call("Agent", explore)).decision).toBe("allow");
    for (const deny of ["Agent(Explore)", "Task(Explore)", "Agent", "Task", "Agent(Exp*)", "agent(explore)"])
      expect((await scene.call("Agent", explore, { deny: [deny] })).decision, deny).toBe("deny");
    for (const tool of ["Agent", "Task"])
      expect((await scene.call(tool, explore, { deny: [{ tool: "Task", args: "Explore" }] })).decision).toBe(
        "deny",
      );
    expect((await scene.call("Agent", explore, { deny: ["Agent(Plan)"] })).decision).toBe("allow");
    expect((await scene.call("Agent", {}, { deny: ["Agent(general-purpose)"] })).decision).toBe("deny");
    expect((await scene.call("Skill", { skill: "/deploy" }, { deny: ["Skill(deploy)"] })).decision).toBe(
      "deny",
    );
    expect((await scene.call("Skill", { skill: "deploy" }, { ask: ["Skill"] })).decision).toBe("ask");
  });

  test("relative paths start in the folder of the rule's source, restrictions in every working folder, too", async () => {
    const source = { source: "project" as const, folder: `${scene.root}/src` };
    const inSource = { sources: [{ ...source, allow: ["Edit(./a)"], deny: ["Edit(./b)"] }] };
    const edit = async (file_path: string) => (await scene.call("Edit", { file_path }, inSource)).decision;
    expect(await edit("src/a")).toBe("allow");
    expect(await edit("a")).toBe("ask");
    expect(await edit("src/b")).toBe("deny");
    expect(await edit("b")).toBe("deny");
  });

  test("on file systems that see no difference in case, neither do rules", async () => {
    const given = { deny: ["Read(./Secrets/**)"], platform: "darwin" as const };
    expect((await scene.call("Read", { file_path: "secrets/x" }, given)).decision).toBe("deny");
    expect(
      (await scene.call("Read", { file_path: "secrets/x" }, { ...given, platform: "linux" })).decision,
    ).toBe("allow");
  });

  test("a denied tool is denied in any spelling of its name", async () => {
    expect((await scene.bash("ls", { deny: ["bash"] })).decision).toBe("deny");
    expect((await scene.call("Write", { file_path: "a" }, { deny: ["edit"] })).decision).toBe("deny");
    expect((await scene.bash("ls", { deny: ["*"] })).decision).toBe("deny");
  });
});
