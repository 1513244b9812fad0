/** Where the control socket of a session is. Whoever knows the session's id finds it by the same function. */
import { join } from "node:path";
import { CadreError } from "../base/errors.ts";
import { hashOf } from "../base/files.ts";
import type { World } from "../base/world.ts";

/** Systems take about this many bytes for the path of a socket. */
const mostBytes = 100;

/** Where sockets of this user's sessions can be. */
export function controlFolders({ homeFolder, tempFolder }: Pick<World, "homeFolder" | "tempFolder">): {
  readonly usual: string;
  readonly short: string;
} {
  return {
    usual: join(homeFolder, ".cadre", "run"),
    // Named for the home folder: users share the temporary one.
    short: join(tempFolder, `cadre-${hashOf(homeFolder).slice(0, 12)}`),
  };
}

export function controlSocketPath(
  world: Pick<World, "homeFolder" | "tempFolder">,
  sessionId: string,
): string {
  // The whole of it, in as few letters as can be.
  const name = `${Buffer.from(sessionId.replaceAll("-", ""), "hex").toString("base64url")}.sock`;
  const folders = controlFolders(world);
  const usual = join(folders.usual, name);
  if (Buffer.byteLength(usual) <= mostBytes) return usual;
  const other = join(folders.short, name);
  if (Buffer.byteLength(other) <= mostBytes) return other;
  throw new CadreError({
    code: "control-path-too-long",
    message: `The path of a socket may have ${mostBytes} bytes, and both ${usual} and ${other} have more. Set TMPDIR to a shorter folder.`,
    data: { path: other },
  });
}

/** What another session on this machine gives as `to` of a message. */
export function addressOfSession(world: Pick<World, "homeFolder" | "tempFolder">, sessionId: string): string {
  return `uds:${controlSocketPath(world, sessionId)}`;
}
