import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createWebFetchTool } from "./web-fetch.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let scene: ToolScene;
let handler: Handler;
const server = createServer((request, response) => handler(request, response));
let base: string;
const tool = createWebFetchTool({ allowPrivateHosts: ["127.0.0.1"] });

beforeEach(async () => {
  scene = await createToolScene();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  scene.world.network.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await scene.dispose();
});

const serve =
  (type: string | undefined, body: string | Uint8Array, status = 200): Handler =>
  (_request, response) => {
    response.writeHead(status, type === undefined ? {} : { "content-type": type }).end(body);
  };

test("HTML becomes markdown, without scripts and styles", async () => {
  handler = serve(
    "text/html; charset=utf-8",
    "<html><head><title>T</title><style>b{}</style></head><body><h1>Title</h1><script>bad()</script><p>Some <b>bold</b> text, <a href='/x'>link</a></p><ul><li>é</li></ul></body></html>",
  );
  const text = await scene.call(tool, { url: base, prompt: "what does it say" });
  expect(text).toContain("# Title");
  expect(text).toContain("**bold**");
  expect(text).toContain("[link](/x)");
  expect(text).toContain("é");
  expect(text).not.toMatch(/bad\(\)|b\{\}/);
});

test.each([
  ["application/json", '{"a":1}'],
  ["application/vnd.api+json", '{"a":1}'],
  ["text/plain", "<b>as it is</b>"],
  [undefined, "no type"],
])("%s stays as it is", async (type, body) => {
  handler = serve(type, body);
  expect(await scene.call(tool, { url: base })).toBe(body);
});

test("the charset of the answer counts, and an unknown one does not matter", async () => {
  handler = serve("text/plain; charset=iso-8859-1", Uint8Array.of(0xe9));
  expect(await scene.call(tool, { url: base })).toBe("é");
  handler = serve("text/plain; charset=nonsense", "é");
  expect(await scene.call(tool, { url: base })).toBe("é");
});

test("other types are refused with type and size", async () => {
  handler = (_request, response) => {
    response
      .writeHead(200, { "content-type": "image/png", "content-length": "1234" })
      .end(Buffer.alloc(1234));
  };
  expect(await scene.fail(tool, { url: base })).toMatch(/image\/png of 1,234 bytes/);
});

test("an error page is an error that shows what it says", async () => {
  handler = serve("text/plain", "no such page", 404);
  expect(await scene.run(tool, { url: base })).toMatchObject({
    isError: true,
    content: "HTTP status 404\n\nno such page",
  });
});

test("a redirect on the same host is followed", async () => {
  handler = (request, response) => {
    if (request.url === "/new") response.writeHead(200, { "content-type": "text/plain" }).end("moved here");
    else response.writeHead(302, { location: "/new" }).end();
  };
  expect(await scene.call(tool, { url: `${base}/old` })).toBe("moved here");
});

test("a redirect to another host is reported and not followed", async () => {
  handler = (_request, response) => void response.writeHead(301, { location: "http://example.com/x" }).end();
  expect(await scene.call(tool, { url: base })).toMatch(/another host: http:\/\/example\.com\/x/);
});

test.each([
  ["http://user:pw@127.0.0.1/", /without them/],
  ["file:///etc/passwd", /Only http and https/],
  ["http://", /address that is none/],
])("a redirect to %s is refused", async (location, problem) => {
  handler = (_request, response) => void response.writeHead(302, { location }).end();
  expect(await scene.fail(tool, { url: base })).toMatch(problem);
});

test("a circle of redirects ends", async () => {
  let count = 0;
  handler = (_request, response) => {
    count += 1;
    response.writeHead(302, { location: `/${count}` }).end();
  };
  expect(await scene.fail(tool, { url: base })).toMatch(/more than 10 times/);
  expect(count).toBe(11);
});

test("private hosts are refused without a single request", async () => {
  let asked = false;
  handler = (_request, response) => {
    asked = true;
    response.end();
  };
  expect(await scene.fail(createWebFetchTool(), { url: base })).toMatch(/allowPrivateHosts/);
  expect(await scene.fail(tool, { url: base.replace("127.0.0.1", "localhost") })).toMatch(
    /allowPrivateHosts/,
  );
  expect(asked).toBe(false);
});

test.each([true, false])("more than the limit is refused, announced: %s", async (announced) => {
  handler = (_request, response) => {
    response.writeHead(200, {
      "content-type": "text/plain",
      ...(announced && { "content-length": 11 * 1024 * 1024 }),
    });
    response.on("error", () => {});
    response.end(Buffer.alloc(11 * 1024 * 1024, "a"));
  };
  expect(await scene.fail(tool, { url: base })).toMatch(/larger than 10 MB/);
});

test("a host that does not answer in time is a failure", async () => {
  const clock = createManualClock();
  const asked = new Promise<void>((resolve) => {
    handler = () => resolve();
  });
  const failure = scene.fail(tool, { url: base }, { world: { ...scene.world, clock } });
  await asked;
  await clock.advance(30_000);
  expect(await failure).toMatch(/did not answer within 30 s/);
});

test("a cancelled fetch is cancelled and not failed", async () => {
  const controller = new AbortController();
  handler = () => controller.abort(new CancelledError("interrupted"));
  await expect(scene.run(tool, { url: base }, { signal: controller.signal })).rejects.toThrow(CancelledError);
});

test("a host that can not be reached is a failure that names the address", async () => {
  handler = (request) => request.socket.destroy();
  expect(await scene.fail(tool, { url: base })).toContain(base);
});
