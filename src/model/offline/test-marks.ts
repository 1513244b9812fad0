/** How a test looks in each language. */
import type { GrepInput } from "./tool-calls.ts";

export const testPatterns: readonly (GrepInput & { languages: readonly string[]; how: string })[] = [
  {
    pattern: "^\\s*(?:async\\s+)?def test\\w*\\s*\\(",
    glob: "*.py",
    languages: ["Python"],
    how: "`def test...`",
  },
  {
    pattern: "^func (?:Test|Fuzz|Example)\\w*\\(",
    glob: "*_test.go",
    languages: ["Go"],
    how: "`func Test...`, Fuzz, Example in *_test.go",
  },
  { pattern: "^\\s*#\\[(?:\\w+::)?test\\b", glob: "*.rs", languages: ["Rust"], how: "`#[test]`" },
  {
    pattern: "^\\s*(?:test|it)(?:\\.\\w+)*\\s*\\(",
    glob: "*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}",
    languages: ["TypeScript", "JavaScript"],
    how: "`test(` and `it(`",
  },
  {
    pattern: "^\\s*@(?:Test|ParameterizedTest)\\b",
    glob: "*.{java,kt}",
    languages: ["Java", "Kotlin"],
    how: "`@Test`",
  },
  {
    pattern: "^\\s*\\[(?:Fact|Theory|Test|TestMethod)\\b",
    glob: "*.cs",
    languages: ["C#"],
    how: "`[Fact]`, `[Test]`, ...",
  },
  {
    pattern: "^\\s*(?:it|specify|test)\\s+['\"]|^\\s*def test_",
    glob: "*.rb",
    languages: ["Ruby"],
    how: "`it '...'` and `def test_`",
  },
  {
    pattern: "^\\s*public function test\\w*\\(",
    glob: "*.php",
    languages: ["PHP"],
    how: "`function test...`",
  },
];
