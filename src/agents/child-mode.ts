/** In which mode an agent runs that another one started (SP-13). */
import type { PermissionMode } from "../contracts/permission.ts";
import type { ModeSwitch } from "../tools/tool-context.ts";

/** The three in the middle differ in who is asked, not in what is allowed. */
const authority: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  default: 1,
  dontAsk: 1,
  bubble: 1,
  acceptEdits: 2,
  bypassPermissions: 3,
};

export function isAbove(mode: PermissionMode, other: PermissionMode): boolean {
  return authority[mode] > authority[other];
}

/**
 * Read live: when the parent's mode changes, the child follows. Setting it changes what the child wishes, never
 * the parent, and never to more than the parent has.
 */
export function createChildMode(options: { wish?: PermissionMode; parent: ModeSwitch }): ModeSwitch {
  return new ChildMode(options.parent, options.wish);
}

class ChildMode implements ModeSwitch {
  readonly #parent: ModeSwitch;
  #wish: PermissionMode | undefined;

  constructor(parent: ModeSwitch, wish: PermissionMode | undefined) {
    this.#parent = parent;
    this.#wish = wish;
  }

  get current(): PermissionMode {
    return modeBelow(this.#parent.current, this.#wish);
  }

  set current(mode: PermissionMode) {
    this.#wish = mode;
  }
}

function modeBelow(parent: PermissionMode, wish: PermissionMode | undefined): PermissionMode {
  if (parent === "plan" || wish === undefined) return parent;
  if (wish === "plan") return "plan";
  // Silence is kept from either side: nobody who was promised no questions gets one.
  if (parent === "dontAsk" || wish === "dontAsk") return "dontAsk";
  // What a person has accepted for the session stands for its agents.
  if (isAbove(parent, "default") || isAbove(wish, parent)) return parent;
  return wish;
}
