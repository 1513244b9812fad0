import { describe, expect, it } from "vitest";
import { readWording, splitPlace } from "./wording.ts";

describe("readWording", () => {
  it.each([
    ["Hey, could you please tell me what this repo does?", "what this repo does"],
    ["whats new here", "what is new here"],
    ["I'm new here, where do I start?", "where do I start"],
    ["ok so can you show me where foo is defined, thanks!", "where foo is defined"],
    ["explain `what's up` to me", "explain `what's up`"],
    ["list   TODOs\nin src", "list TODOs in src"],
  ])("reads %s", (prompt, text) => {
    expect(readWording(prompt).text).toBe(text);
  });

  it("knows the request without the words that only say: here", () => {
    expect(readWording("how many files are there in this repository").core).toBe("how many files are there");
    expect(readWording("is lodash used anywhere?").core).toBe("is lodash used");
    expect(readWording("how many files are in src").core).toBe("how many files are in src");
  });
});

describe("splitPlace", () => {
  it.each([
    ["TODOs in src/", { rest: "TODOs", path: "src" }],
    ["foo in the folder 'my files'", { rest: "foo", path: "my files" }],
    ["Foo", { rest: "Foo" }],
  ])("reads %s", (words, parts) => {
    expect(splitPlace(words)).toEqual(parts);
  });
});
