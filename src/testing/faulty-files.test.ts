import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeFiles } from "../base/world/node-files.ts";
import { createFaultyFiles } from "./faulty-files.ts";
import { createTempWorkspace, type TempWorkspace } from "./temp-workspace.ts";
import { createTestWorld } from "./test-world.ts";

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

describe("faulty files", () => {
  it("fail where they are told to, leave a torn write behind, and work otherwise", async () => {
    const files = createFaultyFiles(createNodeFiles(), [
      { operation: "write", at: 2, times: 2, code: "ENOSPC", tornBytes: 2 },
      { operation: "rename", at: 1, code: "EROFS" },
    ]);
    const path = join(workspace.path, "file");
    const handle = await files.open(path, "append");
    await handle.write(Buffer.from("one"));
    await expect(handle.write(Buffer.from("two"))).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(files.writeFile(`${path}2`, "text")).rejects.toMatchObject({ code: "ENOSPC" });
    await handle.write(Buffer.from("!"));
    await handle.close();
    expect([await workspace.read("file"), await workspace.read("file2")]).toEqual(["onetw!", "te"]);
    await expect(files.rename(path, `${path}3`)).rejects.toMatchObject({ code: "EROFS" });
    await files.rename(path, `${path}3`);
    expect([files.count("write"), files.count("rename"), files.count("sync")]).toEqual([4, 2, 0]);
  });

  it("heal", async () => {
    const files = createFaultyFiles(createNodeFiles(), [
      { operation: "write", at: 1, times: Number.POSITIVE_INFINITY, code: "EIO" },
    ]);
    const path = join(workspace.path, "file");
    await expect(files.writeFile(path, "x")).rejects.toMatchObject({ code: "EIO" });
    files.heal();
    await files.writeFile(path, "x");
  });
});

describe("the test world", () => {
  it("repeats its random numbers for one seed and not for another", () => {
    const draw = (seed: number) => {
      const { random } = createTestWorld({ seed });
      return [random.uuid(), random.number(), ...random.bytes(4)];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7)[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("replaces the parts it is given and keeps the real rest", () => {
    const world = createTestWorld({ env: { ONLY: "1" }, homeFolder: "/somewhere" });
    expect([world.env, world.homeFolder, world.processes.pid]).toEqual([
      { ONLY: "1" },
      "/somewhere",
      process.pid,
    ]);
  });
});
