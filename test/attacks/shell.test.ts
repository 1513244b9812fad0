import { describe, expect, test } from "vitest";
import { type Given, usePermissionScene } from "./permission-scene.ts";

const scene = usePermissionScene();

async function expectAll(decision: "allow" | "ask" | "deny", commands: readonly string[], given: Given = {}) {
  for (const command of commands) {
    const judged = await scene.bash(command, given);
    expect(judged.decision, `${command}\n${judged.reason}`).toBe(decision);
  }
}

describe("rules that allow a shell command allow no other", () => {
  test("row 1: what follows an allowed command is judged on its own", async () => {
    const given = { allow: ["Bash(echo:*)"] };
    const escapes = [
      'echo "a";id',
      "echo a && id",
      "echo a || id",
      "echo a | id",
      "echo a & id",
      "echo a\nid",
      'echo "a$(id)"',
      "echo a `id`",
      "echo a <(id)",
      `echo \${x:-$(id)}`,
      "echo a > ~/.bashrc",
      "echo a >| out",
      "echo a &> out",
      "echo '\\'; id; echo '",
    ];
    await expectAll("ask", escapes, given);
    await expectAll("allow", ['echo "a;id"', "echo 'a && id'", "echo a\\;id", "echo a # ; id"], given);
  });

  test("row 2: options that run a program end the reading", async () => {
    const given = { allow: ["Bash(rg:*)", "Bash(sort:*)", "Bash(tar:*)", "Bash(git:*)"] };
    const commands = [
      "rg --pre=sh x",
      "rg --pre sh x",
      "rg x --hostname-bin ./x",
      "sort --compress-program=./x a",
      "sort --compress-prog ./x a",
      "tar -xf a --checkpoint-action=exec=./x",
      "git -c core.pager=./x log",
      "git grep --open-files-in-pager=./x y",
      "git fetch --upload-pack=./x",
    ];
    await expectAll("ask", commands);
    await expectAll("ask", commands, given);
  });

  test("row 3: variables that split words and shortened options ask", async () => {
    const commands = [
      "cat$IFS/etc/x",
      `cat\${IFS}/etc/x`,
      "{cat,/etc/x}",
      "sort --outp=x a",
      "sort -ox a",
      "git log --outp=x",
      "$'cat' /etc/passwd",
      "X=cat; $X /etc/passwd",
    ];
    await expectAll("ask", commands);
    await expectAll("ask", ["rm$IFS-rf"], { allow: ["Bash(rm:*)"] });
  });

  test("row 4: a sed script that writes or runs is asked, also with a rule for sed", async () => {
    const scripts = [
      "sed -n 'w /h/.x' a",
      "sed 's/a/b/w out' a",
      "sed 's/a/id/e' a",
      "sed '1e id' a",
      "sed -e '1w out' a",
      "ls | sed 's/x/y/w out'",
      "sed --in-place s/a/b/ ../outside/x",
      "sed -f script a",
    ];
    await expectAll("ask", scripts);
    await expectAll("ask", scripts, { allow: ["Bash(sed:*)"] });
    await expectAll("allow", ["sed -n '1,5p' src/a", "sed s/a/b/g src/a"], { allow: ["Bash(sed:*)"] });
  });

  test("row 5: a rule for find does not cover what find runs or removes", async () => {
    const given = { allow: ["Bash(find:*)"] };
    const commands = [
      "find . -exec id ';'",
      "find . -execdir id {} +",
      "find . -ok id ';'",
      "find . -delete",
      "find . -fprint out",
      "find . -name a -o -exec sh -c id ';'",
      "find . $X",
    ];
    await expectAll("ask", commands, given);
    await expectAll("allow", ["find . -name '*.ts' -type f"], given);
  });

  test("row 6: a redirect that overwrites is a write to its target, and other shells' syntax asks", async () => {
    await expectAll("ask", ["echo x >| out", "echo x >! out", "echo x >>| out", "ls =(id)"], {
      allow: ["Bash(echo:*)"],
    });
    const decision = await scene.bash("echo x >| .git/hooks/pre-commit", { mode: "bypassPermissions" });
    expect(decision).toMatchObject({ decision: "ask", protected: true });
  });

  test("row 7: a relative write is judged in the folder where the shell stands by then", async () => {
    const commands = [
      "cd .cadre && echo x>settings.json",
      "cd .cadre; echo x > settings.json",
      "cd .claude/agents && tee evil.md",
      "pushd .cadre && echo x > settings.json",
      "(cd .git && echo x > config)",
      "cd src && cd ../.cadre && echo x > settings.json",
      "cd nowhere || cd .cadre && echo x > settings.json",
      "bash -c 'cd .cadre; echo x > settings.json'",
      "cd ./.CADRE/ && cp a settings.json",
      "env -C .cadre tee settings.json",
    ];
    for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const)
      for (const command of commands)
        expect(await scene.bash(command, { mode, allow: ["Bash"] }), command).toMatchObject({
          decision: "ask",
          protected: true,
        });
    await expectAll("deny", commands, { mode: "dontAsk" });
    // Where the shell stands is not known, so neither is the file.
    await expectAll(
      "ask",
      ['cd "$X" && echo x > a', "while cd ..; do echo x > a; done", "popd; echo x > a"],
      {
        mode: "acceptEdits",
      },
    );
    await expectAll("allow", ["cd src && echo x > a"], { mode: "acceptEdits" });
  });

  test("row 8: every line is a command", async () => {
    const given = { allow: ["Bash(git log:*)"] };
    await expectAll(
      "ask",
      ["git log\nid", "git log\n\n\tid", "git log #\nid", "git log\r\nid", "git log\u2028id"],
      given,
    );
  });

  test("row 9: what is substituted is a command, wherever it stands", async () => {
    const given = { allow: ["Bash(git log:*)"] };
    const commands = [
      'git log --grep="$(id)"',
      "git log --grep=`id`",
      "$(echo id)",
      "`echo id`",
      `git log "\${x:-$(id)}"`,
      "git log $((1 + $(id)))",
      "git log <<< $(id)",
      "git log <<E\n$(id)\nE",
      "git log >(id)",
      "a=(`id`); git log",
      "a=$(id) git log",
      "case $(id) in *) git log;; esac",
      "for x in $(id); do git log; done",
      "[[ -f $(id) ]] && git log",
    ];
    await expectAll("ask", commands, given);
  });

  test("row 10: variables and builtins that change what runs ask", async () => {
    const given = { allow: ["Bash(git fetch:*)", "Bash(npm test:*)"] };
    const commands = [
      "export PAGER=./x; git fetch",
      "GIT_SSH_COMMAND=x git fetch",
      "PATH=.:$PATH git fetch",
      "LD_PRELOAD=x git fetch",
      "declare -x BASH_ENV=x; npm test",
      "NODE_OPTIONS='-r ./x' npm test",
      "npm_config_script_shell=./x npm test",
      "IFS=x; npm test",
      "alias npm=id; npm test",
      "hash -p ./x git; git fetch",
      "env -S 'git fetch'",
      "readonly PATH=.; npm test",
      "printf -v PATH .; npm test",
      "https_proxy=evil npm test",
    ];
    await expectAll("ask", commands, given);
    await expectAll("allow", ["CI=1 npm test", "LC_ALL=C npm test"], given);
  });

  test("row 11: no wrapper hides a denied command", async () => {
    const given = { allow: ["Bash"], deny: ["Bash(rm:*)"] };
    const wrappers = [
      "env",
      "env -i A=1",
      "timeout 5",
      "timeout -k 1 -s KILL 5",
      "nohup",
      "nice -n 19",
      "ionice -c 3",
      "stdbuf -oL",
      "setsid",
      "xargs",
      "xargs -I{} -P 4",
      "sudo -E -u nobody",
      "doas",
      "chroot /x",
      "busybox",
      "command",
      "command -p",
      "builtin",
      "exec -a ls",
      "time -p",
      "\\time",
      "strace -f -o log",
      "watch -n 1",
      "flock lock",
      "env nohup timeout 5 nice",
      "find . -exec",
      "find . -type f -ok",
    ];
    await expectAll(
      "deny",
      wrappers.flatMap((wrapper) => [`${wrapper} rm x`, `${wrapper} /usr/bin/rm -f x`]),
      given,
    );
    await expectAll(
      "deny",
      ["sh -c 'rm x'", "su root -c 'rm x'", "ssh host 'rm x'", "flock l -c 'ls; rm x'"],
      given,
    );
  });

  test("row 12: words that look different to a reader than to the shell ask", async () => {
    const given = { allow: ["Bash(ls:*)", "Bash(cat:*)"] };
    const commands = [
      "ls \\\n-la",
      "ls \\-la",
      "cat <<E\\OF\nx\nEOF",
      "cat <<'E F'\nx\nE F",
      "cat <<EOF\nx",
      "ls \u200b-l",
    ];
    await expectAll("ask", commands, given);
  });

  test("row 13: a denied command is denied in a command line of any length", async () => {
    const given = { allow: ["Bash"], deny: ["Bash(rm:*)"] };
    const long = [
      `${"echo a; ".repeat(50)}rm x`,
      `${"echo a && ".repeat(5_000)}rm x`,
      `echo ${"a".repeat(300_000)}; rm x`,
      `${"echo $(".repeat(40)}rm x${")".repeat(40)}`,
      `${"echo $(".repeat(400)}rm x${")".repeat(400)}`,
      `${"bash -c '".repeat(1)}${"ls; ".repeat(10_000)}rm x'`,
      `${"(".repeat(300)}rm x${")".repeat(300)}`,
    ];
    await expectAll("deny", long, given);
    await expectAll("deny", long, { ...given, mode: "bypassPermissions" });
    // No word and no rule makes the judgement take longer than its length.
    const heavy = [
      "/".repeat(5_000),
      `s/${"e".repeat(50_000)}`,
      "-".repeat(50_000),
      `a${"=".repeat(50_000)}`,
    ];
    const rules = {
      allow: ["Bash(* a * b * c * d * e)", "Bash(sed:*)", "Bash(cat:*)"],
      deny: ["Bash(* x * y * z *)"],
    };
    for (const word of heavy)
      for (const program of ["cat", "sed", "awk", "git", "cp", "echo"])
        await scene.bash(`${program} ${word} x`, rules);
  });

  test("row 14: programs that reach the network are not read-only", async () => {
    const commands = [
      "ping $(cat k)",
      "ping -c 1 example.com",
      "dig example.com",
      "nslookup example.com",
      "host example.com",
      "curl https://example.com",
      "wget -qO- https://example.com",
      "nc example.com 80",
      "cat < /dev/tcp/example.com/80",
      "echo x > /dev/udp/example.com/53",
      "git fetch",
      "git ls-remote https://example.com/x",
    ];
    await expectAll("ask", commands, { allow: ["Bash(cat:*)", "Bash(echo:*)"] });
  });
});
