import { fstatSync, writeSync } from "node:fs";
import { Writable } from "node:stream";

/**
 * Standard output. Into a file Node writes each piece once and does not look how much of it arrived: on a disk
 * that fills up, the end of the output would be missing without an error.
 */
export function createStandardOutput(): Writable & { readonly isTTY?: boolean } {
  const { stdout } = process;
  if (stdout.isTTY || !isFile(stdout.fd)) return stdout;
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length; ) at += writeSync(stdout.fd, chunk, at);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
