/**
 * The part of the official SDK that is used. Imported lazily, at the first request; and by named exports,
 * so that the bundle leaves out the resources of the SDK, which are most of its size.
 */
import { BaseAnthropic, type ClientOptions } from "@anthropic-ai/sdk/client";

export { APIConnectionError, APIError } from "@anthropic-ai/sdk/error";
export { Stream } from "@anthropic-ai/sdk/streaming";

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

  override async buildRequest(options: RequestOptions): Promise<BuiltRequest> {
    this.#first ??= await super.buildRequest({ ...options, body: undefined });
    const { req, url, timeout } = this.#first;
    // The body is the JSON text itself.
    const body = options.body as string;
    return { url, timeout, req: { ...req, method: "POST", signal: options.signal, body } };
  }

  /** Without a timer and a signal of its own: whoever asks watches the time, and has a signal. */
  override async fetchWithTimeout(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    return await this.#fetch(url, init);
  }
}
