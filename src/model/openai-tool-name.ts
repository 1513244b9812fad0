/** Names of tools as chat completions accept them. Most already are; names of MCP tools may not be. */

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;

/** The same for the same name, always: it is part of what must be sent again byte for byte. */
export function toWireName(name: string): string {
  if (accepted.test(name)) return name;
  const mark = `_${hashOf(name)}`;
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64 - mark.length) + mark;
}

/** FNV-1a: tells the shortened names of one agent's tools apart. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
