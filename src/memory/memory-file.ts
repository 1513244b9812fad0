/** The facts of one folder: a file to which lines are added, and which is replaced as a whole only with a backup. */
import { join } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder, replaceFile } from "../base/files.ts";
import { isoTime } from "../base/iso-time.ts";
import { acquireLock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import { type Fact, formatFact, keyOfFact, parseFact } from "./fact.ts";

export interface MemoryFile {
  readonly path: string;
  /** In the order in which they were added. */
  read(): Promise<Fact[]>;
  /** Those that are new, and answers with them. */
  add(facts: readonly Fact[]): Promise<readonly Fact[]>;
  /** When somebody last looked for what can go, in milliseconds since the epoch. */
  consolidatedMs(): Promise<number | undefined>;
  markConsolidated(): Promise<void>;
  /** Takes lines out. A copy of the file as it was is kept. `from`: it is left as it is when it has changed since. */
  remove(lines: ReadonlySet<number>, options: { from: readonly Fact[] }): Promise<boolean>;
}

const fileName = "facts.md";
const backupFolder = "backups";
const keptBackups = 10;
/** What is longer than this is read by nobody: then facts are no longer added. */
const maxFileBytes = 256 * 1024;
/** Others hold it as long as it takes to write a few lines. */
const lockWaitMs = 2_000;

const heading =
  "# What Cadre remembers, one fact a line. Edit or delete lines as you like; `user` are your own words.\n\n";

export function createMemoryFile(world: World, folder: string): MemoryFile {
  const path = join(folder, fileName);
  const backups = join(folder, backupFolder);
  const stamp = join(folder, "consolidated");

  async function text(): Promise<string> {
    try {
      return await world.files.readText(path);
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return "";
      throw error;
    }
  }

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    await ensurePrivateFolder(world, folder);
    const lock = await acquireLock({
      world,
      path: join(folder, `${fileName}.lock`),
      purpose: "writing facts",
      waitMs: lockWaitMs,
      unfenced: true,
    });
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  async function backUp(content: string): Promise<void> {
    await ensurePrivateFolder(world, backups);
    const name = `facts-${isoTime(world.clock.now()).replaceAll(":", "-")}.md`;
    await replaceFile({ ...world, path: join(backups, name), data: content });
    const names = (await world.files.readFolder(backups)).map((entry) => entry.name).sort();
    for (const old of names.slice(0, -keptBackups))
      await world.files.remove(join(backups, old), { force: true });
  }

  return {
    path,
    read: async () => factsIn(await text()).map(({ fact }) => fact),
    async add(facts) {
      if (facts.length === 0) return [];
      return await locked(async () => {
        const before = await text();
        if (Buffer.byteLength(before) > maxFileBytes) return [];
        const known = new Set(factsIn(before).map(({ fact }) => keyOfFact(fact)));
        const fresh = facts.filter((fact) => {
          const key = keyOfFact(fact);
          if (key === "" || known.has(key)) return false;
          known.add(key);
          return true;
        });
        if (fresh.length === 0) return [];
        const start = before === "" ? heading : before.endsWith("\n") ? "" : "\n";
        const handle = await world.files.open(path, "append", { fileMode: 0o600 });
        try {
          await handle.write(Buffer.from(`${start}${fresh.map(formatFact).join("\n")}\n`));
          await handle.sync();
        } finally {
          await handle.close();
        }
        return fresh;
      });
    },
    async consolidatedMs() {
      const ms = Date.parse((await world.files.readText(stamp).catch(() => "")).trim());
      return Number.isNaN(ms) ? undefined : ms;
    },
    async markConsolidated() {
      await ensurePrivateFolder(world, folder);
      await replaceFile({ ...world, path: stamp, data: `${isoTime(world.clock.now())}\n` });
    },
    async remove(lines, { from }) {
      if (lines.size === 0) return false;
      return await locked(async () => {
        const before = await text();
        const present = factsIn(before);
        const isSame =
          present.length === from.length &&
          present.every(({ fact }, index) => formatFact(fact) === formatFact(from[index] ?? fact));
        if (!isSame) return false;
        await backUp(before);
        const gone = new Set(present.filter((_, index) => lines.has(index)).map(({ line }) => line));
        const rest = before.split("\n").filter((_, line) => !gone.has(line));
        await replaceFile({ ...world, path, data: rest.join("\n") });
        return true;
      });
    },
  };
}

function factsIn(text: string): { fact: Fact; line: number }[] {
  return text.split("\n").flatMap((content, line) => {
    const fact = parseFact(content);
    return fact === undefined ? [] : [{ fact, line }];
  });
}
