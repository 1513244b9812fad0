import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf } from "../base/files.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

const write = createWriteTool();
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

describe("Write", () => {
  it("creates a file with the folders above it, and leaves nothing else behind", async () => {
    const answer = await scene.call(write, { file_path: "x/y/a.txt", content: "one\ntwo\n" });
    expect(answer).toBe("Created x/y/a.txt (2 lines).");
    expect(await scene.text("x/y/a.txt")).toBe("one\ntwo\n");
    expect(await scene.world.files.readFolder(scene.path("x/y"))).toHaveLength(1);
  });

  it("gives a new file the permissions that the umask leaves", async () => {
    await scene.call(write, { file_path: "a.txt", content: "x" });
    const { mode } = await scene.world.files.stat(scene.path("a.txt"));
    expect(mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("refuses to overwrite what was not read or has changed since", async () => {
    await scene.write("a.txt", "precious\n");
    expect(await scene.fail(write, { file_path: "a.txt", content: "x" })).toMatch(/has not been read/);
    await scene.call(read, { file_path: "a.txt" });
    await scene.write("a.txt", "more precious\n");
    expect(await scene.fail(write, { file_path: "a.txt", content: "x" })).toMatch(/changed on disk/);
    expect(await scene.text("a.txt")).toBe("more precious\n");
  });

  it("refuses to overwrite a read file that came back under the same name after it was removed", async () => {
    await given("a.txt", "old\n");
    await scene.world.files.remove(scene.path("a.txt"));
    await scene.call(write, { file_path: "a.txt", content: "new\n" });
    await scene.write("a.txt", "theirs\n");
    expect(await scene.fail(write, { file_path: "a.txt", content: "x" })).toMatch(/changed on disk/);
  });

  it("writes again after its own write", async () => {
    await scene.call(write, { file_path: "a.txt", content: "1\n" });
    const answer = await scene.call(write, { file_path: "a.txt", content: "1\n2\n" });
    expect(answer).toBe("Updated a.txt (2 lines, before 1).");
  });

  it("keeps mode, mark, encoding and CRLF of an existing file", async () => {
    await given("a.sh", "\uFEFFone\r\ntwo\r\n");
    await scene.world.files.chmod(scene.path("a.sh"), 0o750);
    await scene.call(write, { file_path: "a.sh", content: "three\nfour\n" });
    expect(await scene.text("a.sh")).toBe("\uFEFFthree\r\nfour\r\n");
    expect((await scene.world.files.stat(scene.path("a.sh"))).mode & 0o777).toBe(0o750);

    await given("u.txt", Buffer.from("\uFEFFone", "utf16le"));
    await scene.call(write, { file_path: "u.txt", content: "\uFEFFzwei" });
    expect((await scene.bytes("u.txt")).toString("utf16le")).toBe("\uFEFFzwei");
  });

  it("writes line ends as given where the old ones were mixed or are given on purpose", async () => {
    await given("a.txt", "one\r\ntwo\n");
    await scene.call(write, { file_path: "a.txt", content: "three\nfour\n" });
    expect(await scene.text("a.txt")).toBe("three\nfour\n");
    await given("b.txt", "one\r\n");
    await scene.call(write, { file_path: "b.txt", content: "a\r\nb\n" });
    expect(await scene.text("b.txt")).toBe("a\r\nb\n");
  });

  it("turns Latin-1 into UTF-8 only if it must, and says so", async () => {
    await given("a.txt", Buffer.from("caf\u00e9", "latin1"));
    await scene.call(write, { file_path: "a.txt", content: "thé" });
    expect((await scene.bytes("a.txt")).toString("latin1")).toBe("th\u00e9");
    expect(await scene.call(write, { file_path: "a.txt", content: "🎉" })).toMatch(/UTF-8 now/);
    expect(await scene.text("a.txt")).toBe("🎉");
  });

  it("refuses half a character", async () => {
    expect(await scene.fail(write, { file_path: "a.txt", content: "\uD83C" })).toMatch(/U\+D83C/);
    expect(await scene.world.files.readFolder(scene.folder)).toEqual([]);
  });

  it("refuses folders, and paths through files", async () => {
    await scene.write("d/file", "x");
    expect(await scene.fail(write, { file_path: "d", content: "x" })).toMatch(/is a folder/);
    expect(await scene.fail(write, { file_path: "d/file/x", content: "x" })).toMatch(
      /is a file, not a folder/,
    );
  });

  it("lets the second of two agents that create one file read the first one's first", async () => {
    const other = { ...scene.agent, fileReads: scene.agent.fileReads.copy() };
    const ends = await Promise.allSettled([
      scene.run(write, { file_path: "a.txt", content: "mine" }),
      scene.run(write, { file_path: "a.txt", content: "theirs" }, { agent: other }),
    ]);
    // Whichever came first.
    expect(ends.map((end) => end.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await scene.text("a.txt")).toBe(ends[0].status === "fulfilled" ? "mine" : "theirs");
  });

  it("hands out hashes and a diff for programs", async () => {
    const { output } = await scene.run(write, { file_path: "a.txt", content: "x\n" });
    expect(output).toMatchObject({
      created: true,
      oldHash: undefined,
      newHash: hashOf("x\n"),
      diff: "--- a.txt\n+++ a.txt\n@@ -0,0 +1,1 @@\n+x\n",
    });
  });

  it("is neither read-only nor safe beside others", () => {
    expect(write.bind({ file_path: "a", content: "" })).toMatchObject({
      isReadOnly: false,
      isConcurrencySafe: false,
    });
  });
});
