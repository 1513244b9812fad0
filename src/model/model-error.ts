import { CadreError } from "../base/errors.ts";

export type ModelErrorKind =
  /** 429, 529. */
  | "overloaded"
  /** 5xx, timeout, refused or reset connection. */
  | "unavailable"
  /** The stream ended before the message did, or stayed silent too long. */
  | "cut"
  | "prompt-too-long"
  /** 401, 403, no key. */
  | "unauthorized"
  /** Any other 4xx: asking again would not help. */
  | "rejected";

/** A model that could not answer. `retryable` follows from `kind`. */
export class ModelError extends CadreError {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  /** From `retry-after`. */
  readonly retryAfterMs: number | undefined;

  constructor(options: {
    kind: ModelErrorKind;
    message: string;
    status?: number;
    retryAfterMs?: number;
    cause?: unknown;
  }) {
    super({
      code: `model-${options.kind}`,
      message: options.message,
      data: { status: options.status },
      cause: options.cause,
      retryable: options.kind === "overloaded" || options.kind === "unavailable" || options.kind === "cut",
    });
    this.kind = options.kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
