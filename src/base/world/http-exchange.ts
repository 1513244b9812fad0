import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from "node:http";
import { systemCodeOf } from "../errors.ts";
import type { Connections } from "./http-connections.ts";
import type { HeaderList } from "./http-headers.ts";
import { bareHost, proxyAuthorization } from "./http-proxy.ts";

export interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  readonly proxy: URL | undefined;
}

/** One request on the wire, up to the head of its response. */
export async function exchange(options: Exchange, connections: Connections): Promise<IncomingMessage> {
  const first = await attempt(options, connections);
  if (!("staleConnection" in first)) return first;
  // The server closed a connection that we held open, just as we used it. Its other ones are likely dead too.
  connections.closeIdle(first.staleConnection);
  const second = await attempt(options, connections, { last: true });
  if ("staleConnection" in second) throw new Error("A last attempt reported a stale connection.");
  return second;
}

/** An error that says which host it is about and keeps the system's code. */
export function networkError(what: string, url: URL, error: Error): Error {
  // Node reports several failed addresses of one host as one error without a text.
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const detail = error.message || inner?.message || systemCodeOf(error) || "unknown reason";
  return Object.assign(new Error(`${what} ${url.host}: ${detail}`, { cause: error }), {
    code: systemCodeOf(error) ?? systemCodeOf(inner) ?? "ENETWORK",
  });
}

function attempt(
  options: Exchange,
  connections: Connections,
  turn?: { last: boolean },
): Promise<IncomingMessage | { staleConnection: Agent }> {
  const { url, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const { request, agent } = routeOf(options, connections);
    let bytesBefore = 0;
    request.once("socket", (socket) => {
      bytesBefore = socket.bytesRead;
      socket.setNoDelay(true);
    });

    // Destroying a request that has no connection yet reports nothing until it gets one, so reject here.
    const onAbort = () => {
      reject(signal?.reason);
      request.destroy();
    };
    signal?.addEventListener("abort", onAbort, { once: true });

    request.once("response", (message) => {
      signal?.removeEventListener("abort", onAbort);
      followSignal(message, signal);
      resolve(message);
    });
    // Stays after the response: a late error of the request must not end the program.
    request.on("error", (error) => {
      signal?.removeEventListener("abort", onAbort);
      const untouched = request.socket === null || request.socket.bytesRead === bytesBefore;
      if (isStale(request, error) && untouched && !turn?.last) resolve({ staleConnection: agent });
      else reject(networkError("No answer from", url, error));
    });
    if (options.body === undefined) request.end();
    else request.end(options.body);
  });
}

function isStale(request: ClientRequest, error: Error): boolean {
  const code = systemCodeOf(error);
  return request.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
}

/** From here on an abort cuts the body, whose reader gets the signal's reason. */
function followSignal(message: IncomingMessage, signal: AbortSignal | undefined): void {
  // The reader looks at the stream's own state; this only keeps an unread error from ending the program.
  message.on("error", () => {});
  if (signal === undefined) return;
  const onAbort = () => {
    message.destroy(asError(signal.reason));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  message.once("close", () => signal.removeEventListener("abort", onAbort));
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}

function routeOf(options: Exchange, connections: Connections): { request: ClientRequest; agent: Agent } {
  const { url, proxy } = options;
  const path = `${url.pathname}${url.search}`;
  const headers = wireHeaders(options);
  if (proxy !== undefined && url.protocol === "http:") {
    // Plain requests are not tunnelled: the proxy gets the whole URL and passes the request on.
    const authorization = proxyAuthorization(proxy);
    if (authorization !== undefined) headers["proxy-authorization"] = authorization;
    const whole = `${url.origin}${path}`;
    return send(
      { to: proxy, path: whole, headers, method: options.method },
      connections.agentFor(proxy, undefined),
    );
  }
  return send({ to: url, path, headers, method: options.method }, connections.agentFor(url, proxy));
}

function send(
  options: { to: URL; path: string; method: string; headers: OutgoingHttpHeaders },
  agent: Agent,
): { request: ClientRequest; agent: Agent } {
  const secure = options.to.protocol === "https:";
  const module = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const settings: RequestOptions = {
    host: bareHost(options.to),
    port: options.to.port || (secure ? 443 : 80),
    path: options.path,
    method: options.method,
    headers: options.headers,
    agent,
  };
  return { request: module.request(settings), agent };
}

function wireHeaders(options: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { host: options.url.host };
  for (const [name, value] of options.headers) headers[name] = value;
  if (options.body !== undefined) headers["content-length"] = options.body.length;
  return headers;
}
