import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createGrepTool } from "./grep.ts";
import { createRipgrep } from "./ripgrep.ts";

const withRipgrep = createGrepTool();
let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

describe.each([
  ["with ripgrep", withRipgrep],
  ["without ripgrep", createGrepTool({ ripgrep: createRipgrep([async () => "/no/such/program"]) })],
])("Grep %s", (_, grep) => {
  const search = (pattern: string, rest: Record<string, unknown> = {}) =>
    scene.call(grep, { pattern, ...rest });
  const content = (pattern: string, rest: Record<string, unknown> = {}) =>
    search(pattern, { output_mode: "content", ...rest });

  it("lists the files with matches by default", async () => {
    await scene.write("b.ts", "foo\n");
    await scene.write("a/x.ts", "a foo\n");
    await scene.write("c.ts", "bar\n");
    expect(await search("fo+")).toBe("a/x.ts\nb.ts");
    expect(await search("nothing")).toBe("No matches.");
  });

  it("shows matching lines with numbers, or without", async () => {
    await scene.write("a.txt", "one\r\nfoo: 1-2:3\r\ntwo foo\r\n");
    expect(await content("foo")).toBe("a.txt:2:foo: 1-2:3\na.txt:3:two foo");
    expect(await content("foo", { "-n": false })).toBe("a.txt:foo: 1-2:3\na.txt:two foo");
    expect(await content("foo$")).toBe("a.txt:3:two foo");
    expect(await content("FOO")).toBe("No matches.");
    expect(await content("^FOO", { "-i": true })).toBe("a.txt:2:foo: 1-2:3");
  });

  it("shows lines around matches, apart where they are apart", async () => {
    await scene.write("a.txt", "1\n2\nx\n4\n5\n6\n7\nx\n9\n");
    await scene.write("b.txt", "x\n");
    expect(await content("x", { "-C": 1 })).toBe(
      "a.txt-2-2\na.txt:3:x\na.txt-4-4\n--\na.txt-7-7\na.txt:8:x\na.txt-9-9\n--\nb.txt:1:x",
    );
    expect(await content("x", { path: "a.txt", "-A": 1, "-B": 0, "-C": 5 })).toBe(
      "a.txt:3:x\na.txt-4-4\n--\na.txt:8:x\na.txt-9-9",
    );
  });

  it("counts matching lines, with a total", async () => {
    await scene.write("a.txt", "x x\nx\ny\n");
    await scene.write("b.txt", "x\n");
    expect(await search("x", { output_mode: "count" })).toBe("a.txt:2\nb.txt:1\nTotal: 3 in 2 files");
  });

  it("pages with head_limit and offset", async () => {
    await scene.write("a.txt", "x1\nx2\nx3\nx4\n");
    expect(await content("x", { head_limit: 2 })).toBe(
      "a.txt:1:x1\na.txt:2:x2\n(1 to 2 of 4. Go on with offset 2.)",
    );
    expect(await content("x", { head_limit: 2, offset: 2 })).toBe(
      "a.txt:3:x3\na.txt:4:x4\n(3 to 4 of 4, the end.)",
    );
    expect(await content("x", { offset: 9 })).toMatch(/Nothing is left.*\n.*4 in all/);
    expect(await content("x", { head_limit: 0 })).toMatch(/x4$/);
  });

  it("never takes a pattern, glob or path for an option", async () => {
    await scene.write("a.txt", "--files --pre=id -e\n");
    await scene.write("-v", "--files\n");
    expect(await search("--files")).toBe("-v\na.txt");
    expect(await search("-e")).toBe("a.txt");
    expect(await search("files", { path: "-v" })).toBe("-v");
    expect(await search("files", { glob: "--pre=touch hacked" })).toBe("No matches.");
  });

  it("restricts the search by glob, relative to the path", async () => {
    await scene.write("src/a.ts", "x\n");
    await scene.write("src/lib/b.tsx", "x\n");
    await scene.write("src/c.md", "x\n");
    expect(await search("x", { glob: "*.{ts,tsx}" })).toBe("src/a.ts\nsrc/lib/b.tsx");
    expect(await search("x", { glob: "!*.ts" })).toBe("src/c.md\nsrc/lib/b.tsx");
    expect(await search("x", { glob: "lib/*.tsx", path: "src" })).toBe("src/lib/b.tsx");
  });

  it("leaves out what git ignores, the repository itself, and binary files", async () => {
    await scene.write(".git/config", "x\n");
    await scene.write(".gitignore", "out/\n");
    await scene.write("out/a.txt", "x\n");
    await scene.write("bin.dat", Buffer.from("\0\0x\n"));
    await scene.write(".hidden", "x\n");
    expect(await search("x")).toBe(".hidden");
    expect(await search("x", { path: "out" })).toBe("out/a.txt");
  });

  it("matches across lines only when asked, or when the pattern names a line end", async () => {
    await scene.write("a.txt", "begin\nmiddle\nend\n");
    expect(await content("begin.*end")).toBe("No matches.");
    expect(await content("begin.*end", { multiline: true })).toBe(
      "a.txt:1:begin\na.txt:2:middle\na.txt:3:end",
    );
    expect(await content("begin\\nmid")).toBe("a.txt:1:begin\na.txt:2:middle");
  });

  it("knows look-around", async () => {
    await scene.write("a.txt", "foobar\nfoobaz\n");
    expect(await content("foo(?!bar)")).toBe("a.txt:2:foobaz");
  });

  it("searches files with UTF-16 and long lines", async () => {
    await scene.write("u.txt", Buffer.from("\uFEFFgrün\n", "utf16le"));
    expect(await content("gr.n")).toBe("u.txt:1:grün");
    await scene.write("min.js", `needle${"y".repeat(50_000)}\n`);
    expect((await content("needle")).length).toBeLessThan(1200);
  });

  it("says that a pattern is not valid, that a path is missing, and refuses pipes", async () => {
    await scene.write("a.txt", "x\n");
    expect(await scene.fail(grep, { pattern: "foo(" })).toMatch(/not a valid regular expression/);
    expect(await scene.fail(grep, { pattern: "x", path: "none" })).toMatch(/none: does not exist/);
    expect(await scene.fail(grep, { pattern: "a\0b" })).toMatch(/NUL/);
    execFileSync("mkfifo", [scene.path("pipe")]);
    expect(await scene.fail(grep, { pattern: "x", path: "pipe" })).toMatch(/cannot be searched/);
    expect(await search("x")).toBe("a.txt");
  });

  it("prints absolute paths outside of the current folder", async () => {
    await scene.write("lib/a.txt", "x\n");
    await scene.write("src/b.txt", "x\n");
    scene.agent.folder.current = scene.path("src");
    expect(await search("x")).toBe("b.txt");
    expect(await search("x", { path: "../lib" })).toBe(scene.path("lib/a.txt"));
  });

  it("stops when it is cancelled", async () => {
    await scene.write("a.txt", "x\n");
    const signal = AbortSignal.abort(new CancelledError("user"));
    await expect(scene.run(grep, { pattern: "x" }, { signal })).rejects.toThrow(CancelledError);
  });
});

describe("Grep by ripgrep", () => {
  it("searches by type, and names an unknown one", async () => {
    await scene.write("a.ts", "x\n");
    await scene.write("a.py", "x\n");
    expect(await scene.call(withRipgrep, { pattern: "x", type: "py" })).toBe("a.py");
    expect(await scene.fail(withRipgrep, { pattern: "x", type: "zzz" })).toMatch(
      /unrecognized file type: zzz/,
    );
  });

  it("pays no attention to the user's own settings of ripgrep", async () => {
    await scene.write("a.txt", "x\n");
    await scene.write("rc", "--invert-match\n");
    const agent = {
      ...scene.agent,
      toolEnv: { ...scene.agent.toolEnv, RIPGREP_CONFIG_PATH: scene.path("rc") },
    };
    expect(await scene.call(withRipgrep, { pattern: "^x$" }, { agent })).toBe("a.txt");
  });

  it("says that a binary file matches when it is named", async () => {
    await scene.write("b.dat", Buffer.from("needle\0\n"));
    const input = { pattern: "needle", path: "b.dat", output_mode: "content" };
    expect(await scene.call(withRipgrep, input)).toMatch(/b.dat: binary file matches/);
  });

  it.skipIf(process.getuid?.() === 0)(
    "shows what it found although it could not look everywhere",
    async () => {
      await scene.write("a.txt", "x\n");
      await scene.write("locked/b.txt", "x\n");
      await scene.world.files.chmod(scene.path("locked"), 0);
      const answer = await scene.call(withRipgrep, { pattern: "x" });
      await scene.world.files.chmod(scene.path("locked"), 0o700);
      expect(answer).toMatch(/^a.txt\n\(Not everything could be searched:\n.*locked/);
    },
  );

  it("kills the program when it is cancelled while it runs", async () => {
    const controller = new AbortController();
    // Any program that does not end by itself will do; it says that it runs by making a file.
    const program = await scene.write("endless", "#!/bin/sh\n: > started\nexec sleep 1000\n");
    await scene.world.files.chmod(program, 0o700);
    const ripgrep = createRipgrep([async () => program]);
    const context = { ...scene.context, signal: controller.signal };
    const started = new Promise<void>((resolve) => {
      const watcher = scene.world.files.watch(scene.folder, () => {
        watcher.close();
        resolve();
      });
    });
    const running = ripgrep.run({ args: [], cwd: scene.folder, context });
    await started;
    controller.abort(new CancelledError("user"));
    await expect(running).rejects.toThrow(CancelledError);
  });
});

describe("Grep with more output than can be kept", () => {
  it("stops, shows whole lines only, and says so", async () => {
    const program = await scene.write(
      "endless",
      "#!/bin/sh\nline=$(printf '%0900d' 0)\nwhile :; do printf './a.txt\\0001:%s\\n' \"$line\"; done\n",
    );
    await scene.world.files.chmod(program, 0o700);
    const grep = createGrepTool({ ripgrep: createRipgrep([async () => program]) });
    const answer = await scene.call(grep, { pattern: "0", output_mode: "content", head_limit: 1 });
    expect(answer).toMatch(/^a\.txt:1:0{900}\n\(1 to 1 of \d+.*\)\n\(The search was stopped.*\)$/);
  });
});
