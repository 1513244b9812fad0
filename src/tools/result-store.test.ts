import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createResultStore, limitResult, type ResultStore } from "./result-store.ts";

const world = createNodeWorld();
let base: string;
let store: ResultStore;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "cadre-results-")));
  store = createResultStore({ world, folder: join(base, "deep", "results") });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const forgetful: ResultStore = { folder: "/nowhere", keep: async () => "/nowhere/file.txt" };

describe("the result store", () => {
  it("makes a private folder at first use, and private files in it", async () => {
    expect(existsSync(store.folder)).toBe(false);
    const path = await store.keep("Bash", "text ü");
    expect(await world.files.readText(path)).toBe("text ü");
    expect(statSync(store.folder).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("gives every result a file of its own inside the folder, whatever its name", async () => {
    const names = ["Bash", "Bash", "../../etc/passwd", "", "mcp__a/b\0c", "x".repeat(500)];
    const paths = await Promise.all(names.map((name) => store.keep(name, name)));
    expect(new Set(paths).size).toBe(names.length);
    for (const path of paths) expect(join(store.folder, basename(path))).toBe(path);
  });

  it("goes on when somebody removed the folder", async () => {
    await store.keep("a", "1");
    rmSync(store.folder, { recursive: true });
    expect(await world.files.readText(await store.keep("a", "2"))).toBe("2");
  });

  it("can be used again after it failed", async () => {
    await world.files.makeFolder(join(base, "deep"));
    await world.files.writeFile(store.folder, "in the way");
    await expect(store.keep("a", "1")).rejects.toThrow();
    rmSync(store.folder);
    expect(await world.files.readText(await store.keep("a", "2"))).toBe("2");
  });
});

function takeApart(limited: string): { head: string; note: string; tail: string } {
  const start = limited.search(/\[[\d,]+ characters were left out/);
  const end = limited.indexOf("]\n", start);
  return { head: limited.slice(0, start), note: limited.slice(start + 1, end), tail: limited.slice(end + 2) };
}

describe("limiting a result", () => {
  it("leaves a short one alone and keeps nothing", async () => {
    expect(await limitResult({ text: "12345", maxChars: 5, store, name: "x" })).toBe("12345");
    expect(existsSync(store.folder)).toBe(false);
  });

  it("shows the beginning and the end, cut at line ends, and says where the whole is", async () => {
    const text = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join("");
    const limited = await limitResult({ text, maxChars: 1000, store, name: "Bash" });
    const { head, note, tail } = takeApart(limited);
    expect(head).toMatch(/^line 0\n(line \d+\n)+$/);
    expect(tail).toMatch(/^(line \d+\n)+$/);
    expect(tail.endsWith("line 999\n")).toBe(true);
    expect(head.length + tail.length).toBeLessThanOrEqual(1000);
    expect(head.length).toBeGreaterThan(700);
    const leftOut = (text.length - head.length - tail.length).toLocaleString("en-US");
    const [, path = ""] =
      /^(?:[\d,]+) characters .* The whole is in (\S+); Read can read it/.exec(note) ?? [];
    expect(note.startsWith(`${leftOut} characters were left out`)).toBe(true);
    expect(await world.files.readText(path)).toBe(text);
  });

  it("never cuts a character in two, nor loses or repeats one, whatever the text", async () => {
    const piece = fc.constantFrom("a", "🎉", "\n", "ü", "xx");
    const text = fc.array(piece, { minLength: 1, maxLength: 200 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 0, max: 100 }), async (whole, maxChars) => {
        const limited = await limitResult({ text: whole, maxChars, store: forgetful, name: "x" });
        fc.pre(whole.length > maxChars);
        expect(/\p{Surrogate}/u.test(limited)).toBe(false);
        const { head, note, tail } = takeApart(limited);
        const shown = whole.startsWith(head) ? head : head.replace(/\n$/, "");
        expect(whole.startsWith(shown) && whole.endsWith(tail)).toBe(true);
        const isCounted = (part: string) =>
          note.startsWith(`${whole.length - part.length - tail.length} characters`);
        // The line end before the note may or may not be part of the text.
        expect(isCounted(shown) || isCounted(shown.replace(/\n$/, ""))).toBe(true);
        expect(shown.length + tail.length).toBeLessThanOrEqual(maxChars + 1);
      }),
      { numRuns: 500 },
    );
  });

  it("still delivers when the whole cannot be kept, and says so", async () => {
    const full: ResultStore = {
      folder: "/full",
      keep: () => Promise.reject(new Error("ENOSPC: no space left on device")),
    };
    const limited = await limitResult({ text: "x".repeat(100), maxChars: 40, store: full, name: "x" });
    expect(limited).toMatch(/^x{30}\n\[60 characters .*could not be kept: ENOSPC.*\]\nx{10}$/);
  });
});
