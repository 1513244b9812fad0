import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createEditTool } from "./edit.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

describe("a path that was judged", () => {
  it("is used when it still leads where it led, through links as well", async () => {
    await scene.write("real/a.txt", "one\n");
    await scene.world.files.symlink(scene.path("real"), scene.path("link"));
    const judged = { judgedTargets: [scene.path("real/a.txt")] };
    expect(await scene.call(createReadTool(), { file_path: "link/a.txt" }, judged)).toContain("one");
    const edit = { file_path: "link/a.txt", old_string: "one", new_string: "two" };
    await scene.call(createEditTool(), edit, judged);
    expect(await scene.text("real/a.txt")).toBe("two\n");
    const fresh = { judgedTargets: [scene.path("real/new.txt")] };
    await scene.call(createWriteTool(), { file_path: "link/new.txt", content: "x" }, fresh);
    expect(await scene.text("real/new.txt")).toBe("x");
  });

  it("is not used when a link was exchanged since, to read, to change or to create", async () => {
    await scene.write("inside/a.txt", "harmless");
    await scene.write("elsewhere/a.txt", "secret");
    // It led inside when it was judged.
    await scene.world.files.symlink(scene.path("elsewhere"), scene.path("link"));
    const judged = { judgedTargets: [scene.path("inside/a.txt")] };
    expect(await scene.fail(createReadTool(), { file_path: "link/a.txt" }, judged)).toContain(
      "another place",
    );
    await scene.call(createReadTool(), { file_path: "elsewhere/a.txt" });
    const edit = { file_path: "link/a.txt", old_string: "secret", new_string: "gone" };
    expect(await scene.fail(createEditTool(), edit, judged)).toContain("another place");
    const write = { file_path: "link/a.txt", content: "gone" };
    expect(await scene.fail(createWriteTool(), write, judged)).toContain("another place");
    const create = { file_path: "link/new.txt", content: "x" };
    const fresh = { judgedTargets: [scene.path("inside/new.txt")] };
    expect(await scene.fail(createWriteTool(), create, fresh)).toContain("another place");
    expect(await scene.text("elsewhere/a.txt")).toBe("secret");
    await expect(scene.text("elsewhere/new.txt")).rejects.toThrow();
  });
});
