/** Which addresses a tool may fetch on its own: those of the public web. */
import { BlockList, isIP } from "node:net";
import { ToolFailure } from "../tools/tool.ts";

/** Parses `text` as a web address, or fails with what is wrong with it. */
export function parseWebAddress(text: string): URL {
  if (!URL.canParse(text))
    throw new ToolFailure(
      `${text} is not a web address. Give a whole one, such as https://example.com/page.`,
    );
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ToolFailure(`Only http and https addresses can be fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    throw new ToolFailure("The address contains a user name or a password. Give it without them.");
  return url;
}

/**
 * Whether the host is this machine or its own network, as far as the name tells. A public name can still lead
 * to a private address; only whoever resolves it can see that.
 */
export function isPrivateHost(url: URL): boolean {
  const host = hostNameOf(url);
  const version = isIP(host);
  if (version !== 0) return isPrivateAddress(host, version === 6 ? "ipv6" : "ipv4");
  return !host.includes(".") || /\.(localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/.test(host);
}

/** Lower case, without the brackets of an IPv6 address and the dot of a fully qualified name. */
export function hostNameOf(url: URL): string {
  return url.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.+$/, "");
}

let privateAddresses: BlockList | undefined;

function isPrivateAddress(address: string, family: "ipv4" | "ipv6"): boolean {
  privateAddresses ??= createPrivateAddresses();
  return privateAddresses.check(address, family);
}

function createPrivateAddresses(): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of privateRanges)
    list.addSubnet(address, prefix, address.includes(":") ? "ipv6" : "ipv4");
  return list;
}

const privateRanges: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Loopback and unspecified, and the old form that carries an IPv4 address. The mapped form
  // (::ffff:0:0/96) is compared with the ranges above by BlockList itself.
  ["::", 96],
  // Forms that carry an IPv4 address and are translated on the way: any address can hide in them.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["2001::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];
