/** What goes wrong between us and the provider, told as a `ModelError` that says what to do. */
import { CadreError, CancelledError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import { MalformedStream } from "./anthropic-stream.ts";
import { ModelError, type ModelErrorKind } from "./model-error.ts";

export interface ErrorContext {
  readonly clock: Clock;
  /** Where requests go, without credentials. */
  readonly address: string;
  readonly modelId: string;
  /** The environment variable that usually holds the credential. */
  readonly credentialName: string;
  /** Never shown. */
  readonly secrets: readonly string[];
}

/** An answer other than a stream, or an `error` event within one. */
export interface ProviderRefusal {
  readonly status?: number;
  /** `overloaded_error`, `invalid_request_error`, ... */
  readonly type?: string;
  readonly message: string;
  readonly headers?: Headers;
}

const maxDetailChars = 400;

export function refusalToModelError(refusal: ProviderRefusal, context: ErrorContext): ModelError {
  const kind = kindOf(refusal);
  const id = refusal.headers?.get("request-id");
  const said = [refusal.status, refusal.type].filter((part) => part !== undefined).join(" ");
  const detail = clip(redact(refusal.message, context.secrets)) || "no explanation";
  const request = id ? ` [request ${id}]` : "";
  return new ModelError({
    kind,
    message: `${summaryOf(kind, context)} (${said || "no status"}): ${detail}${request}${adviceFor(kind, refusal, context)}`,
    status: refusal.status,
    retryAfterMs: retryAfterMsOf(refusal.headers, context.clock),
  });
}

/** `request`: it could not even be made. `stream`: the answer had begun. */
export type FailurePhase = "request" | "connection" | "stream";

/** What failed without a word from the provider. Cancellation and what is explained already pass through. */
export function failureToModelError(error: unknown, context: ErrorContext & { phase: FailurePhase }): Error {
  if (error instanceof CancelledError || error instanceof CadreError) return error;
  const { phase, address, credentialName } = context;
  const reason = clip(redact(reasonOfFailure(error), context.secrets));
  switch (phase) {
    case "request":
      return new ModelError({
        kind: "rejected",
        message: `The request to ${address} could not be made: ${reason}. Check ${credentialName} and the configured headers.`,
      });
    case "connection":
      return new ModelError({
        kind: "unavailable",
        message: `Could not reach ${address}: ${reason}. Check the network, the proxy settings and ANTHROPIC_BASE_URL.`,
      });
    case "stream": {
      const what = error instanceof MalformedStream ? "could not be understood" : "broke off";
      return new ModelError({ kind: "cut", message: `The answer from ${address} ${what}: ${reason}.` });
    }
  }
}

function kindOf({ status, type, message, headers }: ProviderRefusal): ModelErrorKind {
  const kind = kindOfStatus(status, message) ?? kindOfType(type, message) ?? "rejected";
  const advice = headers?.get("x-should-retry");
  if (advice === "false" && (kind === "overloaded" || kind === "unavailable")) return "rejected";
  if (advice === "true" && kind === "rejected") return "unavailable";
  return kind;
}

function kindOfStatus(status: number | undefined, message: string): ModelErrorKind | undefined {
  if (status === undefined) return undefined;
  if (status === 429 || status === 529) return "overloaded";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 413) return "prompt-too-long";
  if (status === 408 || status === 409) return "unavailable";
  // A server that is overloaded behind a proxy may come through as any 5xx.
  if (status >= 500) return /overloaded/i.test(message) ? "overloaded" : "unavailable";
  if (status === 400 && saysTooLong(message)) return "prompt-too-long";
  return undefined;
}

function kindOfType(type: string | undefined, message: string): ModelErrorKind | undefined {
  switch (type) {
    case "overloaded_error":
    case "rate_limit_error":
      return "overloaded";
    case "api_error":
    case "timeout_error":
      return "unavailable";
    case "authentication_error":
    case "permission_error":
      return "unauthorized";
    case "request_too_large":
      return "prompt-too-long";
    case "invalid_request_error":
      return saysTooLong(message) ? "prompt-too-long" : "rejected";
    default:
      return undefined;
  }
}

function saysTooLong(message: string): boolean {
  return /prompt is too long|exceeds? (the )?(model'?s )?(maximum )?context|context (window|limit|length)/i.test(
    message,
  );
}

function summaryOf(kind: ModelErrorKind, { address, modelId }: ErrorContext): string {
  switch (kind) {
    case "overloaded":
      return `${address} has no capacity for us right now`;
    case "unavailable":
      return `${address} failed`;
    case "cut":
      return `The answer from ${address} broke off`;
    case "prompt-too-long":
      return `The conversation is too long for ${modelId}`;
    case "unauthorized":
      return `${address} refused the credentials`;
    case "rejected":
      return `${address} rejected the request`;
  }
}

function adviceFor(kind: ModelErrorKind, refusal: ProviderRefusal, context: ErrorContext): string {
  if (kind === "unauthorized") return ` Check ${context.credentialName}.`;
  if (refusal.status === 404) {
    return ` Check the model id "${context.modelId}" and ANTHROPIC_BASE_URL.`;
  }
  return "";
}

/** `retry-after` is a number of seconds or an HTTP date. */
function retryAfterMsOf(headers: Headers | undefined, clock: Clock): number | undefined {
  const ms = headers?.get("retry-after-ms")?.trim();
  if (ms && Number(ms) >= 0) return Number(ms);
  const after = headers?.get("retry-after")?.trim();
  if (!after) return undefined;
  if (/^\d+(\.\d+)?$/.test(after)) return Math.round(Number(after) * 1000);
  // `Date.parse` makes dates of nearly anything, also of a negative number.
  const date = /^[a-z]{3,}/i.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now());
}

/** The first cause is the one that says something: `ECONNREFUSED`, not `fetch failed`. */
function reasonOfFailure(error: unknown): string {
  let root = error;
  for (let depth = 0; depth < 5 && root instanceof Error && root.cause !== undefined; depth += 1) {
    root = root.cause;
  }
  const code = systemCodeOf(root);
  const message = messageOf(root).replace(/\.$/, "");
  return code !== undefined && !message.includes(code)
    ? `${message} (${code})`
    : message || "no reason given";
}

function clip(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length > maxDetailChars ? `${flat.slice(0, maxDetailChars)}...` : flat;
}

/** Before anything is cut off: half a secret would not be recognised. */
function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, "[secret]");
  return clean;
}
