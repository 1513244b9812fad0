/**
 * The part of the official SDK that is used. Imported lazily, at the first request; and by named exports,
 * so that the bundle leaves out the resources of the SDK, which are most of its size.
 */
import { BaseAnthropic, type ClientOptions } from "@anthropic-ai/sdk/client";
import { APIConnectionError } from "@anthropic-ai/sdk/error";
import type { Scope } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";

export { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";

type BuiltRequest = Awaited<ReturnType<BaseAnthropic["buildRequest"]>>;
type RequestOptions = Parameters<BaseAnthropic["buildRequest"]>[0];

/** A client for one endpoint: address and headers are the same for every request, so they are built once. */
export class MessagesClient extends BaseAnthropic {
  readonly #fetch: typeof globalThis.fetch;
  #first: BuiltRequest | undefined;

  constructor(options: ClientOptions & { fetch: typeof globalThis.fetch }) {
    super(options);
    this.#fetch = options.fetch;
    // The SDK adds headers from the process environment; ours comes in through the world only.
    // The field is not in the SDK's types.
    const internals = this as unknown as { _options: { defaultHeaders?: unknown } };
    internals._options.defaultHeaders = options.defaultHeaders;
  }

  /** Credentials are handed in; the SDK must not look for some in files of the user's home. */
  protected override _shouldResolveDefaultCredentials(): boolean {
    return false;
  }

  /**
   * One request. What the SDK knows of address, headers and errors is its own; its retries, timers and log are left
   * out, because whoever asks has them already.
   */
  async send(body: string, scope: Scope): Promise<Response> {
    this.#first ??= await this.buildRequest(messagesRequest);
    const { req, url } = this.#first;
    // Not awaited here: while the model thinks, nothing of this waits with it.
    return this.#fetch(url, new RequestBody(req.headers, body, scope)).then(
      (response) => (response.ok ? response : this.#refuse(response)),
      (cause: unknown) => {
        throw isCancelled(cause) ? cause : new APIConnectionError({ cause: asError(cause) });
      },
    );
  }

  async #refuse(response: Response): Promise<never> {
    const { status, headers } = response;
    const text = await response.text().catch((error: unknown) => messageOf(error));
    // The SDK means that there may be none, though its types do not say so.
    const json = parseJson(text) as object;
    throw this.makeStatusError(status, json, json === undefined ? text : undefined, headers);
  }
}

const messagesRequest: RequestOptions = {
  method: "post",
  path: "/v1/messages",
  headers: { "content-type": "application/json" },
  stream: true,
};

/** A signal is made only when the network wants one. */
class RequestBody implements RequestInit {
  readonly method = "POST";
  readonly headers: Headers;
  readonly body: string;
  readonly #scope: Scope;

  constructor(headers: Headers, body: string, scope: Scope) {
    this.headers = headers;
    this.body = body;
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }
}

function parseJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(messageOf(cause));
}
