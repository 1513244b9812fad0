/**
 * How other processes of the same user reach a running session: to list and stop its tasks, and to send it messages.
 * The socket is in a folder that nobody else can enter, does not keep the process alive, and is gone with the session.
 */
import { basename, dirname, join } from "node:path";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { acquireLock } from "../base/lock.ts";
import type { Connection, SocketListener, World } from "../base/world.ts";
import { linesOf } from "./control-lines.ts";
import { controlSocketPath } from "./control-path.ts";
import type { ControlledSession } from "./control-requests.ts";

export interface ControlSocket {
  /**
   * Resolves when others can reach the session. Can be called again. Never rejects: a session does its work without,
   * and why it cannot be reached is told to `onProblem`.
   */
  open(): Promise<void>;
  /** Nobody reaches it any more, and the socket is gone. To be called while the session is still locked. */
  close(): Promise<void>;
}

export interface ControlSocketOptions {
  readonly world: World;
  readonly session: ControlledSession;
  readonly onProblem?: (message: string) => void;
}

const mostConnections = 8;
const mostRequestBytes = 1024 * 1024;
/** Who says nothing for so long, or does not take the answer, is let go. */
const patienceMs = 30_000;
/** So long somebody who is turned away may go on talking before he must have heard it. */
const partingMs = 1_000;

export function createControlSocket(options: ControlSocketOptions): ControlSocket {
  const { world, session } = options;
  let opening: Promise<SocketListener | undefined> | undefined;
  let sweeping: Promise<void> | undefined;
  let closed = false;
  let connections = 0;

  async function start(): Promise<SocketListener | undefined> {
    try {
      const path = controlSocketPath(world, session.id);
      await ensurePrivateFolder(world, dirname(path));
      const listener = await withPath(world, path, async () => {
        await removeStale(world, path);
        return await world.sockets.listen(path, (connection) => void accept(connection));
      });
      sweeping = sweepStale(world, path);
      return listener;
    } catch (error) {
      options.onProblem?.(`Other processes cannot reach this session: ${messageOf(error)}`);
      return undefined;
    }
  }

  async function accept(connection: Connection): Promise<void> {
    let timer = { cancel() {} };
    const allow = (delayMs: number) => {
      timer.cancel();
      timer = world.clock.setTimer(delayMs, () => connection.close(), { unref: true });
    };
    connections++;
    try {
      allow(patienceMs);
      // Checked by schemas, which a session that nobody asks need not build.
      const { answerLine, refusalLine } = await import("./control-requests.ts");
      try {
        if (connections > mostConnections) throw tooMany();
        for await (const line of linesOf(connection.incoming, mostRequestBytes)) {
          await connection.write(await answerLine(line, { session, clock: world.clock }));
          allow(patienceMs);
        }
      } catch (error) {
        if (!(error instanceof CadreError)) throw error;
        allow(partingMs);
        await part(connection, refusalLine(error));
      }
    } catch {
      // The other side has left.
    } finally {
      connections--;
      timer.cancel();
      connection.close();
    }
  }

  return {
    async open() {
      if (closed) return;
      opening ??= start();
      await opening;
    },
    async close() {
      closed = true;
      const listener = await opening;
      await listener?.close();
      await sweeping;
    },
  };
}

/** What is cut off with something unread may lose what was written: it is read, and thrown away. */
async function part(connection: Connection, lastWords: string): Promise<void> {
  await connection.write(lastWords);
  connection.end();
  for await (const _ of connection.incoming);
}

/** Everything that creates or clears the socket at a path is done by one process at a time. */
async function withPath<Value>(
  world: World,
  path: string,
  work: () => Promise<Value>,
  waitMs = 2_000,
): Promise<Value> {
  const lock = await acquireLock({
    world,
    path: `${path}.lock`,
    purpose: "opening a socket of Cadre",
    unfenced: true,
    waitMs,
  });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Makes room at `path` if what is there was left by a process that died. Throws if somebody listens. */
async function removeStale(world: World, path: string): Promise<void> {
  try {
    await world.files.lstat(path);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return;
    throw error;
  }
  if (!(await world.sockets.isOwn(path))) throw inUse(path, "something that is not a socket of this user");
  try {
    (await world.sockets.connect(path)).close();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT") return;
    // Anything else (it is too busy to answer) is no proof of its death.
    if (code !== "ECONNREFUSED") throw error;
    await world.files.remove(path, { force: true });
    return;
  }
  throw inUse(path, "the socket of a session that runs");
}

const mostSwept = 100;

/** What other sessions that were killed have left, and will not come back to. */
async function sweepStale(world: World, own: string): Promise<void> {
  const folder = dirname(own);
  const entries = await world.files.readFolder(folder).catch(() => []);
  const others = entries
    .map(({ name }) => name)
    .filter((name) => /^[\w-]{22}\.sock$/.test(name) && name !== basename(own))
    .map((name) => join(folder, name));
  for (const path of others.slice(0, mostSwept))
    await withPath(world, path, () => removeStale(world, path), 0).catch(() => {});
}

function inUse(path: string, what: string): CadreError {
  return new CadreError({
    code: "control-socket-in-use",
    message: `${path} is ${what}.`,
    data: { path },
  });
}

function tooMany(): CadreError {
  return new CadreError({
    code: "too-many-connections",
    message: `The session answers ${mostConnections} others at a time. Try again in a moment.`,
  });
}
