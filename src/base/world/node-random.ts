import { randomBytes, randomUUID } from "node:crypto";
import type { Random } from "../world.ts";

export function createNodeRandom(): Random {
  return {
    number: () => Math.random(),
    bytes: (count) => randomBytes(count),
    // Node puts it together from twenty pieces, which would be kept apart as long as it is.
    uuid: () => Buffer.from(randomUUID(), "latin1").toString("latin1"),
  };
}
