import { chmod, lstat } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { systemCodeOf } from "../errors.ts";
import type { Connection, SocketListener, Sockets } from "../world.ts";

export function createNodeSockets(): Sockets {
  return { listen, connect, isOwn };
}

async function listen(path: string, onConnection: (connection: Connection) => void): Promise<SocketListener> {
  const { createServer } = await net();
  const open = new Set<Socket>();
  // Half open: whoever has said everything still gets the answer.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.unref();
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    onConnection(connectionOf(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // What goes wrong with one connection (no file descriptors left) must not end the process.
  server.on("error", () => {});
  server.unref();
  const close = () => closeServer(server, open);
  try {
    await chmod(path, 0o600);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** The system removes the name first, then it stops listening: nobody finds a name without a listener. */
async function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  for (const socket of open) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

async function connect(path: string): Promise<Connection> {
  const { createConnection } = await net();
  const socket = createConnection({ path, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve();
    });
  });
  return connectionOf(socket);
}

function connectionOf(socket: Socket): Connection {
  // Whoever reads or writes is told; an error that nobody waits for is no reason to end the process.
  socket.on("error", () => {});
  return {
    // Reading to the end must not close the other direction.
    incoming: { [Symbol.asyncIterator]: () => socket.iterator({ destroyOnReturn: false }) },
    write: (data) =>
      new Promise((resolve, reject) => {
        socket.write(data, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => void socket.end(),
    close: () => void socket.destroy(),
  };
}

async function isOwn(path: string): Promise<boolean> {
  try {
    const info = await lstat(path);
    return info.isSocket() && info.uid === process.getuid?.();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

/** Most processes never need it. */
function net(): Promise<typeof import("node:net")> {
  return import("node:net");
}
