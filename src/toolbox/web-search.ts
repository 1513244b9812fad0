import * as z from "zod";
import { CancelledError, messageOf } from "../base/errors.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { SearchHit, SearchProvider } from "./search-provider.ts";

const description = `Searches the web and answers with titles, addresses and excerpts. Use it for what you can not know: news, versions, documentation that changes. Read a page that looks right with WebFetch before you rely on it, and name the addresses you used.

Restrict the search with allowed_domains or blocked_domains, not with both.`;

const Domain = z.string().regex(/^[a-z0-9.-]+$/i, "must be a plain domain such as example.com");

const Input = z
  .object({
    query: z.string().min(2).describe("What to search for"),
    allowed_domains: z.array(Domain).optional().describe("Only results from these domains"),
    blocked_domains: z.array(Domain).optional().describe("No results from these domains"),
  })
  .refine((input) => !(input.allowed_domains?.length && input.blocked_domains?.length), {
    path: ["blocked_domains"],
    message: "cannot be combined with allowed_domains",
  });

export interface WebSearchOutput {
  readonly query: string;
  readonly hits: readonly SearchHit[];
}

export function createWebSearchTool(deps: { provider?: SearchProvider } = {}): Tool {
  return defineTool({
    name: "WebSearch",
    description,
    input: Input,
    isReadOnly: () => true,
    interruptBehavior: "cancel",
    async call(input, { signal }): Promise<WebSearchOutput> {
      const found = await search(deps.provider, queryOf(input), signal);
      return { query: input.query, hits: found.filter((hit) => isWanted(hit, input)) };
    },
    toResult: describeHits,
  });
}

async function search(
  provider: SearchProvider | undefined,
  query: string,
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  if (provider === undefined)
    throw new ToolFailure(
      'No search provider is configured. The user can set one in the settings, for example { "webSearch": { "provider": "searxng", "baseUrl": "https://search.example.com" } } or { "webSearch": { "provider": "brave", "keyEnv": "BRAVE_API_KEY" } }. Until then, use WebFetch on an address you know.',
    );
  try {
    return await provider.search(query, signal);
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    throw new ToolFailure(`The search with ${provider.name} failed: ${messageOf(error)}`, { cause: error });
  }
}

/** The provider narrows the search where it can; the results are filtered in any case. */
function queryOf(input: z.infer<typeof Input>): string {
  const sites = (input.allowed_domains ?? []).map((domain) => `site:${domain}`).join(" OR ");
  const others = (input.blocked_domains ?? []).map((domain) => `-site:${domain}`).join(" ");
  return [input.query, sites, others].filter((part) => part !== "").join(" ");
}

function isWanted(hit: SearchHit, input: z.infer<typeof Input>): boolean {
  if (!URL.canParse(hit.url)) return false;
  const host = new URL(hit.url).hostname.toLowerCase();
  const isBelow = (domain: string) =>
    host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`);
  if (input.allowed_domains?.length) return input.allowed_domains.some(isBelow);
  return !input.blocked_domains?.some(isBelow);
}

function describeHits({ query, hits }: WebSearchOutput): string {
  if (hits.length === 0) return `Nothing was found for "${query}". Try other words.`;
  return hits
    .map((hit, index) => `${index + 1}. ${oneLine(hit.title)}\n   ${hit.url}\n   ${oneLine(hit.snippet)}`)
    .join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
