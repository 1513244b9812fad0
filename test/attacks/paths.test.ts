import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import { createPermissionEngine } from "../../src/permissions/engine.ts";
import { usePermissionScene } from "./permission-scene.ts";

const scene = usePermissionScene();

beforeAll(async () => {
  await mkdir(`${scene.root}-evil`);
  await writeFile(`${scene.root}-evil/x`, "");
  await scene.write("secrets/key");
  await scene.write("src/a.ts");
});

const read = (path: string) => ({ file_path: path });

describe("paths are judged by where they lead", () => {
  test("row 15: a folder whose name begins with a working folder's name is outside", async () => {
    for (const mode of ["default", "acceptEdits", "plan"] as const) {
      expect((await scene.call("Read", read(`${scene.root}-evil/x`), { mode })).decision).toBe("ask");
      expect((await scene.bash(`cat ${scene.root}-evil/x`, { mode })).decision).not.toBe("allow");
    }
    expect((await scene.call("Write", read(`${scene.root}-evil/y`), { mode: "acceptEdits" })).decision).toBe(
      "ask",
    );
    expect((await scene.call("Read", read(`${scene.root}-evil/x`), { mode: "dontAsk" })).decision).toBe(
      "deny",
    );
    expect((await scene.call("Grep", { pattern: "x", path: `../project-evil` })).decision).toBe("ask");
    expect((await scene.call("Glob", { pattern: "../project-evil/**" })).decision).toBe("ask");
    expect((await scene.call("Read", read("src/a.ts"))).decision).toBe("allow");
  });

  test("row 16: a link to a denied file is denied, for every tool that would follow it", async () => {
    const link = await scene.link("secrets/key", "innocent");
    await scene.link("secrets", "folder");
    const deny = ["Read(./secrets/**)", "Edit(./secrets/**)"];
    for (const path of [link, "innocent", "./src/../innocent", "folder/key", "secrets/key", "secrets"]) {
      for (const tool of ["Read", "Edit", "Write"])
        expect(
          (await scene.call(tool, read(path), { deny, allow: ["Edit", "Read"] })).decision,
          `${tool} ${path}`,
        ).toBe("deny");
      expect((await scene.call("Grep", { pattern: "x", path }, { deny })).decision).toBe("deny");
      expect((await scene.bash(`cat ${path}`, { deny, allow: ["Bash"] })).decision).toBe("deny");
      expect((await scene.bash(`echo x > ${path}`, { deny, allow: ["Bash"] })).decision).toBe("deny");
    }
    // What is denied by its own name is denied wherever it leads.
    await scene.link("src/a.ts", "alias");
    expect((await scene.call("Read", read("alias"), { deny: ["Read(./alias)"] })).decision).toBe("deny");
    // To edit is to see; to deny reading is to deny that.
    expect((await scene.call("Edit", read("innocent"), { deny: ["Read(./secrets/**)"] })).decision).toBe(
      "deny",
    );
    expect((await scene.call("Glob", { pattern: "secrets/*" }, { deny })).decision).toBe("deny");
    expect((await scene.call("Grep", { pattern: "x", glob: "secrets/key" }, { deny })).decision).toBe("deny");
  });

  test("row 16: an allow rule for a link's name does not allow where it leads", async () => {
    await writeFile(join(scene.outside, "x"), "");
    await scene.link(join(scene.outside, "x"), "docs-link");
    const decision = await scene.call("Edit", read("docs-link"), { allow: ["Edit(./docs-link)"] });
    expect(decision.decision).toBe("ask");
  });

  test("row 17: what can not be resolved is not inside", async () => {
    await scene.link(join(scene.outside, "not-there-yet"), "dangling");
    await scene.link("loop-b", "loop-a");
    await scene.link("loop-a", "loop-b");
    for (const path of ["dangling", "dangling/x", "loop-a", "loop-a/x", "src/a.ts/x"])
      expect((await scene.call("Write", read(path), { mode: "acceptEdits" })).decision, path).toBe("ask");
    const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    const engine = createPermissionEngine({
      files: { ...createNodeWorld().files, realPath: () => Promise.reject(denied) },
      homeFolder: scene.home,
      platform: "linux",
      rules: [{ source: "user", allow: ["Edit(./src/**)", "Read(./src/**)"] }],
    });
    const folder = { root: scene.root, roots: [scene.root], current: scene.root };
    for (const toolName of ["Read", "Write"]) {
      const input = { file_path: "src/a.ts" };
      const question = {
        toolName,
        aliases: [],
        input,
        isReadOnly: false,
        mode: "acceptEdits",
        folder,
      } as const;
      expect((await engine.decide(question)).decision).toBe("ask");
    }
  });

  test("row 19: a new file below a folder that is a link is where the link leads", async () => {
    await scene.link(scene.outside, "out");
    for (const path of ["out/new", "out/a/b/new", "src/../out/new"])
      expect((await scene.call("Write", read(path), { mode: "acceptEdits" })).decision, path).toBe("ask");
    for (const command of ["echo x > out/new", "cd out && echo x > new", "mkdir out/x", "cp src/a.ts out"])
      expect((await scene.bash(command, { mode: "acceptEdits" })).decision, command).toBe("ask");
    // The shell walks the link before it goes up.
    expect((await scene.bash("echo x > out/../new", { mode: "acceptEdits" })).decision).toBe("ask");
    expect((await scene.call("Write", read("src/new/deep"), { mode: "acceptEdits" })).decision).toBe("allow");
  });

  test("row 20: protected names are protected in any spelling that a file system takes for the same", async () => {
    const paths = [
      ".CADRE/Settings.json",
      ".Claude/settings.local.json",
      ".GIT/hooks/pre-commit",
      ".git/config",
      ".git",
      ".VSCode/tasks.json",
      ".Mcp.Json",
      ".BASHRC",
      ".\u017fsh/authorized_keys",
      ".git./hooks/x",
      ".git /config",
      ".c\u200dadre/settings.json",
      "sub/.cadre/agents/x.md",
      ".husky/pre-commit",
      ".npmrc",
      ".idea/workspace.xml",
      "~/.zshrc",
      "~/.config/fish/config.fish",
      "~/.config/systemd/user/x.service",
      "~/.cadre/settings.json",
      "~/.gitconfig",
      "/etc/cron.d/x",
    ];
    for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const)
      for (const path of paths)
        for (const tool of ["Write", "Edit"])
          expect(
            await scene.call(tool, read(path), { mode, allow: ["Edit", "Write", `Edit(${path})`] }),
            path,
          ).toMatchObject({
            decision: "ask",
            protected: true,
          });
    for (const path of paths) {
      expect((await scene.call("Write", read(path), { mode: "dontAsk" })).decision).toBe("deny");
      expect((await scene.call("Write", read(path), { mode: "plan" })).decision).toBe("deny");
    }
    for (const path of [
      ".gitignore",
      ".github/x.yml",
      "cadre/settings.json",
      "git/config",
      "src/profile",
      ".env",
    ])
      expect((await scene.call("Write", read(path), { mode: "acceptEdits" })).decision, path).toBe("allow");
  });

  test("row 20: a worktree that stands in a folder of ours is a working folder like others", async () => {
    const root = join(scene.root, ".cadre", "worktrees", "a");
    await mkdir(root, { recursive: true });
    const question = { folder: { root, roots: [root], current: root } };
    const write = async (path: string) =>
      (await scene.call("Write", read(path), { mode: "acceptEdits", question })).decision;
    expect(await write("src/x")).toBe("allow");
    expect(await write(".cadre/settings.json")).toBe("ask");
    expect(await write("../../settings.json")).toBe("ask");
  });

  test("row 20: shell commands that write a protected file are protected, too", async () => {
    await scene.link(".git", "plain");
    const commands = [
      "echo x > .cadre/settings.json",
      "echo x >> ~/.bashrc",
      'echo x > "$HOME/.bashrc"',
      `echo x > \${HOME}/.profile`,
      "tee -a .mcp.json",
      "cp evil .git/hooks/pre-commit",
      "cp -t .git/hooks evil",
      "cp evil/.cadre .",
      "mv evil .claude",
      "mv .cadre/settings.json x",
      "ln -s evil .cadre",
      "ln -sf ../evil .git/config",
      "sed -i s/a/b/ .vscode/settings.json",
      "dd if=x of=.git/config",
      "install -m 755 evil .git/hooks/pre-push",
      "rsync evil ~/.ssh/authorized_keys",
      "rm -rf .cadre",
      "touch .Cadre/settings.json",
      "mkdir -p .claude/agents",
      "truncate -s 0 .npmrc",
      "sort -o .mcp.json a",
      "git config core.hooksPath x",
      "git config --global core.pager x",
      "sudo tee /etc/profile",
      "timeout 5 tee .cadre/settings.json",
      "sh -c 'echo x > .cadre/settings.json'",
      "echo x > plain/hooks/pre-commit",
      "echo x > src/../.cadre/settings.json",
    ];
    for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const)
      for (const command of commands)
        expect(await scene.bash(command, { mode, allow: ["Bash", "Edit"] }), command).toMatchObject({
          decision: "ask",
          protected: true,
        });
  });

  test("row 21: names are taken byte for byte, and a slash at the end changes nothing", async () => {
    await scene.write("secret ");
    const deny = ["Read(./secrets/)", "Read(./private)"];
    for (const path of [
      "secrets",
      "secrets/",
      "secrets//",
      "./secrets/.",
      "secrets/key",
      "secrets/key/",
      "private/",
      "private/.",
    ])
      expect((await scene.call("Read", read(path), { deny })).decision, path).toBe("deny");
    expect((await scene.call("Read", read("private "), { deny })).decision).toBe("allow");
    expect((await scene.call("Read", read(' "private"'), { deny })).decision).toBe("allow");
    expect((await scene.call("Read", read("src/a.ts\0.png"), { allow: ["Read"] })).decision).toBe("deny");
    expect((await scene.call("Read", read(""))).decision).toBe("ask");
  });

  test("row 22: a link that was planted in the temporary folder is followed before it is judged", async () => {
    const planted = join(scene.outside, "cadre-output");
    await symlink(join(scene.root, "secrets", "key"), planted);
    const given = {
      deny: ["Edit(./secrets/**)", "Read(./secrets/**)"],
      question: { sessionFolders: [scene.outside] },
    };
    expect((await scene.call("Read", read(planted), given)).decision).toBe("deny");
    expect((await scene.call("Write", read(planted), given)).decision).toBe("deny");
    await symlink("/etc/passwd", join(scene.outside, "other"));
    expect((await scene.call("Read", read(join(scene.outside, "other")), given)).decision).toBe("ask");
  });

  test("row 23: no folder that the model chooses becomes a working folder", async () => {
    for (const input of [
      { command: "cat /etc/passwd", cwd: "/" },
      { command: "cat /etc/passwd", roots: ["/"], folder: { root: "/" } },
      { command: "cd / && cat etc/passwd" },
    ])
      expect((await scene.call("Bash", input)).decision).toBe("ask");
    const moved = { question: { folder: { root: scene.root, roots: [scene.root], current: "/etc" } } };
    expect((await scene.call("Read", read("passwd"), moved)).decision).toBe("ask");
    expect((await scene.bash("cat passwd", moved)).decision).toBe("ask");
    expect((await scene.bash("echo x > x", { ...moved, mode: "acceptEdits" })).decision).toBe("ask");
  });

  test("PE-4: the session's own files can be read, and nothing is written there without a question", async () => {
    await writeFile(join(scene.outside, "result.txt"), "");
    const given = { question: { sessionFolders: [scene.outside] } };
    const path = join(scene.outside, "result.txt");
    expect((await scene.call("Read", read(path), given)).decision).toBe("allow");
    expect((await scene.bash(`cat ${path}`, given)).decision).toBe("allow");
    expect((await scene.call("Write", read(path), { ...given, mode: "acceptEdits" })).decision).toBe("ask");
  });
});
