/** The part of the official SDK that is used. Imported lazily, at the first request. */
import { type ClientOptions, OpenAI } from "openai/client";
import { APIError } from "openai/core/error";
import { toRefusal } from "./openai-error.ts";
import type { ProviderRefusal } from "./provider-error.ts";

export { APIConnectionError } from "openai/core/error";

type BuiltRequest = Awaited<ReturnType<OpenAI["buildRequest"]>>;
type RequestOptions = Parameters<OpenAI["buildRequest"]>[0];

/** An answer other than a stream, read by us: servers spell errors in more ways than the SDK knows. */
export class RefusedByServer extends APIError<number, Headers> {
  readonly refusal: ProviderRefusal;

  constructor(refusal: ProviderRefusal & { status: number }, headers: Headers) {
    super(refusal.status, undefined, refusal.message, headers);
    this.refusal = { ...refusal, headers };
  }
}

/** A client for one endpoint: address and headers are the same for every request, so they are built once. */
export class ChatClient extends OpenAI {
  #first: BuiltRequest | undefined;

  constructor(options: ClientOptions) {
    super(options);
    // The SDK adds headers from the process environment; ours comes in through the world only.
    // The field is not in the SDK's types.
    const internals = this as unknown as { _options: { defaultHeaders?: unknown } };
    internals._options.defaultHeaders = options.defaultHeaders;
  }

  override async buildRequest(options: RequestOptions): Promise<BuiltRequest> {
    this.#first ??= await super.buildRequest({ ...options, body: undefined });
    const { req, url, timeout } = this.#first;
    // The body is the JSON text itself.
    return { url, timeout, req: { ...req, signal: options.signal, body: options.body as string } };
  }

  protected override makeStatusError(
    status: number,
    body: object | undefined,
    text: string | undefined,
    headers: Headers,
  ): APIError {
    return new RefusedByServer({ ...toRefusal(body, text ?? ""), status }, headers);
  }
}
