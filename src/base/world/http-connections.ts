import type { Agent } from "node:http";
import type { AgentOptions as TlsAgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContext } from "node:tls";
import { messageOf } from "../errors.ts";
import type { World } from "../world.ts";
import { bareHost, proxyAuthorization } from "./http-proxy.ts";

/** An idle connection older than this has likely been forgotten by something on its way. */
const idleMs = 60_000;

/** The pools of open connections of one world: direct ones, and one pool of tunnels per proxy. */
export interface Connections {
  /** For requests to `url`; over a tunnel through `proxy` if that is given. */
  agentFor(url: URL, proxy: URL | undefined): Agent;
  /** Ends all idle connections. Those in use end by themselves. */
  closeIdle(agent?: Agent): void;
}

export function createConnections(options: { env: World["env"] }): Connections {
  const agents = new Map<string, Agent>();
  const tunnels = new Set<{ destroy(): void }>();
  let secureContext: SecureContext | undefined;

  function securityOf(): TlsAgentOptions {
    if (!options.env.SSL_CERT_FILE) return {};
    // One context for all connections: reading all root certificates takes a while.
    secureContext ??= contextWithOwnRoots(options.env);
    return { secureContext };
  }

  function create(url: URL, proxy: URL | undefined): Agent {
    const http = process.getBuiltinModule("node:http");
    const pool = { keepAlive: true, keepAliveMsecs: 15_000, noDelay: true, scheduling: "lifo" as const };
    if (url.protocol === "http:") return limitIdleTime(new http.Agent(pool));
    const https = process.getBuiltinModule("node:https");
    const agent = limitIdleTime(new https.Agent({ ...pool, ...securityOf() }));
    return proxy === undefined ? agent : throughProxy({ agent, proxy, tunnels, security: securityOf });
  }

  return {
    agentFor(url, proxy) {
      const key = `${url.protocol} ${proxy?.href ?? ""}`;
      const present = agents.get(key);
      if (present !== undefined) return present;
      const agent = create(url, proxy);
      agents.set(key, agent);
      return agent;
    },
    closeIdle(agent) {
      for (const each of agent === undefined ? agents.values() : [agent]) {
        for (const sockets of Object.values(each.freeSockets))
          for (const socket of sockets ?? []) socket.destroy();
      }
      if (agent === undefined) for (const tunnel of tunnels) tunnel.destroy();
    },
  };
}

/** The hooks of Node's agent that its types leave out. */
interface PoolHooks {
  keepSocketAlive(socket: Socket): boolean;
  reuseSocket(socket: Socket, request: unknown): void;
  createConnection(
    options: TunnelOptions,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): Duplex | undefined;
}

function limitIdleTime<T extends Agent>(agent: T): T {
  const hooks = agent as unknown as PoolHooks;
  const keep = hooks.keepSocketAlive.bind(agent);
  const reuse = hooks.reuseSocket.bind(agent);
  hooks.keepSocketAlive = (socket) => {
    const kept = keep(socket);
    // A shorter time that the server asked for has been set by Node already.
    if (kept && (socket.timeout === undefined || socket.timeout === 0 || socket.timeout > idleMs)) {
      socket.setTimeout(idleMs);
    }
    return kept;
  };
  hooks.reuseSocket = (socket, request) => {
    socket.setTimeout(0);
    reuse(socket, request);
  };
  return agent;
}

interface TunnelOptions {
  readonly host?: string;
  readonly port?: number | string;
  readonly socket?: Duplex;
}

function throughProxy(options: {
  agent: Agent;
  proxy: URL;
  tunnels: Set<{ destroy(): void }>;
  security: () => TlsAgentOptions;
}): Agent {
  const hooks = options.agent as unknown as PoolHooks;
  const connect = hooks.createConnection.bind(options.agent);
  hooks.createConnection = (target, callback) => {
    openTunnel({ ...options, target }, (error, socket) => {
      if (error !== null || socket === undefined)
        callback(error ?? new Error("The proxy gave no connection."));
      else
        callback(
          null,
          connect({ ...target, socket }, () => {}),
        );
    });
    return undefined;
  };
  return options.agent;
}

function openTunnel(
  options: {
    proxy: URL;
    target: TunnelOptions;
    tunnels: Set<{ destroy(): void }>;
    security: () => TlsAgentOptions;
  },
  callback: (error: Error | null, socket?: Duplex) => void,
): void {
  const { proxy, target, tunnels } = options;
  const secure = proxy.protocol === "https:";
  const { request } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const host = target.host?.includes(":") ? `[${target.host}]` : target.host;
  const authority = `${host}:${target.port}`;
  const authorization = proxyAuthorization(proxy);
  const asking = request({
    host: bareHost(proxy),
    port: proxy.port || (secure ? 443 : 80),
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      ...(authorization === undefined ? {} : { "proxy-authorization": authorization }),
    },
    agent: false,
    ...(secure ? options.security() : {}),
  });
  tunnels.add(asking);
  const settle = (error: Error | null, socket?: Duplex) => {
    tunnels.delete(asking);
    callback(error, socket);
  };
  asking.once("connect", (response, socket) => {
    if (response.statusCode === 200) return settle(null, socket);
    socket.destroy();
    const hint = response.statusCode === 407 ? " Put the name and the password into the proxy's URL." : "";
    settle(
      new Error(
        `The proxy ${proxy.host} refused a connection to ${authority} (status ${response.statusCode}).${hint}`,
      ),
    );
  });
  asking.once("error", (error) =>
    settle(new Error(`The proxy ${proxy.host} could not be reached: ${error.message}`, { cause: error })),
  );
  asking.end();
}

function contextWithOwnRoots(env: World["env"]): SecureContext {
  const tls = process.getBuiltinModule("node:tls");
  const { readFileSync } = process.getBuiltinModule("node:fs");
  // Naming any root replaces Node's own, those of NODE_EXTRA_CA_CERTS too, so all are named.
  const own = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"].flatMap((name) => {
    const path = env[name];
    if (!path) return [];
    try {
      return [readFileSync(path, "utf8")];
    } catch (cause) {
      throw new Error(`The certificates that ${name} names could not be read: ${messageOf(cause)}`, {
        cause,
      });
    }
  });
  return tls.createSecureContext({ ca: [...tls.rootCertificates, ...own] });
}
