/** What goes wrong between us and the provider, told as a `ModelError` that says what to do. */
import { CadreError, CancelledError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import { ModelError, type ModelErrorKind } from "./model-error.ts";
import { MalformedStream } from "./wire-fields.ts";

export interface ErrorContext {
  readonly clock: Clock;
  /** Where requests go, without credentials. */
  readonly address: string;
  readonly modelId: string;
  /** The environment variable that usually holds the credential. Undefined: none was configured. */
  readonly credentialName: string | undefined;
  /** The variable or setting that holds the address. */
  readonly addressName: string;
  /** Never shown. */
  readonly secrets: readonly string[];
}

/** An answer other than a stream, or an `error` event within one. */
export interface ProviderRefusal {
  readonly status?: number;
  /** `overloaded_error`, `invalid_request_error`, `context_length_exceeded`, ... */
  readonly type?: string;
  readonly message: string;
  readonly headers?: Headers;
}

const maxDetailChars = 400;
const tooLongTypes = ["request_too_large", "context_length_exceeded", "exceed_context_size_error"];
const quotaTypes = ["insufficient_quota", "billing_hard_limit_reached", "billing_error"];

export function refusalToModelError(refusal: ProviderRefusal, context: ErrorContext): ModelError {
  const kind = kindOf(refusal);
  const id = refusal.headers?.get("request-id") ?? refusal.headers?.get("x-request-id");
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
  const { phase, address } = context;
  const reason = clip(redact(reasonOfFailure(error), context.secrets));
  switch (phase) {
    case "request":
      return new ModelError({
        kind: "rejected",
        message: `The request to ${address} could not be made: ${reason}. Check ${context.credentialName ?? "the key"} and the configured headers.`,
      });
    case "connection":
      return new ModelError({
        kind: "unavailable",
        message: `Could not reach ${address}: ${reason}. Check the network, the proxy settings and ${context.addressName}.`,
      });
    case "stream": {
      const what = error instanceof MalformedStream ? "could not be understood" : "broke off";
      return new ModelError({ kind: "cut", message: `The answer from ${address} ${what}: ${reason}.` });
    }
  }
}

function kindOf(refusal: ProviderRefusal): ModelErrorKind {
  const { status, type, message, headers } = refusal;
  // An account without money answers as one that is too fast does, but waiting does not help it.
  if (isOutOfQuota(refusal)) return "rejected";
  const kind = kindOfStatus(refusal) ?? kindOfType(type, message) ?? kindOfSilence(status, message);
  const advice = headers?.get("x-should-retry");
  if (advice === "false" && (kind === "overloaded" || kind === "unavailable")) return "rejected";
  if (advice === "true" && kind === "rejected") return "unavailable";
  return kind;
}

function isOutOfQuota({ status, type }: ProviderRefusal): boolean {
  return status === 402 || (type !== undefined && quotaTypes.includes(type));
}

function kindOfStatus({ status, type, message }: ProviderRefusal): ModelErrorKind | undefined {
  if (type !== undefined && tooLongTypes.includes(type)) return "prompt-too-long";
  if (status === undefined) return undefined;
  // One request that is larger than what is allowed in a minute never fits.
  if (status === 429) return /request too large/i.test(message) ? "prompt-too-long" : "overloaded";
  if (status === 529) return "overloaded";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 413) return "prompt-too-long";
  if (status === 408 || status === 409) return "unavailable";
  // A server that is overloaded behind a proxy may come through as any 5xx.
  if (status >= 500) return /overloaded/i.test(message) ? "overloaded" : "unavailable";
  if ((status === 400 || status === 422) && saysTooLong(message)) return "prompt-too-long";
  return undefined;
}

function kindOfType(type: string | undefined, message: string): ModelErrorKind | undefined {
  switch (type) {
    case "overloaded_error":
    case "rate_limit_error":
    case "rate_limit_exceeded":
      return "overloaded";
    case "api_error":
    case "timeout_error":
    case "server_error":
    case "internal_error":
      return "unavailable";
    case "authentication_error":
    case "permission_error":
    case "invalid_api_key":
      return "unauthorized";
    case "invalid_request_error":
      return saysTooLong(message) ? "prompt-too-long" : "rejected";
    default:
      return undefined;
  }
}

/** Neither status nor type says anything. What had begun to answer did not reject the request, it broke. */
function kindOfSilence(status: number | undefined, message: string): ModelErrorKind {
  if (status !== undefined) return "rejected";
  return saysTooLong(message) ? "prompt-too-long" : "unavailable";
}

function saysTooLong(message: string): boolean {
  return /prompt is too long|exceeds? (the )?(model'?s )?(maximum |available )?context|context (window|limit|length)/i.test(
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
  const { credentialName, addressName, modelId } = context;
  if (isOutOfQuota(refusal)) {
    return ` The account${credentialName ? ` behind ${credentialName}` : ""} has no credit left: look at its plan and billing.`;
  }
  if (kind === "unauthorized") {
    return credentialName
      ? ` Check ${credentialName}.`
      : ' No key was sent: name the variable that holds it, as "keyEnv" of the provider in the settings.';
  }
  if (refusal.status === 404) return ` Check the model id "${modelId}" and ${addressName}.`;
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
