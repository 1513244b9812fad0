import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createScope } from "./cancellation.ts";
import { tailJournal } from "./journal-tail.ts";
import { createNodeFiles } from "./world/node-files.ts";

/** Changes are not reported, so that only the clock can wake the reader. */
const files = { ...createNodeFiles(), watch: () => ({ close() {} }) };
let workspace: TempWorkspace;
let path: string;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "journal.jsonl");
});
afterEach(() => workspace.remove());

describe("following a journal", () => {
  it("waits for the file, for each line's end, and through an end that was taken back", async () => {
    const clock = createManualClock();
    const scope = createScope();
    const tail = tailJournal({ files, clock, path, signal: scope.signal, pollMs: 100 });
    const next = async (write?: () => Promise<unknown>) => {
      const waiting = tail.next();
      await write?.();
      // Real files answer in their own time: the clock moves on until they have.
      let entry: Awaited<typeof waiting> | undefined;
      void waiting.then((value) => {
        entry = value;
      });
      while (entry === undefined) await clock.advance(100);
      return entry.value?.ok ? entry.value.record : entry.value;
    };
    expect(await next(() => files.writeFile(path, '{"n":1}\n{"n":'))).toEqual({ n: 1 });
    const second = tail.next();
    // Each change is made while the reader waits for the clock: a file that changes during a look is another matter.
    const untilIdle = async () => {
      while (clock.pendingMs().length === 0) await new Promise((resolve) => setImmediate(resolve));
    };
    for (const text of ['{"n":1}\n{"m":22', '{"n":1}\n{"m":3}\n']) {
      await untilIdle();
      await files.writeFile(path, text);
      await clock.advance(100);
    }
    expect((await second).value).toMatchObject({ ok: true, record: { m: 3 } });
    expect(await next(() => files.writeFile(path, '{"n":1}\n{"m":3}\n{"k":4}\n'))).toEqual({ k: 4 });
    const last = tail.next();
    scope.cancel("leaving");
    await expect(last).rejects.toMatchObject({ name: "CancelledError" });
    expect(clock.pendingMs()).toEqual([]);
  });

  it("is woken by a change without any poll", async () => {
    let changed = () => {};
    const watched = {
      ...files,
      watch: (_: string, onChange: () => void) => {
        changed = onChange;
        return { close() {} };
      },
    };
    await workspace.write("journal.jsonl", '{"n":1}\n');
    const clock = createManualClock();
    const tail = tailJournal({ files: watched, clock, path, signal: createScope().signal, fromOffset: 8 });
    const waiting = tail.next();
    while (clock.pendingMs().length === 0) await new Promise((resolve) => setImmediate(resolve));
    await workspace.write("journal.jsonl", '{"n":1}\n{"n":2}\n');
    changed();
    expect((await waiting).value).toMatchObject({ ok: true, record: { n: 2 }, offset: 8 });
    await tail.return();
  });
});
