import { onCancelled, type Scope, throwIfCancelled } from "../base/cancellation.ts";

/** Waits for nothing else, and throws the cancellation. */
export async function untilCancelled(scope: Scope): Promise<never> {
  if (!scope.cancelled) await new Promise<void>((resolve) => onCancelled(scope, resolve));
  throwIfCancelled(scope);
  throw new Error("unreachable: it is cancelled");
}
