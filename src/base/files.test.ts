import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFaultyFiles } from "../testing/faulty-files.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { ensurePrivateFolder, hashOf, replaceFile } from "./files.ts";
import { createNodeFiles } from "./world/node-files.ts";

const files = createNodeFiles();
const random = createSeededRandom(1);
let workspace: TempWorkspace;
let path: string;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "file.txt");
});
afterEach(() => workspace.remove());

const names = async () => (await files.readFolder(workspace.path)).map((entry) => entry.name).sort();
const modeOf = async (name: string) => (await files.stat(join(workspace.path, name))).mode & 0o777;

describe("replaceFile", () => {
  it("creates a private file and leaves nothing else behind", async () => {
    await replaceFile({ files, random, path, data: "one" });
    expect(await workspace.read("file.txt")).toBe("one");
    expect([await names(), await modeOf("file.txt")]).toEqual([["file.txt"], 0o600]);
  });

  it("keeps the mode of the file it replaces, and takes another if told so", async () => {
    await files.writeFile(path, "old");
    await files.chmod(path, 0o755);
    await replaceFile({ files, random, path, data: "new" });
    expect(await modeOf("file.txt")).toBe(0o755);
    await replaceFile({ files, random, path, data: "new", mode: 0o640 });
    expect(await modeOf("file.txt")).toBe(0o640);
  });

  it("gives the new content a file of its own: who has the old one open still reads the old one", async () => {
    await files.writeFile(path, "old");
    const handle = await files.open(path, "read");
    await replaceFile({ files, random, path, data: Buffer.from([0xff, 0x00]) });
    expect(Buffer.from(await handle.read(0, 10)).toString()).toBe("old");
    await handle.close();
    expect([...(await files.readFile(path))]).toEqual([0xff, 0x00]);
  });

  it("goes through links and leaves them in place", async () => {
    await workspace.write("real/target.txt", "old");
    await files.symlink("real/target.txt", join(workspace.path, "first"));
    await files.symlink("first", path);
    await replaceFile({ files, random, path, data: "new" });
    expect(await workspace.read("real/target.txt")).toBe("new");
    expect((await files.lstat(path)).kind).toBe("link");
  });

  it("creates what a link points to if that is not there yet", async () => {
    await files.symlink("not-yet.txt", path);
    await replaceFile({ files, random, path, data: "new" });
    expect(await workspace.read("not-yet.txt")).toBe("new");
    expect((await files.lstat(path)).kind).toBe("link");
  });

  it("refuses links that lead in a circle", async () => {
    await files.symlink("other", path);
    await files.symlink("file.txt", join(workspace.path, "other"));
    await expect(replaceFile({ files, random, path, data: "new" })).rejects.toMatchObject({ code: "ELOOP" });
  });

  it.each(["write", "sync", "rename"] as const)(
    "keeps the old content and no trace when %s fails",
    async (operation) => {
      await files.writeFile(path, "old");
      const faulty = createFaultyFiles(files, [{ operation, at: 1, code: "ENOSPC", tornBytes: 1 }]);
      await expect(replaceFile({ files: faulty, random, path, data: "new" })).rejects.toMatchObject({
        code: "ENOSPC",
      });
      expect(await workspace.read("file.txt")).toBe("old");
      expect(await names()).toEqual(["file.txt"]);
    },
  );

  it("syncs the data before the rename and the folder after it", async () => {
    const order: string[] = [];
    const noting = <T extends unknown[]>(step: string, action: (...args: T) => Promise<void>) => {
      return (...args: T) => {
        order.push(step);
        return action(...args);
      };
    };
    const watched = {
      ...files,
      open: async (...args: Parameters<typeof files.open>) => {
        const handle = await files.open(...args);
        return { ...handle, sync: noting("sync", handle.sync) };
      },
      rename: noting("rename", files.rename),
      syncFolder: noting("folder", files.syncFolder),
    };
    await replaceFile({ files: watched, random, path, data: "x" });
    expect(order).toEqual(["sync", "rename", "folder"]);
  });

  it("works for the longest name a file can have", async () => {
    const long = join(workspace.path, "n".repeat(255));
    await replaceFile({ files, random, path: long, data: "x" });
    expect(await files.readText(long)).toBe("x");
  });
});

describe("ensurePrivateFolder", () => {
  const world = { files, platform: "linux" as const };

  it("creates folders that only their owner can enter, and accepts them the next time", async () => {
    const folder = join(workspace.path, "a/b");
    await ensurePrivateFolder(world, folder);
    await ensurePrivateFolder(world, folder);
    expect([await modeOf("a"), await modeOf("a/b")]).toEqual([0o700, 0o700]);
  });

  it("closes a folder that others can only look into", async () => {
    await workspace.write("open/file", "x");
    await files.chmod(join(workspace.path, "open"), 0o755);
    await ensurePrivateFolder(world, join(workspace.path, "open"));
    expect(await modeOf("open")).toBe(0o700);
  });

  it("refuses links, files, and folders that others can write to", async () => {
    await workspace.write("shared/file", "x");
    await files.chmod(join(workspace.path, "shared"), 0o777);
    await files.makeFolder(join(workspace.path, "real"));
    await files.symlink("real", join(workspace.path, "link"));
    for (const [name, why] of [
      ["shared", "other users can write"],
      ["shared/file", "not a folder"],
      ["link", "it is a link"],
    ] as const) {
      const attempt = ensurePrivateFolder(world, join(workspace.path, name));
      await expect(attempt).rejects.toMatchObject({ code: "folder-not-private" });
      await expect(attempt).rejects.toThrow(why);
    }
  });

  it("refuses a folder of another user", async () => {
    const foreign = {
      ...files,
      chmod: () => Promise.reject(Object.assign(new Error("not yours"), { code: "EPERM" })),
    };
    await expect(ensurePrivateFolder({ files: foreign, platform: "linux" }, workspace.path)).rejects.toThrow(
      "another user",
    );
  });
});

describe("hashOf", () => {
  it("is SHA-256 in hexadecimal, for text and bytes alike", () => {
    const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect([hashOf("abc"), hashOf(Buffer.from("abc"))]).toEqual([known, known]);
  });
});
