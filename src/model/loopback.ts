/** Whether an address is on this machine: no key is expected there, and its tokens cost nothing. */
export function isLoopback(address: string | URL): boolean {
  if (typeof address === "string" && !URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname);
}
