import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createFile } from "./create-file.ts";

let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const data = Buffer.from("mine");

describe("creating a file", () => {
  it("never takes the place of one that came first, and leaves nothing behind", async () => {
    const path = await scene.write("a.txt", "theirs");
    await expect(createFile({ world: scene.world, path, data })).rejects.toMatchObject({ code: "EEXIST" });
    expect(await scene.text("a.txt")).toBe("theirs");
    expect(await scene.world.files.readFolder(scene.folder)).toHaveLength(1);
  });

  it("works where there are no hard links", async () => {
    const link = () => Promise.reject(Object.assign(new Error("no links"), { code: "EPERM" }));
    const world = { ...scene.world, files: { ...scene.world.files, link } };
    await createFile({ world, path: scene.path("a.txt"), data });
    expect(await scene.text("a.txt")).toBe("mine");
    expect(await scene.world.files.readFolder(scene.folder)).toHaveLength(1);
  });

  it("leaves nothing behind when the disk is full", async () => {
    const full = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
    const open: typeof scene.world.files.open = async (...args) => ({
      ...(await scene.world.files.open(...args)),
      write: full,
    });
    const world = { ...scene.world, files: { ...scene.world.files, open } };
    const creating = createFile({ world, path: scene.path("a.txt"), data });
    await expect(creating).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await scene.world.files.readFolder(scene.folder)).toEqual([]);
  });
});
