import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { compileGlob } from "./glob.ts";

const matches = (pattern: string, path: string) => compileGlob(pattern)(path);

describe("a glob pattern", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", ".ts", true],
    ["*.ts", "a/b.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "a/b/c.ts", true],
    ["a/**", "a/b/c", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "ab", false],
    ["a**b", "axxb", true],
    ["a**b", "a/b", false],
    ["src/*.{js,jsx}", "src/a.jsx", true],
    ["{a,b{c,d}}.x", "bd.x", true],
    ["{a,b{c,d}}.x", "b.x", false],
    ["a{b,}c", "ac", true],
    ["./a", "a", true],
    ["{1..3}", "2", true],
    ["{1..3}", "4", false],
    ["[abc]x", "bx", true],
    ["[!abc]x", "bx", false],
    ["[a-c]", "b", true],
    ["[]]", "]", true],
    ["[", "[", true],
    ["{a", "{a", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["+(ab|c)", "abcab", true],
    ["+(ab|c)", "", false],
    ["*(ab)x", "x", true],
    ["?(a)b", "b", true],
    ["@(a|b)", "a", true],
    ["!*.ts", "a.js", true],
    ["!*.ts", "a.ts", false],
    ["é?", "é漢", true],
    ["?", "👩", true],
  ])("%j says of %j: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it("means the same as in a well-known library, for the forms that people use", () => {
    const piece = fc.constantFrom("a", "b", ".", "*", "?", "[ab]", "{a,b}", "{a,bb}", "ab");
    const segment = fc.oneof(
      fc.constant("**"),
      fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
    );
    const patterns = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    const name = fc
      .array(fc.constantFrom("a", "b", "."), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(""));
    const paths = fc
      .array(name, { minLength: 1, maxLength: 4 })
      .filter((parts) => !parts.some((part) => /^\.+$/.test(part)))
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(patterns, paths, (pattern, path) => {
        // Dots that are a segment, and two stars within a name or at the end, are read in different ways.
        fc.pre(!/(^|\/)\.+(\/|$)|[^/]\*\*|\*\*[^/]|\*\*$/.test(pattern));
        // The library wants something after the dot here, other than a shell.
        fc.pre(!pattern.split("/").includes("*.*"));
        expect([pattern, path, matches(pattern, path)]).toEqual([
          pattern,
          path,
          picomatch(pattern, { dot: true })(path),
        ]);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    `${"*a".repeat(200)}b`,
    `${"**/".repeat(300)}b`,
    `${"+(a|a)".repeat(50)}b`,
    "*(*(*(*(a))))b",
    `${"{a,b}".repeat(500)}c`,
    `${"{a,{a,{a,aa}}}".repeat(100)}c`,
    "?(a)".repeat(500),
  ])("is answered at once, however it was built to take long: %.20s", (pattern) => {
    const says = compileGlob(pattern);
    expect(says("a".repeat(255))).toBe(pattern.startsWith("?"));
    expect(says(`${"a/".repeat(2000)}x`)).toBe(false);
  });

  it.each([
    "{1..99999999}",
    "x".repeat(5000),
    `${"{".repeat(100)}a${"}".repeat(100)}`,
    `${"{1..999}".repeat(200)}`,
    "!(a)b",
  ])("that asks for too much is refused: %.20s", (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: "glob-unusable" }) as Error);
  });
});
