/**
 * base/ owns what every program of this kind needs and knows nothing of agents:
 * the door to the outside (world.ts), durable files, cancellation, channels, escaping.
 */

/** The one error that Cadre throws on purpose. `message` is written for the person who reads it. */
export class CadreError extends Error {
  override readonly name: string = "CadreError";
  /** Stable, for programs: `settings-unreadable`, `model-overloaded`, ... */
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(options: {
    code: string;
    message: string;
    data?: Record<string, unknown>;
    cause?: unknown;
    retryable?: boolean;
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.data = options.data ?? {};
    this.retryable = options.retryable ?? false;
  }
}

/** Cancellation is its own type, so that no `catch` that retries or translates can mistake it for a failure. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`Cancelled: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export function isCancelled(error: unknown): error is CancelledError {
  return error instanceof CancelledError;
}

/** What to show of something that was thrown, whatever it was. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error (`ENOENT`, `ENOSPC`, ...), if it has one. */
export function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
