/** How a provider is asked, apart from what is asked. */
import type { Scope } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { ServerSentEvent } from "./event-parser.ts";
import type { ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import type { ErrorContext, ProviderRefusal } from "./provider-error.ts";

/** A provider's SDK, as far as an exchange needs it. */
export interface WireClient {
  post(body: string, scope: Scope): Promise<Response>;
  /** What the provider said, if that is what this error tells. */
  refusalIn(error: unknown): ProviderRefusal | undefined;
  /** Whether it failed on the way, before there was an answer. */
  isConnectionError(error: unknown): boolean;
}

/** Makes events of what the provider sends. Throws a `ModelError` for a refusal, a `MalformedStream` for nonsense. */
export interface AnswerReader {
  read(event: ServerSentEvent): ModelEvent[];
  /** The message is whole; what may still come is of no consequence if it does not. */
  readonly complete: boolean;
  /** The provider said that nothing follows. */
  readonly finished: boolean;
  /** What ends a message that is complete. */
  end(): ModelEvent[];
}

/** What is the same for all requests to one model. */
export interface Exchange {
  /** Called after a request was found worth making. */
  connect(): Promise<WireClient>;
  serialize(request: ModelRequest): string;
  createReader(request: ModelRequest): AnswerReader;
  readonly context: ErrorContext;
  /** A server that says nothing for this long is given up. */
  readonly stallMs: number;
  /** What is said of it then. */
  readonly onStall: (stallMs: number) => ModelError;
}

/** The same function for all requests to one address. */
export function stallErrorAt(address: string): Exchange["onStall"] {
  return (stallMs) =>
    new ModelError({
      kind: "cut",
      message: `${address} sent nothing for ${Math.round(stallMs / 1000)} seconds.`,
    });
}

export const defaultStallMs = 120_000;
/** The SDKs' own timeouts run on the real clock and are not wanted; the guard watches instead. */
export const sdkTimeoutMs = 24 * 60 * 60_000;

export interface Endpoint {
  readonly url: URL;
  /** For messages: without credentials. */
  readonly address: string;
}

/** Throws for what is not an address of the web. */
export function parseEndpoint(
  text: string,
  { api, addressName, example }: { api: string; addressName: string; example: string },
): Endpoint {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CadreError({
      code: "model-base-url",
      message: `The base URL of ${api} is not an http or https address. Correct ${addressName}, for example ${example}.`,
    });
  }
  const url = new URL(text.trim());
  url.pathname = url.pathname.replace(/\/+$/, "");
  return { url, address: addressOf(url) };
}

export function addressOf({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** What must never be shown, longest first: half a secret would not be recognised. */
export function secretsAmong(options: {
  credentials: readonly (string | undefined)[];
  headers?: Readonly<Record<string, string>>;
}): string[] {
  const headers = Object.entries(options.headers ?? {}).flatMap(([name, value]) =>
    /auth|key|token|secret|cookie/i.test(name) ? [value] : [],
  );
  return [...options.credentials, ...headers]
    .flatMap((secret) => (secret === undefined ? [] : [secret.trim()]))
    .filter((secret) => secret.length > 0)
    .sort((a, b) => b.length - a.length);
}
