import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { hashOf } from "../base/files.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { maxChangeableBytes } from "./change-file.ts";
import { createReadTool } from "./read.ts";

const read = createReadTool();
let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);

describe("Read", () => {
  it("numbers lines from 1 and leaves line ends out", async () => {
    await scene.write("a.txt", "one\r\ntwo\n\nlast");
    expect(await scene.call(read, { file_path: "a.txt" })).toBe(
      "     1\tone\n     2\ttwo\n     3\t\n     4\tlast",
    );
  });

  it("does not count a line behind the last line end", async () => {
    await scene.write("a.txt", "one\n");
    expect(await scene.call(read, { file_path: "a.txt" })).toBe("     1\tone");
  });

  it("remembers the hash of the whole file, under its real path", async () => {
    await scene.write("a.txt", "one\ntwo\n");
    await scene.world.files.symlink(scene.path("a.txt"), scene.path("link"));
    await scene.call(read, { file_path: "link", limit: 1 });
    expect(scene.agent.fileReads.hashOf(scene.path("a.txt"))).toBe(hashOf("one\ntwo\n"));
  });

  it("pages with offset and limit and says how to go on", async () => {
    await scene.write("a.txt", "1\n2\n3\n4\n5\n");
    expect(await scene.call(read, { file_path: "a.txt", offset: 2, limit: 2 })).toBe(
      "     2\t2\n     3\t3\n(Lines 2 to 3 of 5. Read on with offset 4.)",
    );
    expect(await scene.call(read, { file_path: "a.txt", offset: 4 })).toBe("     4\t4\n     5\t5");
  });

  it("shows at most 2,000 lines unless told otherwise", async () => {
    await scene.write("a.txt", "x\n".repeat(2001));
    const answer = await scene.call(read, { file_path: "a.txt" });
    expect(answer.split("\n")).toHaveLength(2001);
    expect(answer).toMatch(/Lines 1 to 2000 of 2001. Read on with offset 2001/);
    const all = await scene.call(read, { file_path: "a.txt", limit: 3000 });
    expect(all.split("\n")).toHaveLength(2001);
    expect(all).not.toMatch(/Read on/);
  });

  it("cuts long lines, and long answers at a line that can be read on from", async () => {
    await scene.write("a.txt", `${"é".repeat(5000)}\n${"y".repeat(1000)}\n`.repeat(100));
    const answer = await scene.call(read, { file_path: "a.txt" });
    expect(answer.length).toBeLessThan(61_000);
    expect(answer).toContain(`     1\t${"é".repeat(2000)} (line cut after 2,000 characters)\n`);
    const next = Number(/offset (\d+)/.exec(answer)?.[1]);
    expect(answer).toContain(`\n${String(next - 1).padStart(6)}\t`);
    expect(await scene.call(read, { file_path: "a.txt", offset: next, limit: 1 })).toMatch(
      new RegExp(`^ +${next}\t`),
    );
  });

  it("does not cut a line of exactly 2,000 characters, nor a character in two", async () => {
    await scene.write("a.txt", `${"€".repeat(2000)}\n${"x".repeat(1999)}🎉\n`);
    const [first, second] = (await scene.call(read, { file_path: "a.txt" })).split("\n");
    expect(first).toBe(`     1\t${"€".repeat(2000)}`);
    expect(second).toBe(`     2\t${"x".repeat(1999)} (line cut after 2,000 characters)`);
  });

  it("says that a file is empty, and that an offset is beyond the end", async () => {
    await scene.write("a.txt", "");
    expect(await scene.call(read, { file_path: "a.txt" })).toMatch(/is empty/);
    expect(scene.agent.fileReads.hashOf(scene.path("a.txt"))).toBe(hashOf(""));
    await scene.write("a.txt", "one\ntwo\n");
    expect(await scene.call(read, { file_path: "a.txt", offset: 3 })).toMatch(
      /has 2 lines; offset 3 is beyond/,
    );
  });

  it("reads UTF-8 with a mark, UTF-16 and Latin-1", async () => {
    await scene.write("a.txt", "\uFEFFgrün\n");
    expect(await scene.call(read, { file_path: "a.txt" })).toBe("     1\tgrün");
    await scene.write("a.txt", Buffer.from("\uFEFFgrün\r\n\u0a0a🎉\n", "utf16le"));
    expect(await scene.call(read, { file_path: "a.txt" })).toBe("     1\tgrün\n     2\t\u0a0a🎉");
    await scene.write("a.txt", Buffer.from("\uFEFFgrün\n", "utf16le").swap16());
    expect(await scene.call(read, { file_path: "a.txt" })).toBe("     1\tgrün");
    await scene.write("a.txt", Buffer.from("plain\ngrün\n", "latin1"));
    expect(await scene.call(read, { file_path: "a.txt" })).toMatch(/^ {5}1\tplain\n {5}2\tgrün\n.*Latin-1/);
  });

  it("reads lines that span chunks of a large file, and hashes it without holding it", async () => {
    const line = `${"z".repeat(99)}\n`;
    const text = `${line.repeat(120_000)}the end`;
    await scene.write("big.txt", text);
    const answer = await scene.call(read, { file_path: "big.txt", offset: 119_999 });
    expect(answer).toBe(`119999\t${"z".repeat(99)}\n120000\t${"z".repeat(99)}\n120001\tthe end`);
    expect(scene.agent.fileReads.hashOf(scene.path("big.txt"))).toBe(hashOf(text));
  });

  it("reads the beginning of a huge file only, and does not offer it for changes", async () => {
    await scene.write("huge.log", "line\n".repeat(20_000));
    truncateSync(scene.path("huge.log"), maxChangeableBytes * 30);
    const answer = await scene.call(read, { file_path: "huge.log", limit: 2 });
    expect(answer).toBe(
      "     1\tline\n     2\tline\n(Lines 1 to 2 of a larger number. Read on with offset 3.)",
    );
    expect(scene.agent.fileReads.paths()).toEqual([]);
  });

  it("refuses folders, missing files and files without permission, and says what to do", async () => {
    await scene.write("src/index.ts", "x");
    expect(await scene.fail(read, { file_path: "src" })).toMatch(/is a folder/);
    expect(await scene.fail(read, { file_path: "src/index.js" })).toMatch(/Did you mean src\/index.ts\?/);
    expect(await scene.fail(read, { file_path: "none/index.js" })).toMatch(/nor does its folder none/);
    expect(await scene.fail(read, { file_path: "src/index.ts/x" })).toMatch(/is a file, not a folder/);
    expect(await scene.fail(read, { file_path: "" })).toMatch(/path is empty/);
    expect(await scene.fail(read, { file_path: "a\0b" })).toMatch(/NUL/);
    await scene.world.files.symlink("gone", scene.path("broken"));
    expect(await scene.fail(read, { file_path: "broken" })).toMatch(/link to gone, which does not exist/);
    await scene.world.files.symlink("loop", scene.path("loop"));
    expect(await scene.fail(read, { file_path: "loop" })).toMatch(/circle of links/);
  });

  it.skipIf(process.getuid?.() === 0)("says that permission is missing", async () => {
    await scene.write("secret", "x");
    await scene.world.files.chmod(scene.path("secret"), 0);
    expect(await scene.fail(read, { file_path: "secret" })).toMatch(/secret: no permission/);
  });

  it.skipIf(process.platform === "win32")("refuses pipes and devices at once", async () => {
    execFileSync("mkfifo", [scene.path("pipe")]);
    expect(await scene.fail(read, { file_path: "pipe" })).toMatch(/not a regular file/);
    expect(await scene.fail(read, { file_path: "/dev/zero" })).toMatch(/not a regular file/);
  });

  it.skipIf(process.platform !== "linux")("reads pseudo files, whose size is said to be 0", async () => {
    expect(await scene.call(read, { file_path: "/proc/self/status" })).toMatch(/1\tName:/);
  });

  it("refuses binary files", async () => {
    await scene.write("a.bin", Buffer.from([1, 2, 0, 3]));
    expect(await scene.fail(read, { file_path: "a.bin" })).toMatch(/binary file \(4 bytes\)/);
  });

  it("shows images by what they are, not by their names", async () => {
    await scene.write("photo.txt", png);
    const { content } = await scene.run(read, { file_path: "photo.txt" });
    expect(content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } },
    ]);
    await scene.write("fake.png", "just text\n");
    expect(await scene.call(read, { file_path: "fake.png" })).toBe("     1\tjust text");
  });

  it("refuses images over 5 MB and documents over 20 MB", async () => {
    await scene.write("big.png", png);
    truncateSync(scene.path("big.png"), 5 * 1024 * 1024 + 1);
    expect(await scene.fail(read, { file_path: "big.png" })).toMatch(/at most 5 MB/);
    await scene.write("big.pdf", "%PDF-1.7\n");
    truncateSync(scene.path("big.pdf"), 20 * 1024 * 1024 + 1);
    expect(await scene.fail(read, { file_path: "big.pdf" })).toMatch(/at most 20 MB/);
  });

  it("hands over documents with their name and size", async () => {
    await scene.write("a.pdf", "%PDF-1.7\n");
    const { content } = await scene.run(read, { file_path: "a.pdf" });
    expect(content).toMatchObject([
      { type: "text", text: "PDF document a.pdf (9 bytes)" },
      { type: "document", source: { media_type: "application/pdf" } },
    ]);
  });

  it("shows the cells of a notebook with ids, outputs and images", async () => {
    const notebook = {
      cells: [
        { id: "intro", cell_type: "markdown", metadata: {}, source: ["# Title\n", "text"] },
        {
          cell_type: "code",
          source: "print(1)",
          outputs: [
            { output_type: "stream", text: ["1\n"] },
            { output_type: "display_data", data: { "image/png": "aGk=\n", "text/plain": "<Figure>" } },
            { output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mE\u001b[0m: v"] },
          ],
        },
      ],
    };
    await scene.write("n.ipynb", JSON.stringify(notebook));
    const { content } = await scene.run(read, { file_path: "n.ipynb" });
    expect(content).toEqual([
      {
        type: "text",
        text: "--- cell 0, id intro, markdown ---\n# Title\ntext\n--- cell 1, id cell-1, code ---\nprint(1)\nOutput:\n1\n\nOutput:\n<Figure>",
      },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      { type: "text", text: "Output:\nE: v" },
    ]);
    expect(await scene.call(read, { file_path: "n.ipynb", limit: 1 })).toMatch(/Cells 1 to 1 of 2.*offset 2/);
  });

  it("shows a broken notebook as the text that it is", async () => {
    await scene.write("n.ipynb", "{ not json\n");
    expect(await scene.call(read, { file_path: "n.ipynb" })).toBe("     1\t{ not json");
  });

  it("expands the home folder", async () => {
    const name = `no-such-file-${scene.world.random.uuid()}`;
    expect(await scene.fail(read, { file_path: `~/${name}` })).toContain(`${scene.world.homeFolder}/${name}`);
  });

  it("stops when it is cancelled", async () => {
    await scene.write("a.txt", "one\n");
    const signal = AbortSignal.abort(new CancelledError("user"));
    await expect(scene.run(read, { file_path: "a.txt" }, { signal })).rejects.toThrow(CancelledError);
  });

  it("is read-only, safe beside others, and can be cancelled", () => {
    const bound = read.bind({ file_path: "a" });
    expect(bound).toMatchObject({ ok: true, isReadOnly: true, isConcurrencySafe: true });
    expect(read.interruptBehavior).toBe("cancel");
  });
});
