import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { type JournalEntry, readJournal, readJournalBackwards } from "./journal-reader.ts";
import { createNodeFiles } from "./world/node-files.ts";

const files = createNodeFiles();
let workspace: TempWorkspace;
let path: string;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "journal.jsonl");
});
afterEach(() => workspace.remove());

async function collect(source: AsyncIterable<JournalEntry>): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of source) entries.push(entry);
  return entries;
}

const brief = (entries: readonly JournalEntry[]) =>
  entries.map((entry) => (entry.ok ? entry.record : entry.problem));

const damaged = `{"n":1}\n\n{broken\n{"n":2}\n\0\0\0{"n":3}\n{"n":4}{"n":5}\n{"n":6}\n{"cut`;

describe("reading a journal", () => {
  it("keeps every valid record and reports the rest, forwards and backwards", async () => {
    await workspace.write("journal.jsonl", damaged);
    const forwards = await collect(readJournal({ files, path }));
    expect(brief(forwards)).toEqual([
      { n: 1 },
      "broken",
      { n: 2 },
      { n: 3 },
      "broken",
      { n: 4 },
      { n: 5 },
      { n: 6 },
      "torn",
    ]);
    const backwards = await collect(readJournalBackwards({ files, path }));
    expect(brief(backwards)).toEqual(brief(forwards).reverse());
    expect(backwards.map((entry) => entry.offset)).toEqual(forwards.map((entry) => entry.offset).reverse());
  });

  it("tells where each line begins, ends, and its number", async () => {
    await workspace.write("journal.jsonl", '{"n":"é"}\n\n{"n":2}\n');
    expect(await collect(readJournal({ files, path }))).toEqual([
      { ok: true, record: { n: "é" }, offset: 0, nextOffset: 11, line: 1 },
      { ok: true, record: { n: 2 }, offset: 12, nextOffset: 20, line: 3 },
    ]);
    expect(brief(await collect(readJournal({ files, path, fromOffset: 12 })))).toEqual([{ n: 2 }]);
    expect(brief(await collect(readJournalBackwards({ files, path, beforeOffset: 11 })))).toEqual([
      { n: "é" },
    ]);
  });

  it("reads an empty file as nothing and says when there is none", async () => {
    await workspace.write("journal.jsonl", "");
    expect(await collect(readJournal({ files, path }))).toEqual([]);
    expect(await collect(readJournalBackwards({ files, path }))).toEqual([]);
    await expect(collect(readJournal({ files, path: `${path}.none` }))).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  it("skips a line that is too long, without keeping it, and goes on", async () => {
    await workspace.write("journal.jsonl", `{"n":1}\n{"n":"${"x".repeat(1000)}"}\n{"n":2}\n`);
    const limits = { chunkBytes: 16, maxLineBytes: 100 };
    expect(brief(await collect(readJournal({ files, path, ...limits })))).toEqual([
      { n: 1 },
      "too-long",
      { n: 2 },
    ]);
    expect(brief(await collect(readJournalBackwards({ files, path, ...limits })))).toEqual([
      { n: 2 },
      "too-long",
      { n: 1 },
    ]);
  });

  it("holds the limit for a line of exactly that length, and for a last line without its end", async () => {
    const line = JSON.stringify({ n: "x".repeat(92) });
    await workspace.write("journal.jsonl", `${line}\n${line}`);
    const limits = { chunkBytes: 7, maxLineBytes: line.length };
    expect(brief(await collect(readJournal({ files, path, ...limits })))).toHaveLength(2);
    expect(brief(await collect(readJournalBackwards({ files, path, ...limits })))).not.toContain("too-long");
    const tighter = { chunkBytes: 7, maxLineBytes: line.length - 1 };
    expect(brief(await collect(readJournal({ files, path, ...tighter })))).toEqual(["too-long", "too-long"]);
    expect(brief(await collect(readJournalBackwards({ files, path, ...tighter })))).toEqual([
      "too-long",
      "too-long",
    ]);
  });

  it("gives the same for every size of chunk, in both directions", async () => {
    const anyLine = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify({ value })),
      fc.string({ unit: "grapheme" }).map((text) => JSON.stringify({ text })),
      fc.constantFrom("", "\0\0", "{broken", "é漢👩"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine),
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        async (lines, ended, chunkBytes) => {
          await files.writeFile(path, lines.join("\n") + (ended ? "\n" : ""));
          const whole = await collect(readJournal({ files, path }));
          expect(await collect(readJournal({ files, path, chunkBytes }))).toEqual(whole);
          const backwards = await collect(readJournalBackwards({ files, path, chunkBytes }));
          expect(backwards.reverse()).toEqual(whole.map(({ line: _, ...entry }) => entry));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("closes the file when its reader leaves early", async () => {
    await workspace.write("journal.jsonl", damaged);
    let open = 0;
    const counting = {
      ...files,
      open: async (...args: Parameters<typeof files.open>) => {
        const handle = await files.open(...args);
        open++;
        const close = async () => {
          open--;
          await handle.close();
        };
        return { ...handle, close };
      },
    };
    for await (const _ of readJournal({ files: counting, path })) break;
    for await (const _ of readJournalBackwards({ files: counting, path })) break;
    expect(open).toBe(0);
  });
});
