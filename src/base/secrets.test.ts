import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, namedSecrets, runtimeSecrets } from "./secrets.ts";

const key = 'sk-ant-api03-Zq9/+x_Y&7 "quoted"=end';
const redactor = createRedactor([{ name: "ANTHROPIC_API_KEY", value: key }]);

describe("a redactor", () => {
  it.each([
    ["as it is", key],
    ["in JSON", JSON.stringify({ key })],
    ["in an address", `https://example.org/?k=${encodeURIComponent(key)}`],
    [
      "in an address with small hex digits",
      encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase()),
    ],
  ])("takes out a known secret %s", (_, text) => {
    const clean = redactor.redact(text);
    expect(clean).toContain("[redacted: ANTHROPIC_API_KEY]");
    expect(clean).not.toContain("Zq9");
  });

  it("takes it out of the base64 of any text around it, in lines and in both alphabets", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary-ascii" }),
        fc.string({ unit: "binary-ascii" }),
        fc.constantFrom<BufferEncoding>("base64", "base64url"),
        fc.integer({ min: 5, max: 80 }),
        (before, after, encoding, width) => {
          const encoded = Buffer.from(before + key + after, "utf8").toString(encoding);
          const lines = encoded.replace(new RegExp(`.{${width}}`, "g"), "$&\n");
          const clean = redactor.redact(lines).replaceAll("\n", "");
          return clean.includes("[redacted:") && !Buffer.from(clean, encoding).includes(key.slice(2, -2));
        },
      ),
    );
  });

  it("leaves all other text exactly as it is, whatever it looks like", () => {
    const text = "sk-ant-another-0123456789abcdef [redacted: X] Bearer 0123456789abcdef\u001b";
    expect(redactor.redact(text)).toBe(text);
  });

  it("takes the longer of two secrets where one begins with the other", () => {
    const two = createRedactor([
      { name: "SHORT", value: "abcdef0123" },
      { name: "LONG", value: "abcdef0123456789" },
    ]);
    expect(two.redact("abcdef0123456789 abcdef0123")).toBe("[redacted: LONG] [redacted: SHORT]");
  });

  it.each(["ollama", "not-needed", "", "lm-studio", "test"])("takes %j for a placeholder", (value) => {
    const text = `the word ${value} stays`;
    expect(createRedactor([{ name: "OPENAI_API_KEY", value }]).redact(text)).toBe(text);
  });

  // Put together here, so that nobody's scanner takes this file for a leak.
  it.each([
    ["sk-ant-", "x1".repeat(20)],
    ["ghp_", "x1".repeat(20)],
    ["AKIA", "X1".repeat(8)],
    ["eyJ", `${"x1".repeat(8)}.${"x1".repeat(8)}.x1`],
    ["-----BEGIN RSA PRIVATE ", "KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"],
  ])("takes what looks like a key out of logs: %s...", (head, tail) => {
    expect(redactor.redactLog(`before ${head}${tail} after`)).toBe("before [redacted: key] after");
  });

  it("keeps what stands around a key in logs", () => {
    expect(redactor.redactLog("Authorization: Bearer abcdef0123456789")).toBe(
      "Authorization: Bearer [redacted: key]",
    );
    expect(redactor.redactLog("http://me:hunter2@proxy:80/")).toBe("http://me:[redacted: key]@proxy:80/");
  });
});

describe("the secrets of an environment", () => {
  const env = {
    ANTHROPIC_API_KEY: " key-1 ",
    ANTHROPIC_CUSTOM_HEADERS: "X-One: value-1\nAuthorization: Bearer value-2",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=value-3,other=value-4",
    LOCAL_PASS: "key-5",
    GITHUB_TOKEN: "key-6",
    ANTHROPIC_BASE_URL: "https://example.org",
    PATH: "/bin",
  };

  it("are the runtime's own, each value of a list of headers, and what settings name", () => {
    const values = runtimeSecrets(env, ["LOCAL_PASS"]).map(({ value }) => value);
    expect(values).toEqual(["key-1", "value-1", "value-2", "value-3", "value-4", "key-5"]);
  });

  it("are, for logs, all that are named like one", () => {
    expect(namedSecrets(env).map(({ name }) => name)).toContain("GITHUB_TOKEN");
    expect(namedSecrets(env).map(({ name }) => name)).not.toContain("PATH");
  });
});
