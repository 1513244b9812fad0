import type { World } from "../world.ts";

/** The proxy for `url` as the environment asks for it, or undefined for a direct connection. */
export function proxyFor(url: URL, env: World["env"]): URL | undefined {
  const host = bareHost(url);
  if (isLoopback(host)) return undefined;
  const setting =
    (url.protocol === "https:" ? read(env, "HTTPS_PROXY") : read(env, "HTTP_PROXY")) ??
    read(env, "ALL_PROXY");
  if (setting === undefined || isExempt(url, read(env, "NO_PROXY") ?? "")) return undefined;
  let proxy: URL;
  try {
    proxy = new URL(setting.includes("://") ? setting : `http://${setting}`);
  } catch (cause) {
    throw new Error(
      `The proxy setting "${setting}" is not a URL. Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.`,
      {
        cause,
      },
    );
  }
  if (proxy.protocol === "http:" || proxy.protocol === "https:") return proxy;
  throw new Error(
    `Proxies of the kind ${proxy.protocol.slice(0, -1)} are not supported. Set HTTPS_PROXY to an http:// or https:// proxy, or list ${host} in NO_PROXY.`,
  );
}

/** The value of a proxy-authorization header, if the proxy's URL holds a name and a password. */
export function proxyAuthorization(proxy: URL): string | undefined {
  return basicAuthorization(proxy);
}

export function basicAuthorization(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** Without the brackets of an IPv6 address. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

// The small spelling goes first, as in most programs that read these.
function read(env: World["env"], name: string): string | undefined {
  return env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined;
}

function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d+){3}$/.test(host)
  );
}

function isExempt(url: URL, noProxy: string): boolean {
  const host = bareHost(url).toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((rule) => rule !== "")
    .some((rule) => matches(rule, host, port));
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === "*") return true;
  const withPort = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(rule);
  if (withPort !== null && withPort[2] !== port) return false;
  const name = (withPort?.[1] ?? rule).replace(/^\[(.*)\]$/, "$1");
  if (name.includes("/")) return inNetwork(host, name);
  // "example.com", ".example.com" and "*.example.com" all mean the domain and what is below it.
  const domain = name.replace(/^\*?\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}

/** IPv4 networks such as 10.0.0.0/8. */
function inNetwork(host: string, network: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const [address, start, length] = [toNumber(host), toNumber(base), Number(bits)];
  if (
    address === undefined ||
    start === undefined ||
    !Number.isInteger(length) ||
    length < 0 ||
    length > 32
  ) {
    return false;
  }
  const size = 2 ** (32 - length);
  return Math.floor(address / size) === Math.floor(start / size);
}

function toNumber(address: string): number | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return undefined;
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}
