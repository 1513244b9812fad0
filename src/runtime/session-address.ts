/** Sends to another session on this machine: the address `uds:PATH` of a message (TA-14). */
import { dirname } from "node:path";
import { CadreError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { controlFolders } from "./control-path.ts";

const scheme = "uds:";

export function isSessionAddress(to: string): boolean {
  return to.startsWith(scheme);
}

/**
 * Resolves when the other session can no longer lose the message. Throws a `CadreError` that says what to do:
 * `address-invalid`, `session-unreachable`, `message-too-long`, or what the other session refuses it with.
 */
export async function sendToSession(options: {
  world: Pick<World, "sockets" | "clock" | "homeFolder" | "tempFolder">;
  /** `uds:PATH` */
  to: string;
  /** Who sends it, in the words of this runtime: its own address, so that it can be answered. */
  from: string;
  /** The same for a second attempt, so that it arrives once. */
  id: string;
  text: string;
  signal?: AbortSignal;
}): Promise<void> {
  const { world, to, from, id, text } = options;
  if (!isSessionAddress(to))
    throw new CadreError({
      code: "address-invalid",
      message: `"${to.slice(0, 200)}" is not the address of a session: it has the form uds:PATH.`,
    });
  const path = to.slice(scheme.length);
  const { usual, short } = controlFolders(world);
  // A model chooses the address: it must not get to speak with whatever else listens on this machine.
  if (![usual, short].includes(dirname(path)))
    throw new CadreError({
      code: "address-invalid",
      message: `${to.slice(0, 200)} is not the address of a session of this user: those are in ${usual}. \`cadre tasks show ID\` tells them.`,
    });
  if (Buffer.byteLength(text) > mostTextBytes)
    throw new CadreError({
      code: "message-too-long",
      message: `A message to another session may have ${mostTextBytes} bytes. Write it into a file and send the path.`,
    });
  const { askSession } = await import("./control-client.ts");
  await askSession({
    world,
    path,
    question: { request: "message", from, id, text },
    ...(options.signal && { signal: options.signal }),
  });
}

/** With every character escaped, it still fits the line of a request. */
const mostTextBytes = 128 * 1024;
