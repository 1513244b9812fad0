import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import type { Connection, SocketListener } from "../world.ts";
import { createNodeSockets } from "./node-sockets.ts";
import { createNodeWorld } from "./node-world.ts";

const sockets = createNodeSockets();
const { files } = createNodeWorld();
let workspace: TempWorkspace;
let path: string;
let listener: SocketListener | undefined;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "a.sock");
});
afterEach(async () => {
  await listener?.close();
  listener = undefined;
  await workspace.remove();
});

async function textOf({ incoming }: Connection): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("a local socket", () => {
  it("carries bytes both ways, and answers one who has said everything", async () => {
    listener = await sockets.listen(path, (connection) => {
      void textOf(connection).then(async (said) => {
        await connection.write(`heard ${said.length}`);
        connection.end();
      });
    });
    const connection = await sockets.connect(path);
    await connection.write("a".repeat(300_000));
    await connection.write(Uint8Array.of(98));
    connection.end();
    expect(await textOf(connection)).toBe("heard 300001");
  });

  it("is for its owner alone, and gone when it is closed", async () => {
    listener = await sockets.listen(path, () => {});
    expect((await files.lstat(path)).mode).toBe(0o600);
    await listener.close();
    await expect(files.lstat(path)).rejects.toMatchObject({ code: "ENOENT" });
    await listener.close();
  });

  it("cuts its connections off when it is closed", async () => {
    listener = await sockets.listen(path, () => {});
    const connection = await sockets.connect(path);
    const reading = textOf(connection).catch(() => "cut");
    await listener.close();
    expect(["", "cut"]).toContain(await reading);
    connection.close();
  });

  it("survives one who leaves while it is written to", async () => {
    const failed = new Promise<unknown>((resolve) => {
      void sockets
        .listen(path, (connection) => {
          const flood = async () => {
            for (;;) await connection.write("x".repeat(1 << 20));
          };
          flood().catch(resolve);
        })
        .then(async (listening) => {
          listener = listening;
          (await sockets.connect(path)).close();
        });
    });
    expect(await failed).toBeInstanceOf(Error);
    (await sockets.connect(path)).close();
  });

  it("does not replace what is there", async () => {
    await workspace.write("a.sock", "a file");
    await expect(sockets.listen(path, () => {})).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(await workspace.read("a.sock")).toBe("a file");
  });

  it("cannot be reached when nobody listens", async () => {
    await expect(sockets.connect(path)).rejects.toMatchObject({ code: "ENOENT" });
    await workspace.write("a.sock", "a file");
    await expect(sockets.connect(path)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("a socket of one's own", () => {
  it("is a socket, and nothing else at its path", async () => {
    expect(await sockets.isOwn(path)).toBe(false);
    expect(await sockets.isOwn(join(await workspace.write("file", ""), "below"))).toBe(false);
    expect(await sockets.isOwn(join(workspace.path, "file"))).toBe(false);
    expect(await sockets.isOwn(workspace.path)).toBe(false);
    listener = await sockets.listen(path, () => {});
    expect(await sockets.isOwn(path)).toBe(true);
    const link = join(workspace.path, "link.sock");
    await files.symlink(path, link);
    expect(await sockets.isOwn(link)).toBe(false);
  });
});
