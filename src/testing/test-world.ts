import { createNodeWorld } from "../base/world/node-world.ts";
import type { Random, World } from "../base/world.ts";

/** The real world with some parts replaced. A seed makes its random numbers, and so its ids, repeatable. */
export function createTestWorld(overrides: Partial<World> & { seed?: number } = {}): World {
  const { seed, ...parts } = overrides;
  const world = createNodeWorld({ env: parts.env });
  return {
    ...world,
    ...(seed === undefined ? {} : { random: createSeededRandom(seed) }),
    ...withoutUndefined(parts),
  };
}

function withoutUndefined(parts: Partial<World>): Partial<World> {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** Small and fast (mulberry32); for tests only. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const number = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(number() * 256));
  return {
    number,
    bytes,
    uuid() {
      const raw = bytes(16);
      // Version 4, variant 1.
      raw[6] = ((raw[6] ?? 0) & 0x0f) | 0x40;
      raw[8] = ((raw[8] ?? 0) & 0x3f) | 0x80;
      return Buffer.from(raw)
        .toString("hex")
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}
