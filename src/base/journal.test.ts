import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFaultyFiles, type Fault } from "../testing/faulty-files.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { type Journal, openJournal } from "./journal.ts";
import { readJournal } from "./journal-reader.ts";
import { createNodeFiles } from "./world/node-files.ts";

const files = createNodeFiles();
let workspace: TempWorkspace;
let path: string;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "journal.jsonl");
});
afterEach(() => workspace.remove());

async function records(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const entry of readJournal({ files, path })) found.push(entry.ok ? entry.record : entry.problem);
  return found;
}

async function openFaulty(faults: readonly Fault[]) {
  const faulty = createFaultyFiles(files, faults);
  return { faulty, journal: await openJournal({ files: faulty, path }) };
}

async function fill(journal: Journal, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) journal.append({ n });
  await journal.durable();
}

describe("a journal", () => {
  it("keeps the order of the calls and is private", async () => {
    const journal = await openJournal({ files, path });
    journal.append({ n: 1 });
    journal.appendText('{"n":2}');
    await journal.durable();
    journal.append({ n: 3, text: "two\nlines \u2028 \ud800" });
    await journal.close();
    expect((await workspace.read("journal.jsonl")).split("\n")).toHaveLength(4);
    expect(await records()).toEqual([{ n: 1 }, { n: 2 }, { n: 3, text: "two\nlines \u2028 \ud800" }]);
    expect((await files.stat(path)).mode & 0o777).toBe(0o600);
  });

  it("serves all who wait at one moment with one write and one sync", async () => {
    const { faulty, journal } = await openFaulty([]);
    const first: Promise<void>[] = [];
    for (let n = 0; n < 50; n++) {
      journal.append({ n });
      first.push(journal.durable());
    }
    // The first call began at once with one record; the 49 that came during it share the second.
    await Promise.all(first);
    expect([faulty.count("write"), faulty.count("sync")]).toEqual([2, 2]);
    await journal.durable();
    expect(faulty.count("sync")).toBe(2);
    await journal.close();
    expect(await records()).toHaveLength(50);
  });

  it("does not acknowledge before the sync that covers the record", async () => {
    const order: string[] = [];
    let releaseSync = () => {};
    const gated = {
      ...files,
      open: async (...args: Parameters<typeof files.open>) => {
        const handle = await files.open(...args);
        const sync = async () => {
          order.push("sync-start");
          await new Promise<void>((resolve) => {
            releaseSync = resolve;
          });
          order.push("sync-end");
        };
        return { ...handle, sync };
      },
    };
    const journal = await openJournal({ files: gated, path });
    journal.append({ n: 1 });
    const first = journal.durable().then(() => order.push("first"));
    while (!order.includes("sync-start")) await new Promise((resolve) => setImmediate(resolve));
    journal.append({ n: 2 });
    const second = journal.durable().then(() => order.push("second"));
    releaseSync();
    await first;
    while (order.filter((step) => step === "sync-start").length < 2)
      await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(["sync-start", "sync-end", "first", "sync-start"]);
    releaseSync();
    await second;
    await Promise.all([journal.close()]);
  });

  it("acknowledges nobody before the sync that covers his record, however many write at once", async () => {
    let written = "";
    let synced = "";
    const watching = {
      ...files,
      open: async (...args: Parameters<typeof files.open>) => {
        const handle = await files.open(...args);
        const write = async (data: Uint8Array) => {
          await Promise.resolve();
          written += Buffer.from(data).toString();
        };
        const sync = async () => {
          const covered = written;
          await Promise.resolve();
          synced = covered;
        };
        return { ...handle, write, sync };
      },
    };
    const journal = await openJournal({ files: watching, path });
    const writer = async (name: number, pauses: number) => {
      for (let n = 0; n < 20; n++) {
        journal.append({ name, n });
        for (let pause = 0; pause < pauses; pause++) await Promise.resolve();
        await journal.durable();
        expect(synced).toContain(`{"name":${name},"n":${n}}`);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, name) => writer(name, name % 5)));
    await journal.close();
  });

  it.each([
    ["a full disk that took a part", { operation: "write", at: 2, code: "ENOSPC", tornBytes: 5 }],
    ["a full disk that took nothing", { operation: "write", at: 2, code: "ENOSPC" }],
    ["a write that failed after all bytes", { operation: "write", at: 2, code: "EIO", tornBytes: 1000 }],
    ["a failed sync", { operation: "sync", at: 2, code: "EIO" }],
  ] as const)("goes on cleanly after %s", async (_, fault) => {
    const { journal } = await openFaulty([fault]);
    await fill(journal, 1, 2);
    await expect(fill(journal, 3, 4)).rejects.toMatchObject({
      code: "journal-unwritable",
      retryable: true,
      data: { path, systemCode: fault.code },
      message: expect.stringContaining(path) as string,
    });
    await fill(journal, 5, 6);
    await journal.close();
    expect(await records()).toEqual([1, 2, 3, 4, 5, 6].map((n) => ({ n })));
  });

  it("loses nothing while a disk stays full, and reaches everybody who waits", async () => {
    const { faulty, journal } = await openFaulty([
      { operation: "write", at: 1, times: Number.POSITIVE_INFINITY, code: "ENOSPC", tornBytes: 3 },
    ]);
    journal.append({ n: 1 });
    const first = journal.durable();
    journal.append({ n: 2 });
    const second = journal.durable();
    await expect(first).rejects.toThrow("Free some space");
    await expect(second).rejects.toThrow("Free some space");
    faulty.heal();
    await fill(journal, 3, 3);
    await journal.close();
    expect(await records()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it("tries again when taking back the torn end has failed too", async () => {
    const { journal } = await openFaulty([
      { operation: "write", at: 1, code: "ENOSPC", tornBytes: 4 },
      { operation: "truncate", at: 1, code: "EIO" },
    ]);
    await expect(fill(journal, 1, 1)).rejects.toThrow();
    await expect(fill(journal, 2, 2)).rejects.toThrow();
    await fill(journal, 3, 3);
    await journal.close();
    expect(await records()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it("closes the file although the last write failed, and says so", async () => {
    const { journal } = await openFaulty([{ operation: "write", at: 1, times: 9, code: "ENOSPC" }]);
    journal.append({ n: 1 });
    await expect(journal.close()).rejects.toMatchObject({ code: "journal-unwritable" });
    expect(() => journal.append({ n: 2 })).toThrow("closed");
  });

  it.each([
    ['{"n":1}\n{"n":2}', [{ n: 1 }, { n: 2 }, { n: 9 }]],
    ['{"n":1}\n{"n":2', [{ n: 1 }, "broken", { n: 9 }]],
    ['{"n":1}\n\0\0\0\0', [{ n: 1 }, "broken", { n: 9 }]],
    ['{"n":1}\n', [{ n: 1 }, { n: 9 }]],
  ])("goes on after %j without touching what is there", async (before, after) => {
    await workspace.write("journal.jsonl", before);
    const journal = await openJournal({ files, path });
    await fill(journal, 9, 9);
    await journal.close();
    expect((await workspace.read("journal.jsonl")).startsWith(before)).toBe(true);
    expect(await records()).toEqual(after);
  });

  it("refuses what is not one line of JSON", async () => {
    const journal = await openJournal({ files, path });
    expect(() => journal.append(undefined)).toThrow(TypeError);
    expect(() => journal.appendText('{"a":\n1}')).toThrow(TypeError);
    await journal.close();
    expect(await records()).toEqual([]);
  });

  it("leaves, cut at any byte, exactly the records before the cut", async () => {
    const journal = await openJournal({ files, path });
    for (let n = 0; n < 5; n++) journal.append({ n, text: "é漢👩" });
    await journal.close();
    const whole = await files.readFile(path);
    const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    for (let cut = 0; cut <= whole.length; cut++) {
      await files.writeFile(path, whole.subarray(0, cut));
      const found = await records();
      // A record is whole without its line break too.
      const complete = ends.filter((end) => end <= cut).length;
      expect(found.filter((entry) => entry !== "torn")).toHaveLength(complete);
    }
  });
});

describe("a journal whose file is removed while it is in use", () => {
  it("puts back what was acknowledged, and goes on under the same name", async () => {
    path = join(workspace.path, "folder", "journal.jsonl");
    await files.makeFolder(join(workspace.path, "folder"));
    const journal = await openJournal({ files, path });
    await fill(journal, 1, 3);
    await files.remove(join(workspace.path, "folder"), { recursive: true });
    await fill(journal, 4, 4);
    expect(await records()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
    await fill(journal, 5, 5);
    await journal.close();
    expect(await records()).toHaveLength(5);
    expect((await files.stat(path)).mode & 0o777).toBe(0o600);
  });

  it("says so when it cannot be put back, and keeps what is queued", async () => {
    const journal = await openJournal({ files, path });
    await fill(journal, 1, 1);
    await files.remove(workspace.path, { recursive: true });
    await files.writeFile(workspace.path, "no folder");
    await expect(fill(journal, 2, 2)).rejects.toMatchObject({ code: "journal-unwritable" });
    await files.remove(workspace.path);
    await journal.durable();
    await journal.close();
    expect(await records()).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
