import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PermissionMode, RuleSource, SourcedRules } from "../../src/contracts/permission.ts";
import { usePermissionScene } from "./permission-scene.ts";

const scene = usePermissionScene();
const order = { deny: 0, ask: 1, allow: 2 };

const source = fc.constantFrom<RuleSource>(
  "policy",
  "flag",
  "project-local",
  "project",
  "user",
  "session",
  "command",
);
const mode = fc.constantFrom<PermissionMode>(
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "bypassPermissions",
  "bubble",
);
const rule = fc.constantFrom(
  "Bash",
  "Bash(ls:*)",
  "Bash(rm:*)",
  "Bash(rm -rf *)",
  "Bash(git push:*)",
  "Bash(*)",
  "Bash(echo *)",
  "Edit",
  "Edit(./src/**)",
  "Write(./a)",
  "Read(./secrets/**)",
  "Read",
  "WebFetch(domain:example.com)",
  "mcp__server",
  "mcp__server__*",
  "Agent(Explore)",
  "Task",
  "toString",
  "__proto__",
  "constructor(x)",
  "Bash(",
  "Edit(a",
  "",
);
const call = fc.constantFrom<[string, Record<string, unknown>]>(
  ["Bash", { command: "ls" }],
  ["Bash", { command: "rm -rf x" }],
  ["Bash", { command: "echo a > src/x" }],
  ["Bash", { command: "cat secrets/key" }],
  ["Bash", { command: "git $X" }],
  ["Bash", { command: "sudo rm x; git push" }],
  ["Edit", { file_path: "src/x" }],
  ["Write", { file_path: "a" }],
  ["Read", { file_path: "secrets/key" }],
  ["Grep", { pattern: "x", path: "secrets" }],
  ["WebFetch", { url: "https://docs.example.com/" }],
  ["mcp__server__tool", {}],
  ["Agent", { subagent_type: "Explore" }],
  ["TodoWrite", {}],
);
const ruleSet: fc.Arbitrary<SourcedRules> = fc.record({
  source,
  allow: fc.array(rule, { maxLength: 4 }),
  ask: fc.array(rule, { maxLength: 2 }),
  deny: fc.array(rule, { maxLength: 2 }),
});

describe("deny wins over ask and ask over allow", () => {
  test("row 61: no allow rule beats a deny, in any order of rules and sources", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ruleSet, { maxLength: 4 }),
        call,
        mode,
        async (sources, [tool, input], when) => {
          const alone = sources.map((each) => ({ ...each, allow: [], ask: [] }));
          const strict = await scene.call(tool, input, { sources: alone, mode: when });
          const given = await scene.call(tool, input, { sources, mode: when });
          const reversed = await scene.call(tool, input, { sources: [...sources].reverse(), mode: when });
          expect(given.decision).toBe(reversed.decision);
          if (strict.decision === "deny" && strict.rule !== undefined) expect(given.decision).toBe("deny");
        },
      ),
      { numRuns: 300 },
    );
  });

  test("row 61: one more deny or ask rule never allows more, one more allow rule never less", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ruleSet, { maxLength: 3 }),
        rule,
        source,
        call,
        mode,
        async (sources, added, from, [tool, input], when) => {
          const ranked = async (more: SourcedRules[]) =>
            order[(await scene.call(tool, input, { sources: [...sources, ...more], mode: when })).decision];
          const before = await ranked([]);
          expect(await ranked([{ source: from, deny: [added] }])).toBeLessThanOrEqual(before);
          expect(await ranked([{ source: from, ask: [added] }])).toBeLessThanOrEqual(before);
          expect(await ranked([{ source: from, allow: [added] }])).toBeGreaterThanOrEqual(before);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a command line is allowed exactly if each of its parts is", async () => {
    const part = fc.constantFrom(
      "ls",
      "npm test",
      "git diff x",
      "rm x",
      "echo hi",
      "id",
      "cat src/a",
      "cat /etc/x",
      "make",
      "X=1 ls",
      "PATH=. ls",
    );
    const joint = fc.constantFrom("; ", " && ", " || ", " | ", "\n");
    const allow = ["Bash(npm test:*)", "Bash(git diff:*)", "Bash(make)"];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(part, joint), { minLength: 1, maxLength: 6 }), async (parts) => {
        const command = parts.map(([text, sign], index) => (index === 0 ? text : sign + text)).join("");
        const each = await Promise.all(parts.map(([text]) => scene.bash(text, { allow })));
        const all = each.every(({ decision }) => decision === "allow");
        expect((await scene.bash(command, { allow })).decision, command).toBe(all ? "allow" : "ask");
      }),
      { numRuns: 200 },
    );
  });

  test("row 61: a rule that a person grants does not beat a deny, and every input is judged anew", async () => {
    const engine = scene.engine({ deny: ["Bash(rm:*)"], ask: ["Bash(git push:*)"] });
    engine.grant({ rule: "Bash", behavior: "allow", source: "session" });
    const decide = (command: string) =>
      engine.decide({
        toolName: "Bash",
        aliases: [],
        input: { command },
        isReadOnly: true,
        mode: "default",
        folder: { root: scene.root, roots: [scene.root], current: scene.root },
      });
    expect((await decide("npm test")).decision).toBe("allow");
    expect((await decide("npm test; rm x")).decision).toBe("deny");
    expect((await decide("git push")).decision).toBe("ask");
    engine.grant({ rule: "Bash(npm:*)", behavior: "deny", source: "project-local" });
    expect((await decide("npm test")).decision).toBe("deny");
  });

  test("row 61: what a child is given instead of its parent's allow rules leaves deny and ask rules in place", async () => {
    const given = { allow: ["Bash(npm:*)"], deny: ["Bash(rm:*)"], ask: ["Bash(git:*)"] };
    const question = { allowInstead: ["Bash(make:*)", "Bash(rm:*)", "Bash(git:*)"] };
    expect((await scene.bash("npm test", { ...given, question })).decision).toBe("ask");
    expect((await scene.bash("make", { ...given, question })).decision).toBe("allow");
    expect((await scene.bash("rm x", { ...given, question })).decision).toBe("deny");
    expect((await scene.bash("git push", { ...given, question })).decision).toBe("ask");
  });

  test("policy can forbid what users and projects allow, and never what they forbid", async () => {
    const sources: SourcedRules[] = [
      { source: "user", allow: ["Bash(npm:*)"], deny: ["Bash(rm:*)"] },
      { source: "project", allow: ["Edit"] },
      { source: "policy", allow: ["Bash(make:*)", "Bash(rm:*)"] },
    ];
    const given = { sources, policyOnly: true };
    expect((await scene.bash("npm test", given)).decision).toBe("ask");
    expect((await scene.bash("make", given)).decision).toBe("allow");
    expect((await scene.bash("rm x", given)).decision).toBe("deny");
    expect((await scene.call("Edit", { file_path: "a" }, given)).decision).toBe("ask");
  });
});
