import { describe, expect, test } from "vitest";
import { usePermissionScene } from "../../test/attacks/permission-scene.ts";
import type { PermissionMode } from "../contracts/permission.ts";

const scene = usePermissionScene();

type Word = "allow" | "ask" | "deny";
const modes = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "bubble"] as const;

/** In the order of `modes`. */
const table: [string, Record<string, unknown>, string][] = [
  ["Read", { file_path: "src/a" }, "allow allow allow allow allow allow"],
  ["Read", { file_path: "../outside/a" }, "ask ask ask deny allow ask"],
  ["Grep", { pattern: "x" }, "allow allow allow allow allow allow"],
  ["Edit", { file_path: "src/a" }, "ask allow deny deny allow ask"],
  ["Write", { file_path: "../outside/a" }, "ask ask deny deny allow ask"],
  ["Write", { file_path: ".git/hooks/x" }, "ask ask deny deny ask ask"],
  ["Bash", { command: "ls" }, "allow allow allow allow allow allow"],
  ["Bash", { command: "npm test" }, "ask ask deny deny allow ask"],
  ["Bash", { command: "mkdir -p src/x" }, "ask allow deny deny allow ask"],
  ["Bash", { command: "touch a && mv a src && rm src/a" }, "ask allow deny deny allow ask"],
  ["Bash", { command: "rm -rf src" }, "ask ask deny deny allow ask"],
  ["Bash", { command: "mkdir ../outside/x" }, "ask ask deny deny allow ask"],
  ["Bash", { command: "cp ../outside/x a" }, "ask ask deny deny allow ask"],
  ["Bash", { command: "cp -r src/. ." }, "ask ask deny deny allow ask"],
  ["Bash", { command: "ln -s a b" }, "ask ask deny deny allow ask"],
  ["Bash", { command: "echo x > src/a" }, "ask allow deny deny allow ask"],
  ["Bash", { command: "cat ../outside/a" }, "ask ask ask deny allow ask"],
  ["Bash", { command: "tee .cadre/settings.json" }, "ask ask deny deny ask ask"],
  ["WebFetch", { url: "https://a.org" }, "ask ask ask deny allow ask"],
  ["WebSearch", { query: "x" }, "ask ask ask deny allow ask"],
  ["mcp__a__b", {}, "ask ask deny deny allow ask"],
  ["TodoWrite", {}, "allow allow allow allow allow allow"],
  ["ExitPlanMode", {}, "allow allow allow allow allow allow"],
  ["Agent", { subagent_type: "x" }, "allow allow allow allow allow allow"],
  ["SendMessage", {}, "allow allow allow allow allow allow"],
  ["Other", {}, "ask ask deny deny allow ask"],
];

describe("modes", () => {
  test.each(table)("%s %j: %s", async (tool, input, expected) => {
    const found: Word[] = [];
    for (const mode of modes) found.push((await scene.call(tool, input, { mode })).decision);
    expect(found.join(" ")).toBe(expected);
  });

  test("plan mode does not write, whatever is allowed, and looks up what is", async () => {
    const given = {
      mode: "plan" as PermissionMode,
      allow: ["Bash", "Edit", "WebFetch(domain:a.org)", "mcp__a"],
    };
    for (const command of ["npm test", "echo x > a", "eval ls", "x=$(npm test)"])
      expect((await scene.bash(command, given)).decision, command).toBe("deny");
    expect((await scene.call("Edit", { file_path: "a" }, given)).decision).toBe("deny");
    expect((await scene.call("WebFetch", { url: "https://a.org" }, given)).decision).toBe("allow");
    expect((await scene.bash("timeout 5 git log | head", given)).decision).toBe("allow");
  });

  test("bypassing stops at deny rules", async () => {
    const given = { mode: "bypassPermissions" as const, deny: ["Bash(rm:*)", "Edit(./src/**)", "WebFetch"] };
    expect((await scene.bash("ls && rm x", given)).decision).toBe("deny");
    expect((await scene.bash("echo x > src/a", given)).decision).toBe("deny");
    expect((await scene.call("Write", { file_path: "src/a" }, given)).decision).toBe("deny");
    expect((await scene.call("WebFetch", { url: "https://a.org" }, given)).decision).toBe("deny");
  });

  test("a decision names the part, the rule and its source", async () => {
    const sources = [{ source: "project" as const, deny: ["Bash(rm:*)"] }];
    expect(await scene.bash("ls; sudo /bin/rm -f x", { sources })).toEqual({
      decision: "deny",
      reason: '"/bin/rm -f x" is denied by the project rule Bash(rm:*)',
      part: "/bin/rm -f x",
      rule: { source: "project", rule: "Bash(rm:*)" },
    });
  });

  test("every suggested rule, granted alone, allows the call", async () => {
    const calls: [string, Record<string, unknown>][] = [
      ["Bash", { command: "npm run build -- --x" }],
      ["Bash", { command: "npm test && git push origin main" }],
      ["Bash", { command: 'git commit -m "a (b) *"' }],
      ["Bash", { command: "make" }],
      ["Bash", { command: "echo x > out.txt" }],
      ["Bash", { command: "python3 -c 'print(1)'" }],
      ["Bash", { command: "A=1 npm test" }],
      ["Bash", { command: "timeout 5 npm test" }],
      ["Bash", { command: "PATH=x ls" }],
      ["Bash", { command: "cat ../outside/x" }],
      ["Bash", { command: "rg --pre x y" }],
      ["Edit", { file_path: "src/a.ts" }],
      ["Write", { file_path: "a b" }],
      ["Read", { file_path: "~/notes/x" }],
      ["Read", { file_path: "../outside/x" }],
      ["Grep", { pattern: "x", path: "../outside" }],
      ["NotebookEdit", { notebook_path: "src/a.ipynb" }],
      ["WebFetch", { url: "https://a.org/x" }],
      ["mcp__a__b", {}],
      ["Other", {}],
    ];
    for (const [tool, input] of calls) {
      const { decision, suggestions = [] } = await scene.call(tool, input);
      expect(decision).toBe("ask");
      for (const rule of suggestions)
        expect(
          (await scene.call(tool, input, { allow: [rule] })).decision,
          `${JSON.stringify(input)} ${rule}`,
        ).toBe("allow");
    }
    expect((await scene.bash("npm run build -- --x")).suggestions).toEqual([
      "Bash(npm run build -- --x)",
      "Bash(npm run build:*)",
    ]);
    expect((await scene.call("Edit", { file_path: "src/a.ts" })).suggestions?.[0]).toBe("Edit(./src/a.ts)");
    expect((await scene.bash("tee .git/config")).suggestions).toBeUndefined();
    expect((await scene.bash("eval $X")).suggestions).toBeUndefined();
    expect((await scene.bash("npm test", { ask: ["Bash(npm:*)"] })).suggestions).toBeUndefined();
  });
});
