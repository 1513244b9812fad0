import type { ProviderRefusal } from "./provider-error.ts";
import { isFields } from "./wire-fields.ts";

/** `{error: {message, type, code}}`, `{error: "..."}`, `{message}` or `{detail}`, whatever the server likes. */
export function toRefusal(body: unknown, text: string): ProviderRefusal {
  if (!isFields(body)) return { message: text };
  const inner = body.error ?? body;
  if (!isFields(inner)) return { message: String(inner) };
  const { message = inner.detail ?? inner.error, code, type } = inner;
  // The code says more than the type; some put the status there.
  const name = [code, type].find((value) => typeof value === "string" && !/^\d*$/.test(value));
  const status = Number(code);
  return {
    ...(status >= 400 && status < 600 ? { status } : {}),
    ...(typeof name === "string" ? { type: name } : {}),
    message: typeof message === "string" ? message : JSON.stringify(message ?? body),
  };
}
