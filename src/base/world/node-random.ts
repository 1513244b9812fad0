import { randomBytes, randomUUID } from "node:crypto";
import type { Random } from "../world.ts";

export function createNodeRandom(): Random {
  return {
    number: () => Math.random(),
    bytes: (count) => randomBytes(count),
    uuid: () => randomUUID(),
  };
}
