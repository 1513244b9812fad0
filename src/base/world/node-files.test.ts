import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import { createNodeFiles } from "./node-files.ts";

const files = createNodeFiles();
let workspace: TempWorkspace;
const at = (name: string) => join(workspace.path, name);

beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

describe("files", () => {
  it("open as their mode says", async () => {
    await expect(files.open(at("none"), "read")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.open(at("none"), "update")).rejects.toMatchObject({ code: "ENOENT" });
    await (await files.open(at("new"), "create", { fileMode: 0o600 })).close();
    await expect(files.open(at("new"), "create")).rejects.toMatchObject({ code: "EEXIST" });
    await (await files.open(at("log"), "append", { fileMode: 0o600 })).close();
    expect((await files.stat(at("log"))).mode).toBe(0o600);
  });

  it("append at the end whatever position is asked for, and can be read and cut meanwhile", async () => {
    const handle = await files.open(at("log"), "append");
    await handle.write(Buffer.from("one"));
    await handle.write(Buffer.from("two"), 0);
    expect(Buffer.from(await handle.read(1, 100)).toString()).toBe("netwo");
    await handle.truncate(3);
    await handle.write(Buffer.from("!"));
    await handle.sync();
    await handle.close();
    expect(await workspace.read("log")).toBe("one!");
  });

  it("update in place", async () => {
    await workspace.write("file", "hello");
    const handle = await files.open(at("file"), "update");
    await handle.write(Buffer.from("J"), 0);
    await handle.close();
    expect(await workspace.read("file")).toBe("Jello");
  });

  it("tell what they are, links followed or not", async () => {
    await workspace.write("file", "12345");
    await files.symlink("file", at("link"));
    await files.makeFolder(at("folder"));
    expect(await files.stat(at("link"))).toMatchObject({ kind: "file", size: 5 });
    expect(await files.lstat(at("link"))).toMatchObject({ kind: "link" });
    const kinds = (await files.readFolder(workspace.path))
      .map((entry) => `${entry.name}: ${entry.kind}`)
      .sort();
    expect(kinds).toEqual(["file: file", "folder: folder", "link: link"]);
  });

  it("are removed one by one or as a tree, and a link is removed, not its target", async () => {
    await workspace.write("folder/file", "x");
    await files.symlink("folder", at("link"));
    await files.remove(at("link"));
    expect(await workspace.read("folder/file")).toBe("x");
    await expect(files.remove(at("folder"))).rejects.toThrow();
    await files.remove(at("folder"), { recursive: true });
    await expect(files.remove(at("folder"))).rejects.toMatchObject({ code: "ENOENT" });
    await files.remove(at("folder"), { force: true });
  });

  it("are linked and written exclusively only where nothing is", async () => {
    await workspace.write("a", "a");
    await files.link(at("a"), at("b"));
    await expect(files.link(at("a"), at("b"))).rejects.toMatchObject({ code: "EEXIST" });
    await expect(files.writeFile(at("a"), "x", { exclusive: true })).rejects.toMatchObject({
      code: "EEXIST",
    });
    expect((await files.stat(at("a"))).inode).toBe((await files.stat(at("b"))).inode);
  });

  it("are watched, and what cannot be watched is simply silent", async () => {
    await workspace.write("file", "x");
    const changed = new Promise<void>((resolve) => {
      const watcher = files.watch(at("file"), () => {
        watcher.close();
        resolve();
      });
    });
    await workspace.write("file", "y");
    await changed;
    files.watch(at("none"), () => {}).close();
  });

  it("can have their folder synced", async () => {
    await files.syncFolder(workspace.path);
    await expect(files.syncFolder(at("none"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
