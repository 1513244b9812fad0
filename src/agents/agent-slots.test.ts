import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolFailure } from "../tools/tool.ts";
import { type AgentSlot, createAgentSlots } from "./agent-slots.ts";

describe("the slots of a session's agents", () => {
  it("are free again as soon as an agent gives its slot back", () => {
    const slots = createAgentSlots({ maxLive: 1, maxStarts: 10 });
    for (let n = 1; n <= 10; n++) {
      const { free } = slots.take();
      expect(slots).toMatchObject({ live: 1, started: n });
      free();
      expect(slots.live).toBe(0);
    }
  });

  it("refuse one too many, and say which cap it is, how high, and what raises it", () => {
    const slots = createAgentSlots({ maxLive: 2, maxStarts: 3 });
    const first = slots.take();
    slots.take();
    expect(() => slots.take()).toThrow(/2 are at work.*maxLiveAgents/);
    expect(slots).toMatchObject({ live: 2, started: 2 });
    first.free();
    slots.take();
    first.free();
    expect(slots.live).toBe(2);
    expect(() => slots.take()).toThrow(/has started 3.*maxAgentStarts/);
    expect(() => slots.take()).toThrow(ToolFailure);
  });

  it("never exceed a cap, whatever the order of starts and ends", () => {
    const caps = fc.record({
      maxLive: fc.integer({ min: 1, max: 5 }),
      maxStarts: fc.integer({ min: 1, max: 12 }),
    });
    // A number frees that slot, once more if it is free already.
    const steps = fc.array(fc.option(fc.nat({ max: 12 }), { nil: "take" as const }), { maxLength: 40 });
    fc.assert(
      fc.property(caps, steps, ({ maxLive, maxStarts }, actions) => {
        const slots = createAgentSlots({ maxLive, maxStarts });
        const taken: AgentSlot[] = [];
        const held = new Set<AgentSlot>();
        for (const action of actions) {
          if (action !== "take") {
            const slot = taken[action];
            slot?.free();
            if (slot) held.delete(slot);
          } else if (held.size === maxLive || taken.length === maxStarts) {
            expect(() => slots.take()).toThrow(ToolFailure);
          } else {
            const slot = slots.take();
            taken.push(slot);
            held.add(slot);
          }
          expect(slots).toMatchObject({ live: held.size, started: taken.length });
        }
      }),
    );
  });
});
