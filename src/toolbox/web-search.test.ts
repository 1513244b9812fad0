import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createBraveProvider, createSearxngProvider, type SearchProvider } from "./search-provider.ts";
import { createWebSearchTool } from "./web-search.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const hits = [
  { title: "A\npage", url: "https://docs.example.com/a", snippet: "about  a" },
  { title: "B", url: "https://evil-example.com/b", snippet: "about b" },
  { title: "C", url: "not an address", snippet: "" },
];

function fixed(queries: string[] = []): SearchProvider {
  return {
    name: "Fixed",
    async search(query) {
      queries.push(query);
      return hits;
    },
  };
}

test("hits are listed, one line each for title and excerpt", async () => {
  const text = await scene.call(createWebSearchTool({ provider: fixed() }), { query: "foo" });
  expect(text).toBe(
    "1. A page\n   https://docs.example.com/a\n   about a\n2. B\n   https://evil-example.com/b\n   about b",
  );
});

test("domains narrow the query, and the hits are filtered by whole labels", async () => {
  const queries: string[] = [];
  const tool = createWebSearchTool({ provider: fixed(queries) });
  const only = await scene.call(tool, { query: "foo", allowed_domains: ["Example.com"] });
  const without = await scene.call(tool, { query: "foo", blocked_domains: ["example.com"] });
  expect(queries).toEqual(["foo site:Example.com", "foo -site:example.com"]);
  expect(only).toContain("docs.example.com");
  expect(only).not.toContain("evil-example.com");
  expect(without).not.toContain("docs.example.com");
  expect(without).toContain("evil-example.com");
});

test("both kinds of domains at once do not fit", () => {
  const bound = createWebSearchTool().bind({
    query: "foo",
    allowed_domains: ["a.com"],
    blocked_domains: ["b.com"],
  });
  expect(bound).toMatchObject({ ok: false, problem: expect.stringContaining("blocked_domains") });
});

test("without a provider the failure says how to configure one", async () => {
  expect(await scene.fail(createWebSearchTool(), { query: "foo" })).toMatch(
    /"webSearch".*searxng.*baseUrl.*keyEnv/,
  );
});

test("nothing found is no failure", async () => {
  const provider = { name: "Empty", search: async () => [] };
  expect(await scene.call(createWebSearchTool({ provider }), { query: "foo" })).toMatch(/Nothing was found/);
});

test("a cancelled search is cancelled", async () => {
  const provider = { name: "Gone", search: () => Promise.reject(new CancelledError("interrupted")) };
  await expect(scene.run(createWebSearchTool({ provider }), { query: "foo" })).rejects.toThrow(
    CancelledError,
  );
});

describe("providers", () => {
  let answer: { status: number; body: string; location?: string };
  let request: IncomingMessage | undefined;
  let baseUrl: string;
  const server = createServer((incoming, response) => {
    request = incoming;
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location });
    response.end(answer.body);
  });
  beforeEach(async () => {
    request = undefined;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    scene.world.network.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("SearXNG is asked for JSON, below the path it is served from", async () => {
    answer = {
      status: 200,
      body: JSON.stringify({ results: [{ title: "A", url: "https://a.com", content: null, score: 1 }] }),
    };
    const provider = createSearxngProvider({ baseUrl: `${baseUrl}/searx`, world: scene.world });
    expect(await provider.search("a b&c", scene.context.signal)).toEqual([
      { title: "A", url: "https://a.com", snippet: "" },
    ]);
    expect(request?.url).toBe("/searx/search?q=a+b%26c&format=json");
  });

  test("Brave gets the key in a header, and its marks are taken out", async () => {
    answer = {
      status: 200,
      body: JSON.stringify({
        web: {
          results: [
            { title: "<strong>A</strong>", url: "https://a.com", description: "a <strong>b</strong>" },
          ],
        },
      }),
    };
    const provider = createBraveProvider({ key: "secret", world: scene.world, baseUrl });
    expect(await provider.search("a", scene.context.signal)).toEqual([
      { title: "A", url: "https://a.com", snippet: "a b" },
    ]);
    expect(request?.headers["x-subscription-token"]).toBe("secret");
    expect(request?.url).not.toContain("secret");
  });

  test.each([
    [{ status: 401, body: "no" }, /HTTP status 401/],
    [{ status: 200, body: "<html>" }, /did not answer with search results/],
    [{ status: 200, body: "{}" }, /did not answer with search results/],
    [{ status: 302, body: "", location: "http://127.0.0.1:1/" }, /redirect/],
  ])("the answer %j is a failure that the model sees, without the key", async (given, problem) => {
    answer = given;
    const provider = { ...createSearxngProvider({ baseUrl, world: scene.world }) };
    expect(await scene.fail(createWebSearchTool({ provider }), { query: "foo" })).toMatch(problem);
  });
});
