import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from "node:net";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createTempWorkspace } from "../../testing/temp-workspace.ts";
import { testCertificate } from "../../testing/test-certificate.ts";
import { createScope } from "../cancellation.ts";
import type { Network, World } from "../world.ts";
import { createNodeNetwork } from "./node-network.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function networkWith(env: World["env"] = {}): Network {
  const network = createNodeNetwork({ env });
  cleanups.push(() => network.close());
  return network;
}

interface Listening {
  readonly port: number;
  readonly url: string;
  /** Connections that were ever opened. */
  readonly sockets: Socket[];
}

async function listen(
  server: Server | ReturnType<typeof createSocketServer>,
  scheme = "http",
): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `${scheme}://127.0.0.1:${port}`, sockets };
}

type Handler = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

/** Reads the whole request, then answers. */
function serve(handler: Handler): Promise<Listening> {
  return listen(createServer((request, response) => withBody(request, response, handler)));
}

function withBody(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => handler(Object.assign(request, { text }), response));
}

/** A server that speaks byte by byte what it is told, for each request it has read the head of. */
function serveRaw(answer: (socket: Socket, count: number) => void): Promise<Listening> {
  let count = 0;
  return listen(
    createSocketServer((socket) => {
      socket.on("data", () => answer(socket, ++count));
    }),
  );
}

const echo: Handler = (request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      method: request.method,
      url: request.url,
      headers: request.headers,
      text: request.text,
    }),
  );
};

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  text: string;
}

describe("a request", () => {
  it("carries method, headers and body, and the answer everything an SDK looks at", async () => {
    const server = await serve(echo);
    const response = await networkWith().fetch(`${server.url}/path?q=1#part`, {
      method: "post",
      headers: new Headers({ "X-One": "1" }),
      body: "é漢",
    });
    expect(response).toMatchObject({
      ok: true,
      status: 200,
      statusText: "OK",
      url: `${server.url}/path?q=1#part`,
    });
    expect(response.headers.get("Content-Type")).toBe("application/json");
    const seen = (await response.json()) as Echo;
    expect(seen).toMatchObject({ method: "POST", url: "/path?q=1", text: "é漢" });
    expect(seen.headers).toMatchObject({
      "x-one": "1",
      "content-length": "5",
      host: `127.0.0.1:${server.port}`,
    });
    expect(seen.headers["transfer-encoding"]).toBeUndefined();
  });

  it("takes URL objects, bytes, and credentials in the address", async () => {
    const server = await serve(echo);
    const url = new URL(server.url);
    url.username = "me";
    url.password = "p@ss";
    const response = await networkWith().fetch(url, { method: "PUT", body: new Uint8Array([104, 105]) });
    const seen = (await response.json()) as Echo;
    expect(seen.text).toBe("hi");
    expect(seen.headers.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  });

  it("refuses other schemes, broken addresses and bodies it cannot send", async () => {
    const network = networkWith();
    await expect(network.fetch("file:///etc/passwd")).rejects.toThrow("Only http and https");
    await expect(network.fetch("no address")).rejects.toThrow();
    const body = { stream: true } as unknown as string;
    await expect(network.fetch("http://127.0.0.1:1", { body })).rejects.toThrow("Only text and bytes");
  });

  it("says which host did not answer and keeps the system's code", async () => {
    const server = await listen(createSocketServer());
    const { port } = server;
    await cleanups.pop()?.();
    await expect(networkWith().fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: "ECONNREFUSED",
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
    });
    await expect(networkWith().fetch(`http://localhost:${port}/`)).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  });

  it("has no body where there cannot be one, and frees the connection", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/204") response.writeHead(204).end();
      else response.writeHead(200, { "content-length": "9" }).end();
    });
    const network = networkWith();
    for (let round = 0; round < 3; round++) {
      const head = await network.fetch(server.url, { method: "HEAD" });
      const none = await network.fetch(`${server.url}/204`);
      expect([head.body, none.body, await none.text()]).toEqual([null, null, ""]);
    }
    expect(server.sockets).toHaveLength(1);
  });
});

describe("connections", () => {
  it("are used again, one after the other", async () => {
    const server = await serve(echo);
    const network = networkWith();
    for (let n = 0; n < 5; n++) await (await network.fetch(server.url)).text();
    expect(server.sockets).toHaveLength(1);
  });

  it("that are idle are closed by close(), and new ones can be opened after it", async () => {
    const server = await serve(echo);
    const network = networkWith();
    await (await network.fetch(server.url)).text();
    const closed = new Promise((resolve) => server.sockets[0]?.once("close", resolve));
    network.close();
    await closed;
    expect((await network.fetch(server.url)).status).toBe(200);
  });

  it("that are in use survive close()", async () => {
    let finish = () => {};
    const server = await serve((_, response) => {
      response.write("begin ");
      finish = () => response.end("end");
    });
    const network = networkWith();
    const response = await network.fetch(server.url);
    network.close();
    finish();
    expect(await response.text()).toBe("begin end");
  });

  it("that died while idle cost a second attempt, not an error", async () => {
    const server = await serveRaw((socket, count) => {
      // The first answer promises to stay; the second request finds the connection dead.
      if (count === 2) socket.destroy();
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const network = networkWith();
    await (await network.fetch(server.url)).text();
    expect(await (await network.fetch(server.url, { method: "POST", body: "again" })).text()).toBe("ok");
    expect(server.sockets).toHaveLength(2);
  });

  it("that die on their first request are an error, and so are those that die twice", async () => {
    const first = await serveRaw((socket) => socket.destroy());
    await expect(networkWith().fetch(first.url)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(first.sockets).toHaveLength(1);
    const twice = await serveRaw((socket, count) => {
      if (count > 1) socket.destroy();
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const network = networkWith();
    await (await network.fetch(twice.url)).text();
    await expect(network.fetch(twice.url)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(twice.sockets).toHaveLength(2);
  });

  it("that die after a part of the answer are not tried again", async () => {
    const server = await serveRaw((socket, count) => {
      if (count === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      else socket.end("HTTP/1.1 200 OK\r\ncontent-le");
    });
    const network = networkWith();
    await (await network.fetch(server.url)).text();
    await expect(network.fetch(server.url, { method: "POST", body: "pay" })).rejects.toThrow();
    expect(server.sockets).toHaveLength(1);
  });
});

describe("the body", () => {
  it("arrives piece by piece as it is sent", async () => {
    let next = () => {};
    const server = await serve((_, response) => {
      response.write("one");
      next = () => {
        response.write("two");
        next = () => response.end("three");
      };
    });
    const response = await networkWith().fetch(server.url);
    const pieces: string[] = [];
    for await (const chunk of response.body ?? []) {
      pieces.push(Buffer.from(chunk).toString());
      next();
    }
    expect(pieces).toEqual(["one", "two", "three"]);
  });

  it.each([
    ["a length that is not reached", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart"],
    ["chunks without their end", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n"],
    ["half a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\npart"],
    ["a broken chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nZZ\r\n"],
  ])("with %s is an error, never a silent end", async (_, bytes) => {
    const server = await serveRaw((socket) => socket.end(bytes));
    const response = await networkWith().fetch(server.url);
    await expect(response.text()).rejects.toThrow(/cut or cannot be read, from 127\.0\.0\.1/);
  });

  it("that is cut by a reset is an error with the system's code", async () => {
    const server = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart", () => socket.resetAndDestroy());
    });
    const reading = networkWith()
      .fetch(server.url)
      .then((response) => response.text());
    await expect(reading).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("without any length ends with the connection", async () => {
    const server = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
    expect(await (await networkWith().fetch(server.url)).text()).toBe("all of it");
  });

  it.each([
    ["gzip", gzipSync("packed é")],
    ["x-gzip", gzipSync("packed é")],
    ["br", brotliCompressSync("packed é")],
    ["deflate", deflateSync("packed é")],
    ["deflate", deflateRawSync("packed é")],
    ["gzip, br", brotliCompressSync(gzipSync("packed é"))],
    ["identity", Buffer.from("packed é")],
  ])("is unpacked from %s", async (encoding, bytes) => {
    const server = await serve((_, response) => {
      response.setHeader("content-encoding", encoding);
      response.end(bytes);
    });
    expect(await (await networkWith().fetch(server.url)).text()).toBe("packed é");
  });

  it("is unpacked as it comes, not at its end", async () => {
    let finish = () => {};
    const server = await serve((_, response) => {
      response.setHeader("content-encoding", "gzip");
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write("data: first\n\n");
      gzip.flush();
      finish = () => gzip.end();
    });
    const response = await networkWith().fetch(server.url);
    const first = await response.body?.[Symbol.asyncIterator]().next();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: first\n\n");
    finish();
  });

  it("that is packed and cut, or packed in a way nobody knows, is an error", async () => {
    const whole = gzipSync("x".repeat(1000));
    const server = await serve((request, response) => {
      response.setHeader("content-encoding", request.url === "/odd" ? "zip" : "gzip");
      response.end(whole.subarray(0, whole.length - 6));
    });
    const network = networkWith();
    await expect(network.fetch(server.url).then((response) => response.text())).rejects.toThrow(
      "cut or cannot be read",
    );
    await expect(network.fetch(`${server.url}/odd`)).rejects.toThrow('encoded as "zip"');
  });

  it("that is empty although packed is empty", async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": "0" });
      response.end();
    });
    expect(await (await networkWith().fetch(server.url)).text()).toBe("");
  });

  it("asks for packing only if the caller did not say what he wants", async () => {
    const server = await serve(echo);
    const network = networkWith();
    const plain = (await (await network.fetch(server.url)).json()) as Echo;
    const own = (await (
      await network.fetch(server.url, { headers: { "Accept-Encoding": "identity" } })
    ).json()) as Echo;
    expect([plain.headers["accept-encoding"], own.headers["accept-encoding"]]).toEqual([
      "gzip, br",
      "identity",
    ]);
  });

  it("can be left in the middle or unread: the connection is given up", async () => {
    const server = await serve((_, response) => {
      response.write("endless");
    });
    const network = networkWith();
    const closed = (at: number) => new Promise((resolve) => server.sockets[at]?.once("close", resolve));
    const first = await network.fetch(server.url);
    for await (const _ of first.body ?? []) break;
    await closed(0);
    // This is how an SDK throws an answer away: it returns an iterator that was never started.
    const second = await network.fetch(server.url);
    const secondClosed = closed(1);
    await second.body?.[Symbol.asyncIterator]().return?.();
    await secondClosed;
    const third = await network.fetch(server.url);
    const thirdClosed = closed(2);
    await third.body?.cancel();
    await thirdClosed;
    expect(await third.text()).toBe("");
  });

  it("holds the sender back while nobody reads", async () => {
    let written = 0;
    const server = await serve((_, response) => {
      const push = () => {
        while (written < 200e6 && response.write(Buffer.alloc(1e6))) written += 1e6;
      };
      response.on("drain", push);
      push();
    });
    const response = await networkWith().fetch(server.url);
    const socket = server.sockets[0];
    // Wait until the sender stands still: as many turns without progress as it ever took with progress.
    for (let still = 0, last = -1; still < 200; still = written === last ? still + 1 : 0) {
      last = written;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(100e6);
    expect(socket?.destroyed).toBe(false);
    await response.body?.cancel();
  });
});

describe("a signal", () => {
  it("that has fired already stops the request before anything is sent", async () => {
    const server = await serve(echo);
    const reason = new Error("no more");
    await expect(networkWith().fetch(server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.sockets).toHaveLength(0);
  });

  it("ends the wait for an answer with its own reason", async () => {
    const scope = createScope();
    const server = await serve(() => scope.cancel("enough"));
    await expect(networkWith().fetch(server.url, { signal: scope.signal })).rejects.toMatchObject({
      name: "CancelledError",
      reason: "enough",
    });
  });

  it("ends the wait for a connection", async () => {
    const scope = createScope();
    const proxy = await serveRaw(() => scope.cancel("enough"));
    const network = networkWith({ HTTPS_PROXY: proxy.url });
    await expect(network.fetch("https://secure.test/", { signal: scope.signal })).rejects.toMatchObject({
      reason: "enough",
    });
  });

  it("ends a body that is being read, and one that is not, packed or not", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/gzip") {
        response.setHeader("content-encoding", "gzip");
        const gzip = createGzip();
        gzip.pipe(response);
        gzip.write("endless");
        gzip.flush();
      } else response.write("endless");
    });
    for (const path of ["/", "/gzip"]) {
      const network = networkWith();
      const scope = createScope();
      const response = await network.fetch(server.url + path, { signal: scope.signal });
      const iterator = response.body?.[Symbol.asyncIterator]();
      await iterator?.next();
      const waiting = iterator?.next();
      scope.cancel("enough");
      await expect(waiting).rejects.toBe(scope.signal.reason);
      const unread = createScope();
      const other = await network.fetch(server.url + path, { signal: unread.signal });
      unread.cancel("enough");
      await expect(other.text()).rejects.toBe(unread.signal.reason);
    }
  });

  it("is not listened to any longer when the answer has been read", async () => {
    const server = await serve(echo);
    const controller = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = controller.signal;
    Object.assign(controller.signal, {
      addEventListener: (...args: Parameters<typeof addEventListener>) => {
        listeners++;
        addEventListener.apply(controller.signal, args);
      },
      removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
        listeners--;
        removeEventListener.apply(controller.signal, args);
      },
    });
    const response = await networkWith().fetch(server.url, { signal: controller.signal });
    await response.text();
    while (listeners > 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(response.status).toBe(200);
  });
});

describe("redirects", () => {
  const jump: Handler = (request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://x");
    const to = searchParams.get("to");
    if (to === null) return echo(request, response);
    response.writeHead(Number(searchParams.get("status") ?? 302), { location: to });
    response.end("moved");
  };
  const via = (server: Listening, to: string, status: number) =>
    `${server.url}/?status=${status}&to=${encodeURIComponent(to)}`;

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [307, "POST", "POST", "data"],
    [308, "PUT", "PUT", "data"],
    [302, "PUT", "PUT", "data"],
  ])("%i turns %s into %s", async (status, method, expected, text) => {
    const server = await serve(jump);
    const response = await networkWith().fetch(via(server, "/end", status), {
      method,
      body: "data",
      headers: { "content-type": "text/x", authorization: "secret" },
    });
    const seen = (await response.json()) as Echo;
    expect(seen).toMatchObject({ method: expected, text, url: "/end" });
    expect(seen.headers["content-type"]).toBe(text === "" ? undefined : "text/x");
    expect(seen.headers.authorization).toBe("secret");
    expect(response.url).toBe(`${server.url}/end`);
    expect(server.sockets).toHaveLength(1);
  });

  it("do not take secrets along to another origin", async () => {
    const [first, second] = [await serve(jump), await serve(echo)];
    const headers = { authorization: "a", "X-Api-Key": "b", cookie: "c", "x-plain": "d" };
    const seen = (await (await networkWith().fetch(via(first, second.url, 307), { headers })).json()) as Echo;
    expect(seen.headers["x-plain"]).toBe("d");
    for (const name of ["authorization", "x-api-key", "cookie"]) expect(seen.headers[name]).toBeUndefined();
  });

  it("are handed out or refused on demand, and followed ten times at most", async () => {
    const server = await serve(jump);
    const network = networkWith();
    const manual = await network.fetch(via(server, "/end", 302), { redirect: "manual" });
    expect([manual.status, manual.headers.get("location"), await manual.text()]).toEqual([
      302,
      "/end",
      "moved",
    ]);
    await expect(network.fetch(via(server, "/end", 302), { redirect: "error" })).rejects.toThrow("redirect");
    const nested = (depth: number): string =>
      depth === 0 ? "/end" : `/?to=${encodeURIComponent(nested(depth - 1))}`;
    expect((await network.fetch(server.url + nested(5))).status).toBe(200);
    const circle = await serve((_, response) => response.writeHead(302, { location: "/" }).end());
    await expect(network.fetch(circle.url)).rejects.toThrow("more than 10 times");
  });

  it("do not lead out of the web", async () => {
    const server = await serve(jump);
    await expect(networkWith().fetch(via(server, "file:///etc/passwd", 302))).rejects.toThrow(
      "Only http and https",
    );
  });
});

describe("proxies and certificates", () => {
  /** Accepts tunnels to any name and leads them all to `port`. */
  async function tunnelProxy(port: number, status = 200): Promise<Listening & { asked: IncomingMessage[] }> {
    const asked: IncomingMessage[] = [];
    const server = createServer();
    server.on("connect", (request: IncomingMessage, socket: Socket) => {
      asked.push(request);
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
        return;
      }
      const upstream = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("close", () => upstream.destroy());
    });
    return { ...(await listen(server)), asked };
  }

  async function secureServer(): Promise<Listening & { certificateFile: string }> {
    const { key, cert } = testCertificate();
    const workspace = await createTempWorkspace();
    cleanups.push(workspace.remove);
    const server = createSecureServer({ key, cert }, (request, response) =>
      withBody(request, response, echo),
    );
    return { ...(await listen(server, "https")), certificateFile: await workspace.write("roots.pem", cert) };
  }

  it("trusts the certificates of SSL_CERT_FILE, and only with it", async () => {
    const server = await secureServer();
    await expect(networkWith().fetch(server.url)).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    const network = networkWith({ SSL_CERT_FILE: server.certificateFile });
    for (let n = 0; n < 2; n++)
      expect((await (await network.fetch(server.url)).json()) as Echo).toMatchObject({ method: "GET" });
    expect(server.sockets).toHaveLength(2);
    await expect(networkWith({ SSL_CERT_FILE: "/no/such.pem" }).fetch(server.url)).rejects.toThrow(
      "SSL_CERT_FILE",
    );
  });

  it("goes through a tunnel, with the proxy's password, and uses it again", async () => {
    const server = await secureServer();
    const proxy = await tunnelProxy(server.port);
    const network = networkWith({
      HTTPS_PROXY: `http://me:secret@127.0.0.1:${proxy.port}`,
      SSL_CERT_FILE: server.certificateFile,
    });
    for (let n = 0; n < 3; n++) {
      const response = await network.fetch("https://secure.test/x", { method: "POST", body: "hi" });
      expect((await response.json()) as Echo).toMatchObject({ text: "hi", headers: { host: "secure.test" } });
    }
    expect(proxy.asked.map((request) => request.url)).toEqual(["secure.test:443"]);
    expect(proxy.asked[0]?.headers["proxy-authorization"]).toBe(
      `Basic ${Buffer.from("me:secret").toString("base64")}`,
    );
  });

  it("checks the certificate of the host behind the tunnel, not of the proxy", async () => {
    const server = await secureServer();
    const proxy = await tunnelProxy(server.port);
    const network = networkWith({ HTTPS_PROXY: proxy.url, SSL_CERT_FILE: server.certificateFile });
    await expect(network.fetch("https://other.test/")).rejects.toMatchObject({
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  it("says that the proxy refused, or could not be reached", async () => {
    const refusing = await tunnelProxy(0, 407);
    await expect(networkWith({ HTTPS_PROXY: refusing.url }).fetch("https://secure.test/")).rejects.toThrow(
      "status 407",
    );
    const network = networkWith({ HTTPS_PROXY: "http://127.0.0.1:1" });
    await expect(network.fetch("https://secure.test/")).rejects.toThrow(
      "The proxy 127.0.0.1:1 could not be reached",
    );
  });

  it("gives plain requests to the proxy with their whole address", async () => {
    const proxy = await serve(echo);
    const network = networkWith({ http_proxy: `http://me:secret@127.0.0.1:${proxy.port}` });
    const seen = (await (await network.fetch("http://plain.test:81/x?y=1")).json()) as Echo;
    expect(seen.url).toBe("http://plain.test:81/x?y=1");
    expect(seen.headers.host).toBe("plain.test:81");
    expect(seen.headers["proxy-authorization"]).toMatch(/^Basic /);
  });

  it("never asks a proxy for the machine itself", async () => {
    const server = await serve(echo);
    const network = networkWith({ ALL_PROXY: "http://127.0.0.1:1" });
    expect((await network.fetch(server.url)).status).toBe(200);
  });
});
