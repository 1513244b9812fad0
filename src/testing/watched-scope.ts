import { createScope, type Scope } from "../base/cancellation.ts";

/** A scope that counts what hangs on it: listeners, and scopes below it. What lives long must end up with nothing. */
export function createWatchedScope(): { scope: Scope; held: () => number } {
  const inner = createScope();
  let held = 0;
  const once = (undo: () => void) => {
    held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) held -= 1;
      isHeld = false;
      undo();
    };
  };
  const scope: Scope = {
    get signal() {
      return inner.signal;
    },
    get cancelled() {
      return inner.cancelled;
    },
    get cancelledBy() {
      return inner.cancelledBy;
    },
    watch(watcher) {
      held += 1;
      inner.watch(watcher);
    },
    unwatch(watcher) {
      held -= 1;
      inner.unwatch(watcher);
    },
    child() {
      const child = inner.child();
      const release = once(() => child.release());
      return new Proxy(child, {
        get(target, key) {
          if (key === "release") return release;
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
    cancel: (reason, cause) => inner.cancel(reason, cause),
    release: () => inner.release(),
    moveBelow: (parent) => inner.moveBelow(parent),
  };
  return { scope, held: () => held };
}
