import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createEditTool } from "./edit.ts";
import { createReadTool } from "./read.ts";

const edit = createEditTool();
const read = createReadTool();
let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

async function given(name: string, data: string | Uint8Array): Promise<void> {
  await scene.write(name, data);
  await scene.call(read, { file_path: name });
}

function change(old_string: string, new_string: string, rest: Record<string, unknown> = {}) {
  return { file_path: "a.txt", old_string, new_string, ...rest };
}

describe("Edit", () => {
  it("replaces a unique text and shows the lines around it", async () => {
    await given("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    const answer = await scene.call(edit, change("four", "4\n4b"));
    expect(await scene.text("a.txt")).toBe("one\ntwo\nthree\n4\n4b\nfive\nsix\nseven\n");
    expect(answer).toContain("     4\t4\n     5\t4b\n     6\tfive");
    expect(answer).not.toContain("\tseven\n");
  });

  it("takes the new text literally, dollar signs and backslashes included", async () => {
    await given("a.txt", "x = old;\n");
    await scene.call(edit, change("old", "$& $1 $` $' $$ \\n"));
    expect(await scene.text("a.txt")).toBe("x = $& $1 $` $' $$ \\n;\n");
  });

  it("takes the old text literally, whatever it means in a pattern", async () => {
    await given("a.txt", "a.*(b)\r\n[c]{2}|^$\r\nabbb\r\n");
    await scene.call(edit, change("a.*(b)\n[c]{2}|^$", "done"));
    expect(await scene.text("a.txt")).toBe("done\r\nabbb\r\n");
  });

  it("refuses a file that was not read, and one that changed since", async () => {
    await scene.write("a.txt", "one\n");
    expect(await scene.fail(edit, change("one", "two"))).toMatch(/has not been read/);
    await scene.call(read, { file_path: "a.txt" });
    await scene.write("a.txt", "one!\n");
    expect(await scene.fail(edit, change("one", "two"))).toMatch(/changed on disk/);
    expect(await scene.text("a.txt")).toBe("one!\n");
  });

  it("edits again after its own edit, without another read", async () => {
    await given("a.txt", "one\n");
    await scene.call(edit, change("one", "two"));
    await scene.call(edit, change("two", "three"));
    expect(await scene.text("a.txt")).toBe("three\n");
  });

  it("says how often and where a text occurs that is not unique", async () => {
    await given("a.txt", "x\ny\nx\nz\nx\n");
    expect(await scene.fail(edit, change("x", "w"))).toMatch(/occurs 3 times.*lines 1, 3, 5/);
    expect(await scene.call(edit, change("x", "w", { replace_all: true }))).toMatch(/3 replacements/);
    expect(await scene.text("a.txt")).toBe("w\ny\nw\nz\nw\n");
  });

  it("sees two places where matches overlap, and replaces from the left", async () => {
    await given("a.txt", "aaa");
    expect(await scene.fail(edit, change("aa", "b"))).toMatch(/occurs 2 times/);
    await scene.call(edit, change("aa", "b", { replace_all: true }));
    expect(await scene.text("a.txt")).toBe("ba");
  });

  it("refuses to replace a text by itself", async () => {
    await given("a.txt", "one\n");
    expect(await scene.fail(edit, change("one", "one"))).toMatch(/nothing to change/);
  });

  it("creates a missing file, and fills an empty one, with an empty old text", async () => {
    await scene.call(edit, { file_path: "new/deep/b.txt", old_string: "", new_string: "hi\n" });
    expect(await scene.text("new/deep/b.txt")).toBe("hi\n");
    await scene.write("a.txt", "");
    await scene.call(edit, change("", "filled"));
    expect(await scene.text("a.txt")).toBe("filled");
    expect(await scene.fail(edit, change("", "more"))).toMatch(/not empty/);
  });

  it("names similar files when the file is missing", async () => {
    await scene.write("setting.ts", "x");
    const input = { file_path: "settings.ts", old_string: "x", new_string: "y" };
    expect(await scene.fail(edit, input)).toMatch(/does not exist. Did you mean setting.ts/);
  });

  it("matches line feeds with CRLF and writes CRLF back", async () => {
    await given("a.txt", "one\r\ntwo\r\nthree\r\n");
    await scene.call(edit, change("one\ntwo\n", "1\n2\n2b\n"));
    expect(await scene.text("a.txt")).toBe("1\r\n2\r\n2b\r\nthree\r\n");
  });

  it("gives a new line in a CRLF file the line end of its neighbours", async () => {
    await given("a.txt", "one\r\ntwo");
    await scene.call(edit, change("two", "two\nthree"));
    expect(await scene.text("a.txt")).toBe("one\r\ntwo\r\nthree");
  });

  it("keeps mixed line ends where they were", async () => {
    await given("a.txt", "a\r\nb\nc\r\nd\n");
    await scene.call(edit, change("b\nc\nd", "B\nC\nD"));
    expect(await scene.text("a.txt")).toBe("a\r\nB\nC\r\nD\n");
  });

  it("can change line ends themselves when they are named", async () => {
    await given("a.txt", "a\r\nb\r\n");
    await scene.call(edit, change("\r\n", "\n", { replace_all: true }));
    expect(await scene.text("a.txt")).toBe("a\nb\n");
  });

  it("does not bring CRLF into a file with line feeds", async () => {
    await given("a.txt", "a\nb\n");
    await scene.call(edit, change("a\r\nb", "a\r\nc\r\nb"));
    expect(await scene.text("a.txt")).toBe("a\nc\nb\n");
  });

  it("keeps a byte order mark, UTF-16 and Latin-1", async () => {
    await given("a.txt", "\uFEFFone\n");
    await scene.call(edit, change("one", "zwölf 🎉"));
    expect(await scene.text("a.txt")).toBe("\uFEFFzwölf 🎉\n");

    await given("a.txt", Buffer.from("\uFEFFone\r\ntwo", "utf16le"));
    await scene.call(edit, change("one\n", "eins\n"));
    expect((await scene.bytes("a.txt")).toString("utf16le")).toBe("\uFEFFeins\r\ntwo");

    await given("a.txt", Buffer.from("\uFEFFone 🎉", "utf16le").swap16());
    await scene.call(edit, change("🎉", "ü"));
    expect((await scene.bytes("a.txt")).swap16().toString("utf16le")).toBe("\uFEFFone ü");

    await given("a.txt", Buffer.from("caf\u00e9 x\u0092\n", "latin1"));
    await scene.call(edit, change("café", "thé"));
    expect((await scene.bytes("a.txt")).toString("latin1")).toBe("th\u00e9 x\u0092\n");
  });

  it("refuses what the encoding of the file cannot express, and leaves the file alone", async () => {
    const before = Buffer.from("caf\u00e9\n", "latin1");
    await given("a.txt", before);
    expect(await scene.fail(edit, change("caf", "🎉"))).toMatch(/U\+1F389 cannot be written in Latin-1/);
    expect(await scene.bytes("a.txt")).toEqual(before);
    await given("a.txt", "ok\n");
    expect(await scene.fail(edit, change("ok", "\uD83C"))).toMatch(/U\+D83C/);
  });

  it("keeps the mode, and writes through links", async () => {
    await given("real.sh", "echo one\n");
    await scene.world.files.chmod(scene.path("real.sh"), 0o755);
    await scene.world.files.symlink(scene.path("real.sh"), scene.path("a.txt"));
    await scene.call(edit, change("one", "two"));
    expect(await scene.text("real.sh")).toBe("echo two\n");
    expect((await scene.world.files.stat(scene.path("real.sh"))).mode & 0o777).toBe(0o755);
    expect((await scene.world.files.lstat(scene.path("a.txt"))).kind).toBe("link");
  });

  it("refuses a write-protected file and leaves nothing behind", async () => {
    await given("a.txt", "one\n");
    await scene.world.files.chmod(scene.path("a.txt"), 0o444);
    expect(await scene.fail(edit, change("one", "two"))).toMatch(/write-protected/);
    expect((await scene.world.files.readFolder(scene.folder)).map((entry) => entry.name)).toEqual(["a.txt"]);
  });

  it("refuses a binary file", async () => {
    const bytes = Buffer.from([1, 0, 2, 65]);
    await scene.write("a.txt", bytes);
    const { hashOf } = await import("../base/files.ts");
    scene.agent.fileReads.record(scene.path("a.txt"), hashOf(bytes));
    expect(await scene.fail(edit, change("A", "B"))).toMatch(/not a text file/);
  });

  describe("when the text is not found", () => {
    it("points to the same text with other white space", async () => {
      await given("a.txt", "x\n\tif (a) {\n\t\tb();\n\t}\n");
      const message = await scene.fail(edit, change("  if (a) {\n    b();\n  }", "z"));
      expect(message).toMatch(/other white space.*line 2/);
      expect(message).toContain("     3\t\t\tb();");
    });

    it("points to look-alike quotes", async () => {
      await given("a.txt", "say(“hi”)\n");
      expect(await scene.fail(edit, change('say("hi")', "z"))).toMatch(/look-alike.*line 1/);
    });

    it("says that line numbers are no part of the file", async () => {
      await given("a.txt", "one\ntwo\n");
      expect(await scene.fail(edit, change("     1\tone\n     2\ttwo", "z"))).toMatch(
        /without the line numbers/,
      );
    });

    it("points to lone carriage returns", async () => {
      await given("a.txt", "one\rtwo\rthree");
      expect(await scene.fail(edit, change("two\nthree", "z"))).toMatch(/other line endings.*line 2/);
    });

    it("points to the first line when what follows differs", async () => {
      await given("a.txt", "function f() {\n  return 1;\n}\n");
      expect(await scene.fail(edit, change("function f() {\n  return 2;\n}", "z"))).toMatch(
        /first line is at line 1/,
      );
    });

    it("says nothing false when nothing is alike", async () => {
      await given("a.txt", "one\n");
      expect(await scene.fail(edit, change("   ", "z"))).toMatch(/Read the file again/);
    });
  });

  it("lets agents that edit one file at the same time lose nothing", async () => {
    await given("a.txt", "one two three\n");
    const edits = ["one", "two", "three"].map((word) => scene.run(edit, change(word, word.toUpperCase())));
    const ends = await Promise.allSettled(edits);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(await scene.text("a.txt")).toBe("ONE TWO THREE\n");
  });

  it("hands out hashes and a diff for programs", async () => {
    await given("a.txt", "one\ntwo\n");
    const { output } = await scene.run(edit, change("two", "2"));
    expect(output).toMatchObject({ created: false, replacements: 1, path: scene.path("a.txt") });
    expect(output).toHaveProperty("diff", "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    expect(output).toHaveProperty("newHash", scene.agent.fileReads.hashOf(scene.path("a.txt")));
  });

  it("leaves every byte outside the match as it was, for any mix of line ends", async () => {
    const piece = fc.constantFrom("\n", "\r\n", "\r", "a", "é", "🎉", " ", "$&");
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (before, after, replacement) => {
        // A lone CR next to a LF would make a line end of the two; the marks keep them apart.
        const whole = `${before}<old\r\ntext>${after}`;
        await given("a.txt", whole);
        await scene.call(edit, change("<old\ntext>", `<${replacement}>`));
        const now = await scene.text("a.txt");
        expect(now.startsWith(`${before}<`)).toBe(true);
        expect(now.endsWith(`>${after}`)).toBe(true);
        const inserted = now.slice(before.length, now.length - after.length);
        expect(inserted.replaceAll("\r\n", "\n")).toBe(`<${replacement}>`.replaceAll("\r\n", "\n"));
      }),
      { numRuns: 60 },
    );
  });
});
