import { basename, dirname, join } from "node:path";
import { sleep } from "./cancellation.ts";
import { CadreError, systemCodeOf } from "./errors.ts";
import { replaceFile } from "./files.ts";
import type { World } from "./world.ts";

type LockWorld = Pick<World, "files" | "random" | "clock" | "processes" | "env" | "platform">;

/**
 * A lock between processes. Its epoch is greater than that of every holder before, over crashes too; a holder
 * that was replaced without noticing learns it from `assertHeld` before it writes.
 */
export interface Lock {
  readonly path: string;
  /** 0 for one that is unfenced. */
  readonly epoch: number;
  /** Throws `lock-lost` if the lock is no longer ours. */
  assertHeld(): Promise<void>;
  /** Can be called twice, and after the lock was lost. */
  release(): Promise<void>;
}

export interface LockOptions {
  readonly world: LockWorld;
  /** The lock's own file. Its neighbours `<path>.*` belong to the lock as well. */
  readonly path: string;
  /** For those who find it taken: what it is held for. */
  readonly purpose: string;
  /** How long to wait for a live holder. Default 0: one attempt. */
  readonly waitMs?: number;
  /** For those who never ask `assertHeld` before they write: no epoch is kept, which costs most of the time. */
  readonly unfenced?: boolean;
  readonly signal?: AbortSignal;
}

interface Owner {
  readonly pid: number;
  readonly identity: string | undefined;
  readonly host: string;
  readonly token: string;
  readonly purpose: string;
}

export async function acquireLock(options: LockOptions): Promise<Lock> {
  const { world, path } = options;
  const me = await describeMe(options);
  const deadline = world.clock.monotonicMs() + (options.waitMs ?? 0);
  for (let delayMs = 2; ; delayMs = Math.min(delayMs * 2, 50)) {
    const found = await claim({ world, path, me });
    if (found === undefined) {
      const epoch = options.unfenced ? 0 : await nextEpoch(options, me);
      if (epoch !== undefined) return lockOf({ world, path, me, epoch });
    } else if (world.clock.monotonicMs() >= deadline) throw lockHeld(path, found);
    // Those who wait spread out, so that they do not all come back at the same moment.
    await sleep(world.clock, delayMs * (0.5 + world.random.number()), options.signal);
  }
}

/** Who holds the lock at this moment; undefined: nobody who lives. Changes nothing. */
export async function lockHolder(
  options: Pick<LockOptions, "world" | "path">,
): Promise<{ readonly pid: number; readonly host: string } | undefined> {
  const { world, path } = options;
  const found = await readOwner(world, path);
  if (found === "gone") return undefined;
  const me = await describeMe({ world, path, purpose: "looking" });
  return (await isRunning(found, { world, me })) ? { pid: found.pid, host: found.host } : undefined;
}

async function describeMe(options: LockOptions): Promise<Owner> {
  const { world } = options;
  const { pid } = world.processes;
  return {
    pid,
    identity: await world.processes.identityOf(pid),
    host: await hostOf(world),
    token: Buffer.from(world.random.bytes(12)).toString("hex"),
    purpose: options.purpose,
  };
}

async function hostOf(world: LockWorld): Promise<string> {
  const known = world.env.HOSTNAME ?? world.env.COMPUTERNAME ?? "";
  if (world.platform !== "linux") return known;
  const name = await world.files.readText("/proc/sys/kernel/hostname").catch(() => known);
  return name.trim();
}

interface Claim {
  readonly world: LockWorld;
  readonly path: string;
  readonly me: Owner;
}

/** Takes the file at `path` for `me`, from a dead owner too. Returns the live owner if there is one. */
async function claim(options: Claim): Promise<Owner | undefined> {
  const { world, path, me } = options;
  for (;;) {
    if (await createOwned(options)) return undefined;
    const found = await readOwner(world, path);
    if (found === "gone") continue;
    if (await isRunning(found, { world, me })) return found;
    const other = await clearStale(options, found);
    if (other !== undefined) return other;
  }
}

/** A link to a finished file: nobody ever sees a half-written owner. */
async function createOwned({ world, path, me }: Claim): Promise<boolean> {
  const draft = `${path}.${me.token}.new`;
  await world.files.writeFile(draft, `${JSON.stringify(me)}\n`, { mode: 0o600, exclusive: true });
  try {
    await world.files.link(draft, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await world.files.remove(draft, { force: true });
  }
}

async function readOwner(world: LockWorld, path: string): Promise<Owner | "gone"> {
  let text: string;
  try {
    text = await world.files.readText(path);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return "gone";
    throw error;
  }
  return parseOwner(text) ?? unreadableOwner;
}

/** Owners are never seen half-written, so this is what a power failure has left: nobody holds it. */
const unreadableOwner: Owner = {
  pid: 0,
  identity: undefined,
  host: "",
  token: "unreadable",
  purpose: "unknown",
};

function parseOwner(text: string): Owner | undefined {
  let value: Partial<Record<keyof Owner, unknown>> | null;
  try {
    value = JSON.parse(text) as Partial<Record<keyof Owner, unknown>> | null;
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, identity, host, token, purpose } = value;
  if (typeof pid !== "number" || typeof host !== "string" || typeof purpose !== "string") return undefined;
  // The token becomes part of a file's name.
  if (typeof token !== "string" || !/^[0-9a-f]{8,64}$/.test(token)) return undefined;
  return { pid, identity: typeof identity === "string" ? identity : undefined, host, token, purpose };
}

async function isRunning(owner: Owner, { world, me }: { world: LockWorld; me: Owner }): Promise<boolean> {
  if (owner.token === unreadableOwner.token) return false;
  // Nobody can look into another machine: there only a person can tell.
  if (owner.host !== me.host) return true;
  if (!world.processes.isAlive(owner.pid)) return false;
  if (owner.identity === undefined || me.identity === undefined) return true;
  // Another start time: the id was given to somebody else. None: it has just ended.
  return (await world.processes.identityOf(owner.pid)) === owner.identity;
}

/**
 * Removes the lock of a dead owner exactly once, however many try: only who holds the claim on this very owner
 * may remove it, and looks again before. A claim is a lock of the same kind, so a claimer that dies is replaced
 * in the same way. Returns a live claimer if there is one.
 */
async function clearStale({ world, path, me }: Claim, stale: Owner): Promise<Owner | undefined> {
  const claimPath = `${path}.${stale.token}`;
  const other = await claim({ world, path: claimPath, me });
  if (other !== undefined) return other;
  try {
    const present = await readOwner(world, path);
    if (present !== "gone" && present.token === stale.token) await world.files.remove(path, { force: true });
    await sweepDrafts({ world, path, me });
  } finally {
    await world.files.remove(claimPath, { force: true });
  }
  return undefined;
}

/** A process that was killed while it tried may have left its draft. */
async function sweepDrafts({ world, path, me }: Claim): Promise<void> {
  const prefix = `${basename(path)}.`;
  const entries = await world.files.readFolder(dirname(path)).catch(() => []);
  for (const { name } of entries) {
    if (!name.startsWith(prefix) || !name.endsWith(".new")) continue;
    const draft = join(dirname(path), name);
    const owner = await readOwner(world, draft);
    // One that cannot be read is perhaps being written.
    if (owner === "gone" || owner === unreadableOwner || (await isRunning(owner, { world, me }))) continue;
    await world.files.remove(draft, { force: true });
  }
}

/** Undefined if somebody removed the lock by hand in this very moment, and another process took it. */
async function nextEpoch({ world, path }: LockOptions, me: Owner): Promise<number | undefined> {
  const epochPath = `${path}.epoch`;
  try {
    const epoch = (await readEpoch(world, epochPath)) + 1;
    await replaceFile({ files: world.files, random: world.random, path: epochPath, data: `${epoch}\n` });
    return (await isOwner(world, path, me)) ? epoch : undefined;
  } catch (error) {
    await releaseOwned({ world, path, me }).catch(() => {});
    throw error;
  }
}

async function readEpoch(world: LockWorld, path: string): Promise<number> {
  let text: string;
  try {
    text = await world.files.readText(path);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return 0;
    throw error;
  }
  const epoch = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(epoch) && epoch >= 0) return epoch;
  throw new CadreError({
    code: "epoch-unreadable",
    message: `${path} should hold a number and does not. Write into it a number greater than any that was used before.`,
    data: { path },
  });
}

async function isOwner(world: LockWorld, path: string, me: Owner): Promise<boolean> {
  const present = await readOwner(world, path);
  return present !== "gone" && present.token === me.token;
}

async function releaseOwned({ world, path, me }: Claim): Promise<void> {
  if (await isOwner(world, path, me)) await world.files.remove(path, { force: true });
}

function lockOf(options: Claim & { epoch: number }): Lock {
  const { world, path, me, epoch } = options;
  let released = false;
  return {
    path,
    epoch,
    async assertHeld() {
      const held = !released && (await isOwner(world, path, me));
      if (held && (epoch === 0 || (await readEpoch(world, `${path}.epoch`)) === epoch)) return;
      throw new CadreError({
        code: "lock-lost",
        message: `The lock ${path} (${me.purpose}) is no longer held by this process. Start again, so that nothing of the new holder is overwritten.`,
        data: { path, epoch },
      });
    },
    async release() {
      if (released) return;
      released = true;
      await releaseOwned(options);
    },
  };
}

function lockHeld(path: string, owner: Owner): CadreError {
  const where = owner.host === "" ? "" : ` on ${owner.host}`;
  return new CadreError({
    code: "lock-held",
    message: `${path} is held by process ${owner.pid}${where} (${owner.purpose}). Wait for it or end it; if it no longer exists, remove that file.`,
    data: { path, pid: owner.pid, host: owner.host, purpose: owner.purpose },
    retryable: true,
  });
}
