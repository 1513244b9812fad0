import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Given, usePermissionScene } from "./permission-scene.ts";

const scene = usePermissionScene();

async function expectAll(decision: "allow" | "ask" | "deny", commands: readonly string[], given: Given = {}) {
  for (const command of commands) {
    const judged = await scene.bash(command, given);
    expect(judged.decision, `${command}\n${judged.reason}`).toBe(decision);
  }
}

describe("a function lends its name to nothing but its own calls", () => {
  test("row 11: paths, wrappers and other shells start the program of that name", async () => {
    await expectAll("ask", [
      "rm() { :; }; /bin/rm -rf src",
      "rm() { :; }; command rm -rf src",
      "rm() { :; }; env rm -rf src",
      "rm() { :; }; timeout 5 rm -rf src",
      "rm() { :; }; exec rm -rf src",
      "rm() { :; }; echo src | xargs rm -rf",
      "rm() { :; }; bash -c 'rm -rf src'",
      "./rm() { :; }; ./rm",
    ]);
  });

  test("row 11: what may never be defined here counts for nothing", async () => {
    await expectAll("ask", [
      "rm -rf src; rm() { :; }",
      "(rm() { :; }); rm -rf src",
      "false && rm() { :; }; rm -rf src",
      "rm() { :; } | true; rm -rf src",
      "rm() { :; } & rm -rf src",
      "if false; then rm() { :; }; fi; rm -rf src",
      "echo $(rm() { :; }); rm -rf src",
      "f() { rm() { :; }; }; rm -rf src",
      "bash -c 'rm() { :; }'; rm -rf src",
    ]);
    await expectAll("allow", ["show() { ls; }; show", "show() { ls; }\nshow | head"]);
  });

  test("row 7: a command that only seems to move does not change where paths lead", async () => {
    await mkdir(join(scene.root, "src", "deep"), { recursive: true });
    await expectAll("ask", [
      `cd() { :; }; cd ${scene.root}/src/deep && cat ../../a`,
      "env cd src/deep && cat ../../a",
      "env -iC .. cat outside/secret",
    ]);
  });
});

describe("what only reads reads only here", () => {
  test("row 9: the index of an array is evaluated", async () => {
    await expectAll("ask", ["x='a[$(id)]'; b[x]=1", "b['$(id)']=1", "x='a[$(id)]'; b=([x]=1)"]);
  });

  test("row 3: a pattern in the same word, or behind a shortened option, is no file", async () => {
    await expectAll("ask", [
      "grep -ex /etc/passwd",
      "grep -ie. /etc/passwd",
      "grep --reg=. /etc/passwd",
      "grep --fil /etc/passwd src",
      "grep -e. -- /etc/passwd",
      "rg -ex /etc",
    ]);
    await expectAll("allow", ["grep -ex src", "grep -rn x src | head", "rg -e x src", "grep -n /etc/x src"]);
  });

  test("row 15: git compares files of any folder", async () => {
    await expectAll("ask", ["git diff /etc/passwd /etc/group", "git diff -- src ../outside/secret"]);
    await expectAll("allow", [
      "git diff HEAD~1..HEAD",
      "git diff main...topic -- src",
      "git diff origin/main",
    ]);
  });

  test("row 16: git runs in no repository that a link leads to", async () => {
    await scene.link(scene.outside, "out");
    await expectAll("ask", ["git -C out status", "git -C ./out/. log", "cd out && git status"]);
    await expectAll("allow", ["git -C src status", "git -C . log --oneline"]);
  });

  test("row 16: links in a folder that is searched are not followed", async () => {
    await expectAll("ask", ["grep -R x .", "grep -nR x", "grep --deref x .", "rg -L x", "rg --follow x"]);
    await expectAll("allow", ["grep -rn x .", "grep -eR src"]);
  });

  test("row 15: patterns of the shell show no other folder", async () => {
    const up = ["cat .?/outside/secret", "cat .*/outside/secret", "grep -r x .*", "cat @(..)/outside/secret"];
    await expectAll("ask", [...up, "echo /etc/*", "printf '%s\\n' ~/*", "echo ../outside/*"]);
    await expectAll("allow", ["cat src/*.ts", "echo src/*", "cat src/*/a.ts", "ls .eslintrc*"]);
  });

  test("row 2: a program for jq that reads other files asks", async () => {
    await expectAll("ask", [
      `jq -n 'import "config" as $d {search: "~/.docker"}; $d'`,
      `jq -n 'include "x" {search: "/etc"}; .'`,
      "jq -L /etc . a",
      "jq -nf script.jq",
    ]);
    await expectAll("allow", ["jq .scripts package.json", "jq -r '.a[] | .b' a.json", "cat a | jq ."]);
  });
});

describe("letters that run together, and other spellings, hide nothing", () => {
  test("row 3: an allowed program stays without its dangerous options", async () => {
    const given = {
      allow: ["sort", "tar", "sed", "awk", "git log", "npm run"].map((name) => `Bash(${name}:*)`),
    };
    await expectAll(
      "ask",
      [
        "sort -uo x y",
        "tar -Iid -xf x",
        "tar cIf id x y",
        "sed --i s/a/b/ x",
        "sed 's_a_id_e' f",
        "sed 's%x%id%e' f",
        "sed saaidae f",
        `awk 'BEGIN{f="system"; @f("id")}'`,
        "git log --outp=x",
        "npm run x --script-shell=id",
      ],
      given,
    );
    await expectAll(
      "allow",
      ["sort -u x", "tar -xzf x LICENSE", "sed -e s/a/b/ my_file", "npm run test -- --watch"],
      given,
    );
  });

  test("row 36: output options are writes to protected files", async () => {
    await expectAll(
      "ask",
      [
        "curl -sSLo .mcp.json http://x",
        "wget -qO .mcp.json http://x",
        "sort -uo .mcp.json a",
        "uniq a .mcp.json",
        "find . -fprint .mcp.json",
        "git log --output=.mcp.json",
        "git diff --output .git/config",
        "yes | sponge .mcp.json",
      ],
      { allow: ["Bash"] },
    );
  });

  test("row 11: runners of other programs do not hide a denied one", async () => {
    const runners = [
      "npx",
      "npm exec --",
      "uv run",
      "poetry run",
      "bundle exec",
      "docker exec box",
      "cross-env A=1",
    ];
    const given = { allow: ["Bash"], deny: ["Bash(rm:*)"] };
    await expectAll("deny", [...runners.map((runner) => `${runner} rm x`), "npx -c 'rm x'"], given);
    await expectAll("allow", ["npm run rm", "docker ps", "git rm x"], given);
  });

  test("row 16: what changes a file can show it, too", async () => {
    await writeFile(join(scene.root, ".env"), "");
    const given = { mode: "bypassPermissions", deny: ["Read(./.env)"] } as const;
    await expectAll("deny", ["dd if=.env", "vim .env", "sed -i s/a/b/ .env", "split .env"], given);
  });
});
