import { describe, expect, it } from "vitest";
import { proxyAuthorization, proxyFor } from "./http-proxy.ts";

const proxy = "http://proxy.test:3128";
const pick = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

describe("proxyFor", () => {
  it("follows the scheme, and ALL_PROXY for both", () => {
    expect(pick("https://api.test/", { HTTPS_PROXY: proxy })).toBe(`${proxy}/`);
    expect(pick("https://api.test/", { HTTP_PROXY: proxy })).toBeUndefined();
    expect(pick("http://api.test/", { http_proxy: proxy })).toBe(`${proxy}/`);
    expect(pick("http://api.test/", { ALL_PROXY: "proxy.test:3128" })).toBe(`${proxy}/`);
    expect(pick("https://api.test/", { HTTPS_PROXY: " " })).toBeUndefined();
  });

  it("prefers the small spelling", () => {
    expect(pick("https://api.test/", { HTTPS_PROXY: "http://big.test", https_proxy: proxy })).toBe(
      `${proxy}/`,
    );
  });

  it.each([
    "http://localhost:1/",
    "http://127.0.0.1/",
    "http://127.9.8.7/",
    "http://[::1]:8080/",
    "http://a.localhost/",
  ])("never sends %s through a proxy", (url) => {
    expect(pick(url, { ALL_PROXY: proxy })).toBeUndefined();
  });

  it.each([
    ["*", "https://api.test/", true],
    ["api.test", "https://api.test/", true],
    ["API.test", "https://api.TEST/", true],
    ["test", "https://api.test/", true],
    [".api.test", "https://v1.api.test/", true],
    ["*.api.test", "https://v1.api.test/", true],
    ["pi.test", "https://api.test/", false],
    ["other.test, api.test", "https://api.test/", true],
    ["api.test:443", "https://api.test/", true],
    ["api.test:8443", "https://api.test/", false],
    ["api.test:8443", "https://api.test:8443/", true],
    ["10.0.0.0/8", "https://10.200.3.4/", true],
    ["10.0.0.0/8", "https://11.0.0.1/", false],
    ["192.168.1.0/33", "https://192.168.1.1/", false],
    ["[fd00::1]:443", "https://[fd00::1]/", true],
    ["fd00::1", "https://[fd00::1]/", true],
    ["", "https://api.test/", false],
  ])("NO_PROXY=%j for %s: direct is %s", (noProxy, url, direct) => {
    expect(pick(url, { HTTPS_PROXY: proxy, NO_PROXY: noProxy }) === undefined).toBe(direct);
  });

  it("says what is wrong with a setting it cannot use", () => {
    expect(() => pick("https://api.test/", { ALL_PROXY: "socks5://proxy.test" })).toThrow(
      "socks5 are not supported",
    );
    expect(() => pick("https://api.test/", { ALL_PROXY: "http://" })).toThrow("is not a URL");
  });

  it("reads the name and the password from the URL", () => {
    const value = proxyAuthorization(new URL("http://me:p%40ss@proxy.test"));
    expect(value).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  });
});
