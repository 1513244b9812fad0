import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { readTaskOutput } from "./read-output.ts";

const { files } = createNodeWorld();
let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

async function read(content: string | Uint8Array, maxBytes: number) {
  return await readTaskOutput({ files, path: await workspace.write("out.txt", content), maxBytes });
}

describe("the end of an output file", () => {
  it("is all of it when that fits", async () => {
    expect(await read("one\ntwo\n", 8)).toEqual({ text: "one\ntwo\n", totalBytes: 8, truncated: false });
    expect(await read("", 8)).toEqual({ text: "", totalBytes: 0, truncated: false });
  });

  it("begins with a whole line", async () => {
    expect(await read("first\nsecond\nthird\n", 15)).toEqual({
      text: "second\nthird\n",
      totalBytes: 19,
      truncated: true,
    });
    expect((await read("first\nsecond\nthird\n", 13)).text).toBe("second\nthird\n");
    expect((await read("first\nsecond\nthird\n", 12)).text).toBe("third\n");
  });

  it("begins within a line when too little would be left", async () => {
    expect((await read(`${"x".repeat(100)}\ndone\n`, 50)).text).toBe(`${"x".repeat(44)}\ndone\n`);
    expect((await read("x".repeat(100), 10)).text).toBe("x".repeat(10));
    expect((await read(`${"x".repeat(100)}\n`, 10)).text).toBe(`${"x".repeat(9)}\n`);
  });

  it("begins with a whole character, at every place", async () => {
    for (const text of ["a\u{1f600}\u00e9\u20ac", "\u{1f600}".repeat(3)])
      for (let most = 0; most <= Buffer.byteLength(text); most++) {
        const answer = await read(text, most);
        expect(text.endsWith(answer.text)).toBe(true);
        expect(Buffer.byteLength(answer.text)).toBeGreaterThan(most - 4);
        expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(most);
      }
  });

  it("leaves a character that is half written for later", async () => {
    const bytes = Buffer.from("sum: \u20ac");
    expect((await read(bytes.subarray(0, -1), 100)).text).toBe("sum: ");
  });

  it("shows bytes that are no text as such", async () => {
    expect((await read(Uint8Array.of(0x41, 0xff, 0x42), 100)).text).toBe("A\ufffdB");
    expect((await read(new Uint8Array(50).fill(0x80), 10)).text).toBe("\ufffd".repeat(7));
  });

  it("is nothing when nothing is asked for", async () => {
    for (const most of [0, -5])
      expect(await read("text", most)).toEqual({ text: "", totalBytes: 4, truncated: true });
  });

  it("fails as the file system does when there is no such file", async () => {
    await expect(
      readTaskOutput({ files, path: `${workspace.path}/none.txt`, maxBytes: 9 }),
    ).rejects.toMatchObject({ code: "ENOENT" });
  });
});
