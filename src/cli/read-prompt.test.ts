import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { UsageError } from "./arguments.ts";
import { readPrompt } from "./read-prompt.ts";

function read(options: { positionals?: string[]; stdin: PassThrough & { isTTY?: boolean } }) {
  const clock = createManualClock();
  const warnings: string[] = [];
  const prompt = readPrompt({
    positionals: options.positionals ?? [],
    promptFile: undefined,
    stdin: options.stdin,
    folder: "/",
    world: { ...createNodeWorld(), clock },
    warn: async (message) => {
      warnings.push(message);
    },
  });
  return { prompt, clock, warnings };
}

describe("readPrompt", () => {
  it("does not wait forever for a pipe that someone left open without a word", async () => {
    const { prompt, clock, warnings } = read({ positionals: ["go"], stdin: new PassThrough() });
    await clock.advance(3_000);
    expect(await prompt).toBe("go");
    expect(warnings).toEqual([expect.stringContaining("nothing came on standard input")]);
  });

  it("waits for the rest once the first byte is there", async () => {
    const stdin = new PassThrough();
    const { prompt, clock, warnings } = read({ positionals: ["go"], stdin });
    stdin.write("first, ");
    await clock.advance(60_000);
    stdin.end("last\n");
    expect(await prompt).toBe("go\n\nfirst, last");
    expect(warnings).toEqual([]);
  });

  it("waits as long as it takes when there is no other prompt", async () => {
    const stdin = new PassThrough();
    const { prompt, clock } = read({ stdin });
    await clock.advance(60_000);
    stdin.end("at last");
    expect(await prompt).toBe("at last");
  });

  it("keeps characters whole whose bytes came apart", async () => {
    const stdin = new PassThrough();
    const { prompt } = read({ stdin });
    const bytes = Buffer.from("\uFEFFä\u{1F600}");
    for (const byte of bytes) stdin.write(Buffer.of(byte));
    stdin.end();
    expect(await prompt).toBe("ä\u{1F600}");
  });

  it("does not read from a terminal", async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    expect(await read({ positionals: ["go"], stdin }).prompt).toBe("go");
    await expect(read({ stdin }).prompt).rejects.toThrow(UsageError);
  });

  it("says that the input could not be read", async () => {
    const stdin = new PassThrough();
    const { prompt } = read({ stdin });
    stdin.destroy(new Error("EISDIR: illegal operation on a directory, read"));
    await expect(prompt).rejects.toThrow(/cannot read standard input: EISDIR/);
  });
});
