import { expect, test } from "vitest";
import { isPrivateHost, parseWebAddress } from "./web-address.ts";

test.each([
  "http://localhost",
  "http://LOCALHOST.",
  "http://a.localhost/x",
  "http://127.0.0.1:8080",
  "http://127.1",
  "http://2130706433",
  "http://0x7f.0.0.1",
  "http://0177.0.0.1",
  "http://0.0.0.0",
  "http://10.1.2.3",
  "http://172.16.0.1",
  "http://172.31.255.255",
  "http://192.168.1.1",
  "http://169.254.169.254/latest/meta-data",
  "http://100.64.0.1",
  "http://224.0.0.1",
  "http://[::1]",
  "http://[::]",
  "http://[::ffff:127.0.0.1]",
  "http://[::ffff:a9fe:a9fe]",
  "http://[::127.0.0.1]",
  "http://[64:ff9b::7f00:1]",
  "http://[2002:7f00:1::]",
  "http://[fc00::1]",
  "http://[fd12:3456::1]",
  "http://[fe80::1]",
  "http://printer",
  "http://nas.local",
  "http://metadata.google.internal",
  "http://router.lan",
  "http://１２７.0.0.1",
  "http://①②⑦.0.0.1",
])("%s is private", (text) => {
  expect(isPrivateHost(new URL(text))).toBe(true);
});

test.each([
  "https://example.com",
  "https://localhost.example.com",
  "https://1.1.1.1",
  "https://172.32.0.1",
  "https://[2606:4700:4700::1111]",
  "https://local.dev",
])("%s is public", (text) => {
  expect(isPrivateHost(new URL(text))).toBe(false);
});

test.each([
  ["example.com", /whole one/],
  ["ftp://example.com", /Only http and https/],
  ["file:///etc/passwd", /Only http and https/],
  ["javascript:alert(1)", /Only http and https/],
  ["https://user:secret@example.com", /without them/],
  ["https://user@example.com", /without them/],
  ["", /whole one/],
])("%s is no address to fetch", (text, problem) => {
  expect(() => parseWebAddress(text)).toThrow(problem);
});
