import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { FileSystem } from "../base/world.ts";
import { createFaultyFiles, type Fault } from "../testing/faulty-files.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTaskOutput, outputPathOf } from "./output.ts";

const world = createNodeWorld();
let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

function createScene({ files = world.files, ...more }: { files?: FileSystem; maxBytes?: number } = {}) {
  const problems: string[] = [];
  const folder = join(workspace.path, "tasks");
  const output = createTaskOutput({
    world: { files, platform: world.platform },
    folder,
    id: "b1",
    onProblem: (message) => problems.push(message),
    ...more,
  });
  return { output, problems, folder, text: () => workspace.read("tasks/b1.txt") };
}

describe("the output file of a task", () => {
  it("is there from the start, for its owner alone", async () => {
    const { output, folder, text } = createScene();
    await output.open();
    expect(output.path).toBe(outputPathOf(folder, "b1"));
    expect(await text()).toBe("");
    expect((await world.files.stat(output.path)).mode & 0o777).toBe(0o600);
    expect((await world.files.stat(folder)).mode & 0o777).toBe(0o700);
    await output.close();
  });

  it("has what was written in its order, also what came before it was open", async () => {
    const { output, text } = createScene();
    output.write("first ");
    await output.open();
    await output.flush();
    expect(await text()).toBe("first ");
    const expected = Array.from({ length: 500 }, (_, index) => `${index} é\n`);
    for (const [index, line] of expected.entries()) {
      output.write(index % 2 === 0 ? line : Buffer.from(line));
      if (index % 100 === 0) await output.flush();
    }
    output.write("");
    await output.flush();
    expect(await text()).toBe(`first ${expected.join("")}`);
    output.write("last");
    await output.close();
    expect(await text()).toBe(`first ${expected.join("")}last`);
  });

  it("only grows: another run of the same task adds to it", async () => {
    for (const word of ["one ", "two"]) {
      const { output } = createScene();
      await output.open();
      output.write(word);
      await output.close();
    }
    expect(await createScene().text()).toBe("one two");
  });

  it("takes nothing after it was closed, not even while it closes", async () => {
    const { output, problems, text } = createScene();
    await output.open();
    output.write("kept");
    const closing = output.close();
    output.write("late");
    await closing;
    output.write("later");
    await output.flush();
    await output.close();
    expect([await text(), problems]).toEqual(["kept", []]);
  });

  it.each([
    { writes: ["12345", "67890"], expected: "1234567890" },
    { writes: ["12345", "67890", "x", "y"], expected: "1234567890" },
    { writes: ["1234567", "890xx", "y"], expected: "1234567890" },
    { writes: ["1234567890xx"], expected: "1234567890" },
  ])("keeps no more than its limit, and says so once: $writes", async ({ writes, expected }) => {
    const { output, text } = createScene({ maxBytes: 10 });
    await output.open();
    for (const each of writes) output.write(each);
    await output.close();
    const isCut = writes.join("").length > 10;
    expect(await text()).toBe(
      isCut ? `${expected}\n[The rest is not kept: it is more than 10 bytes.]\n` : expected,
    );
  });
});

describe("a bad disk", () => {
  const scene = (...faults: Fault[]) => createScene({ files: createFaultyFiles(world.files, faults) });

  it("is told of once, and holds up nobody", async () => {
    const { output, problems, text } = scene({ operation: "write", at: 2, code: "ENOSPC", times: Infinity });
    await output.open();
    for (const word of ["one", "two", "three"]) {
      output.write(word);
      await output.flush();
    }
    await output.close();
    expect(await text()).toBe("one");
    expect(problems).toEqual([expect.stringMatching(/b1\.txt could not be written: ENOSPC/)]);
  });

  it("fails the opening, so that nobody believes in a file that is not there", async () => {
    const { output } = scene({ operation: "open", at: 1, code: "EACCES" });
    await expect(output.open()).rejects.toThrow("EACCES");
    output.write("lost");
    await output.flush();
    await output.close();
  });

  it("is told of when it shows only at the closing", async () => {
    const files: FileSystem = {
      ...world.files,
      async open(...given) {
        const handle = await world.files.open(...given);
        return {
          ...handle,
          async close() {
            await handle.close();
            throw new Error("EIO: closing");
          },
        };
      },
    };
    const { output, problems } = createScene({ files });
    await output.open();
    await output.close();
    expect(problems).toEqual([expect.stringContaining("EIO: closing")]);
    const full = createFaultyFiles(files, [{ operation: "write", at: 1, code: "ENOSPC" }]);
    const second = createScene({ files: full });
    await second.output.open();
    second.output.write("lost");
    await second.output.close();
    expect(second.problems).toEqual([expect.stringContaining("ENOSPC")]);
  });
});
