#!/usr/bin/env node
// The scripted model over HTTP, on loopback; and the same as a `fetch` inside the process.
//   node server.mjs --workdir DIR        prints its address
//   GET /__stats   POST /__reset   POST /__config {"latencyMs":200}
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createModel } from "./model.mjs";

const routes = [
  [/\/v1\/messages$/, "anthropic"],
  [/\/chat\/completions$/, "chat"],
];
const dialectOf = (path) => routes.find(([pattern]) => pattern.test(path))?.[1];
const now = () => performance.timeOrigin + performance.now();

export function createServer(model) {
  const server = http.createServer((request, response) =>
    handle(model, request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else sendError(response, error.status ?? 500, error.message);
    }),
  );
  server.keepAliveTimeout = 120_000;
  return server;
}

async function handle(model, request, response) {
  const at = now();
  const { pathname } = new URL(request.url, "http://mock");
  const raw = await readBody(request);
  if (pathname === "/__stats") return send(response, 200, { counters: model.counters(), log: model.log() });
  if (pathname === "/__reset") return send(response, 200, model.reset() ?? {});
  if (pathname === "/__config") return send(response, 200, Object.assign(model.config, JSON.parse(raw)));
  const dialect = request.method === "POST" ? dialectOf(pathname) : undefined;
  if (dialect === undefined) {
    const key = `${request.method} ${pathname}`;
    const { unknown } = model.counters();
    unknown[key] = (unknown[key] ?? 0) + 1;
    return sendError(response, 404, key);
  }
  const body = JSON.parse(raw);
  const answer = model.open(dialect, body, { bytes: raw.length, at });
  response.once("close", answer.end);
  if (model.config.latencyMs > 0) await sleep(model.config.latencyMs);
  answer.begin();
  answer.sent();
  if (!body.stream) return send(response, 200, answer.json);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.end([...answer.events()].join(""));
}

async function readBody(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function send(response, status, value) {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}

function sendError(response, status, message) {
  const type = status === 400 ? "invalid_request_error" : status === 404 ? "not_found_error" : "api_error";
  send(response, status, { type: "error", error: { type, message } });
}

/** `gate(answer)` may return a promise that holds a response back. */
export function createFetch(model, gate) {
  return async (input, init) => {
    const { pathname } = new URL(String(input));
    const text = String(init.body);
    const body = JSON.parse(text);
    const answer = model.open(dialectOf(pathname), body, { bytes: text.length });
    await gate?.(answer);
    answer.begin();
    answer.end();
    const payload = body.stream ? [...answer.events()].join("") : JSON.stringify(answer.json);
    const type = body.stream ? "text/event-stream" : "application/json";
    return new Response(payload, { status: 200, headers: { "content-type": type } });
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "0" }, workdir: { type: "string" } },
  });
  const server = createServer(createModel({ workdir: values.workdir }));
  server.listen(Number(values.port), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
}
