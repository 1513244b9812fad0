import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PermissionMode } from "../contracts/permission.ts";
import type { ModeSwitch } from "../tools/tool-context.ts";
import { createChildMode, isAbove } from "./child-mode.ts";

const modes = PermissionMode.options;
const anyMode = fc.constantFrom(...modes);

function modeBelow(parent: PermissionMode, wish?: PermissionMode): PermissionMode {
  return createChildMode({ wish, parent: { current: parent } }).current;
}

describe("the mode of an agent below another", () => {
  it.each<[parent: PermissionMode, wish: PermissionMode | undefined, mode: PermissionMode]>([
    ["default", undefined, "default"],
    ["default", "plan", "plan"],
    ["default", "dontAsk", "dontAsk"],
    ["default", "bubble", "bubble"],
    ["default", "acceptEdits", "default"],
    ["default", "bypassPermissions", "default"],
    ["bubble", "default", "default"],
    ["bubble", "acceptEdits", "bubble"],
    ["plan", "bypassPermissions", "plan"],
    ["plan", "dontAsk", "plan"],
    ["dontAsk", "default", "dontAsk"],
    ["dontAsk", "bubble", "dontAsk"],
    ["dontAsk", "acceptEdits", "dontAsk"],
    ["dontAsk", "plan", "plan"],
    ["acceptEdits", "default", "acceptEdits"],
    ["acceptEdits", "dontAsk", "dontAsk"],
    ["acceptEdits", "plan", "plan"],
    ["acceptEdits", "bypassPermissions", "acceptEdits"],
    ["bypassPermissions", "default", "bypassPermissions"],
    ["bypassPermissions", "acceptEdits", "bypassPermissions"],
    ["bypassPermissions", "dontAsk", "dontAsk"],
    ["bypassPermissions", "plan", "plan"],
  ])("below %s, wishing for %s, it is %s", (parent, wish, mode) => {
    expect(modeBelow(parent, wish)).toBe(mode);
  });

  it("follows the parent while it runs", () => {
    const parent: ModeSwitch = { current: "acceptEdits" };
    const [follower, planner] = [createChildMode({ parent }), createChildMode({ wish: "plan", parent })];
    const seen = ["plan", "default", "dontAsk"] as const;
    expect(
      seen.map((mode) => {
        parent.current = mode;
        return [follower.current, planner.current];
      }),
    ).toEqual(seen.map((mode) => [mode, "plan"]));
  });

  it("leaves the parent as it is when the agent's own is set, and gets no further than the parent", () => {
    const parent: ModeSwitch = { current: "default" };
    const child = createChildMode({ wish: "plan", parent });
    child.current = "bypassPermissions";
    expect([child.current, parent.current]).toEqual(["default", "default"]);
    parent.current = "plan";
    child.current = "acceptEdits";
    expect([child.current, parent.current]).toEqual(["plan", "plan"]);
  });

  it("never has more authority than any agent above it, whatever is wished and set along the chain", () => {
    const step = fc.record({ at: fc.nat({ max: 5 }), mode: anyMode });
    const chain = fc.array(fc.option(anyMode, { nil: undefined }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(anyMode, chain, fc.array(step, { maxLength: 8 }), (top, wishes, steps) => {
        const switches: ModeSwitch[] = [{ current: top }];
        for (const wish of wishes)
          switches.push(createChildMode({ wish, parent: switches.at(-1) ?? { current: top } }));
        const check = () => {
          for (const [index, child] of switches.entries())
            for (const above of switches.slice(0, index))
              expect(isAbove(child.current, above.current)).toBe(false);
        };
        check();
        for (const { at, mode } of steps) {
          const changed = switches[at % switches.length];
          if (changed) changed.current = mode;
          check();
        }
      }),
    );
  });

  it("reads only below one who plans, and stays silent below one who never asks", () => {
    for (const wish of [undefined, ...modes]) {
      expect(modeBelow("plan", wish)).toBe("plan");
      expect(["dontAsk", "plan"]).toContain(modeBelow("dontAsk", wish));
    }
  });
});
