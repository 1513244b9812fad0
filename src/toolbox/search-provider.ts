/** Where web searches go: a port, and two kinds of service that speak JSON. */
import * as z from "zod";
import { cancelAfter, createScope, throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { World } from "../base/world.ts";

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchProvider {
  readonly name: string;
  search(query: string, signal: AbortSignal): Promise<SearchHit[]>;
}

const timeoutMs = 20_000;

const SearxngAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/** An instance of SearXNG, whose settings must allow the format `json`. */
export function createSearxngProvider(options: { baseUrl: string; world: World }): SearchProvider {
  return {
    name: "SearXNG",
    async search(query, signal) {
      const url = new URL("search", options.baseUrl.endsWith("/") ? options.baseUrl : `${options.baseUrl}/`);
      url.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const answer = await askJson({ world: options.world, url, headers: {}, schema: SearxngAnswer, signal });
      return answer.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" }));
    },
  };
}

const BraveAnswer = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().nullish() })),
    })
    .optional(),
});

/** The Brave Search API, or another service that speaks it. */
export function createBraveProvider(options: {
  key: string;
  world: World;
  baseUrl?: string;
}): SearchProvider {
  return {
    name: "Brave",
    async search(query, signal) {
      const url = new URL(options.baseUrl ?? "https://api.search.brave.com/res/v1/web/search");
      url.searchParams.set("q", query);
      const headers = { "x-subscription-token": options.key };
      const answer = await askJson({ world: options.world, url, headers, schema: BraveAnswer, signal });
      return (answer.web?.results ?? []).map(({ title, url, description }) => ({
        title: withoutTags(title),
        url,
        snippet: withoutTags(description ?? ""),
      }));
    },
  };
}

/** The words that were found come marked up. */
function withoutTags(text: string): string {
  return text.replaceAll(/<\/?[a-z]+>/gi, "");
}

async function askJson<Answer>(options: {
  world: World;
  url: URL;
  headers: Record<string, string>;
  schema: z.ZodType<Answer>;
  signal: AbortSignal;
}): Promise<Answer> {
  const { world, url, signal } = options;
  const scope = createScope(signal);
  const reason = `no answer within ${timeoutMs / 1000} s`;
  const stopTimer = cancelAfter({ clock: world.clock, scope, delayMs: timeoutMs, reason });
  try {
    const response = await world.network.fetch(url, {
      headers: { accept: "application/json", ...options.headers },
      // A redirect would carry the key to another host.
      redirect: "error",
      signal: scope.signal,
    });
    const text = await response.text();
    if (!response.ok) throw searchFailed(`${url.host} answered with HTTP status ${response.status}.`);
    const parsed = options.schema.safeParse(parseJson(text));
    if (!parsed.success) throw searchFailed(`${url.host} did not answer with search results in JSON.`);
    return parsed.data;
  } catch (error) {
    throwIfCancelled(signal);
    throw scope.cancelled ? searchFailed(reason) : error;
  } finally {
    stopTimer();
    scope.release();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function searchFailed(message: string): CadreError {
  return new CadreError({ code: "search-failed", message });
}
