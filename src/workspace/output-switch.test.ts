import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createOutputFile } from "./output-file.ts";
import { createOutputSwitch } from "./output-switch.ts";

const world = createNodeWorld();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cadre-switch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileIn = (place: string) =>
  createOutputFile({ world, folder: place, name: "out", shortBytes: 10, maxBytes: 1_000_000 });

function createSink() {
  const seen: Uint8Array[] = [];
  return {
    add: (chunk: Uint8Array) => void seen.push(chunk),
    text: () => Buffer.concat(seen).toString(),
  };
}

test.each([
  ["short", 2],
  ["long", 700_000],
])("what was %s so far comes first, then what is written meanwhile and after", async (_, length) => {
  const file = fileIn(folder);
  const output = createOutputSwitch(file);
  const sink = createSink();
  await output.write(Buffer.from("a".repeat(length)));
  const unfinished = output.write(Buffer.from("b"));
  const led = output.leadTo(sink);
  const meanwhile = output.write(Buffer.from("c"));
  await Promise.all([unfinished, led, meanwhile]);
  await output.write(Buffer.from("d"));
  expect(sink.text()).toBe(`${"a".repeat(length)}bcd`);
  expect([readdirSync(folder), await file.close()]).toEqual([[], undefined]);
});

test("without a file, whoever writes is held back until there is a place for it", async () => {
  const output = createOutputSwitch();
  const sink = createSink();
  let isWritten = false;
  const written = output.write(Buffer.from("a")).then(() => {
    isWritten = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isWritten, sink.text()]).toEqual([false, ""]);
  await output.leadTo(sink);
  await written;
  expect(sink.text()).toBe("a");
});

test("what can not be had any more is said to be missing, and the rest follows", async () => {
  writeFileSync(join(folder, "blocked"), "a file where the folder should be");
  const output = createOutputSwitch(fileIn(join(folder, "blocked", "x")));
  const sink = createSink();
  await output.write(Buffer.from("a".repeat(100)));
  await output.leadTo(sink);
  await output.write(Buffer.from("b"));
  expect(sink.text()).toMatch(/^\[What it had written before is missing here: .*\]\nb$/);
});
