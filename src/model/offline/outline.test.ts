import { describe, expect, it } from "vitest";
import { docOfDefinition, docOfFile, firstParagraph, firstSentence } from "./doc-comment.ts";
import { definitionPattern, importsOf, outlineOf } from "./outline.ts";

function names(path: string, text: string): string[] {
  return (outlineOf(path, text.split("\n")) ?? []).map((one) => `${one.line} ${one.kind} ${one.name}`);
}

describe("an outline", () => {
  it("of TypeScript", () => {
    const text = [
      "/* function inComment() {} */",
      "export async function run<T>(",
      "  a: T,",
      "): Promise<void> {}",
      "export const add = (a: number) => a + 1;",
      "const limit = 3;",
      "export abstract class Foo {}",
      "export interface Bar {}",
      "type Baz<T> = T;",
      "// function commented() {}",
      "if (x) {}",
    ].join("\n");
    expect(names("a.ts", text)).toEqual([
      "2 function run",
      "5 function add",
      "6 constant limit",
      "7 class Foo",
      "8 interface Bar",
      "9 type Baz",
    ]);
    expect(outlineOf("a.ts", text.split("\n"))?.[0]?.signature).toBe(
      "export async function run<T>( a: T, ): Promise<void>",
    );
  });

  it("of Python, with methods told from functions and nothing out of long strings", () => {
    const text =
      'LIMIT = 3\nclass A:\n    """\n    def no(): pass\n    """\n    def method(self):\n        def inner(): pass\nasync def f(): pass\nif x:\n    def g(): pass';
    expect(names("a.py", text)).toEqual([
      "1 constant LIMIT",
      "2 class A",
      "6 method method",
      "7 function inner",
      "8 function f",
      "10 function g",
    ]);
  });

  it.each([
    [
      "a.go",
      "func (s *S) Do(x int) error {\nfunc New() *S {\ntype S struct {",
      ["1 method Do", "2 function New", "3 type S"],
    ],
    [
      "a.rs",
      "pub(crate) async fn f() {}\npub struct S;\nimpl S {}\nmacro_rules! m {",
      ["1 function f", "2 struct S", "4 macro m"],
    ],
    [
      "A.java",
      "public class A {\n  public static void main(String[] args) {\n    return;",
      ["1 class A", "2 method main"],
    ],
    [
      "a.c",
      "#define N 3\nstatic int f(int a)\n{\n  if (a) {\n  return g(a);\n}\nint g(int a);",
      ["1 macro N", "2 function f"],
    ],
    ["a.cpp", "class A : public B {\nstd::string A::name() const {", ["1 class A"]],
    ["a.rb", "module M\n  class C\n    def self.x?\n", ["1 module M", "2 class C", "3 method x?"]],
    ["a.php", "<?php\nfinal class A {\n  private function b() {", ["2 class A", "3 function b"]],
    ["a.sh", "#!/bin/sh\nfunction a {\nb-c() {", ["2 function a", "3 function b-c"]],
    ["A.cs", "public sealed class A {\n  public async Task<int> Run(int x) {", ["1 class A", "2 method Run"]],
  ])("of %s", (path, text, expected) => {
    expect(names(path, text)).toEqual(expected.filter((name) => name !== ""));
  });

  it("is not claimed for a language without rules", () => {
    expect(outlineOf("a.md", ["# x"])).toBeUndefined();
  });

  it("lists what is imported", () => {
    expect(
      importsOf("a.ts", [
        'import { a } from "./a.ts";',
        'import "b";',
        'const c = require("c");',
        'export * from "d";',
      ]),
    ).toEqual(["./a.ts", "b", "c", "d"]);
    expect(importsOf("a.py", ["from .x import y", "import os.path"])).toEqual([".x", "os.path"]);
    expect(importsOf("a.go", ['import "fmt"', "import (", '\tx "example.com/x"', ")"])).toEqual([
      "fmt",
      "example.com/x",
    ]);
  });

  it("has a pattern that proposes every definition of a name, special characters included", () => {
    for (const line of ["export function $a() {", "const $a = 1", "\tint *$a(void)", "  async def $a(x):"])
      expect(new RegExp(definitionPattern("$a")).test(line)).toBe(true);
  });
});

describe("what authors say", () => {
  it("stands above a definition, or below it in Python", () => {
    expect(
      docOfDefinition(
        "a.ts",
        ["/**", " * Adds.", " * @param a one", " */", "@Dec()", "function add() {}"],
        6,
      ),
    ).toBe("Adds.");
    expect(docOfDefinition("a.go", ["// Hello greets", "// people.", "func Hello() {}"], 3)).toBe(
      "Hello greets people.",
    );
    expect(
      docOfDefinition("a.py", ["def f(", "    a,", "):", '    """Do it.', "", "    More.", '    """'], 1),
    ).toBe("Do it.");
    expect(docOfDefinition("a.py", ["X = 1", "", "def f():", '    """Not about X."""'], 1)).toBeUndefined();
    expect(docOfDefinition("a.ts", ["const b = 1;", "function add() {}"], 2)).toBeUndefined();
  });

  it("opens a file, licence headers left out", () => {
    expect(docOfFile("a.ts", ["// Copyright 2024 X", "", "/** Owns the clock. */", 'import "x";'])).toBe(
      "Owns the clock.",
    );
    expect(docOfFile("a.py", ["#!/usr/bin/env python", "# Author: X", "", '"""Counts."""'])).toBe("Counts.");
    expect(docOfFile("a.rs", ["//! A store.", "", "mod x;"])).toBe("A store.");
    expect(docOfFile("a.ts", ["/** About f. */", "function f() {}"])).toBeUndefined();
    expect(docOfFile("a.ts", [])).toBeUndefined();
  });

  it("is the first paragraph of prose in a text", () => {
    expect(
      firstParagraph([
        "# T",
        "",
        "[![b](x)](y)",
        "<p>",
        "",
        "```",
        "not this one here",
        "```",
        "It **does** [things](x)",
        "well.",
        "",
        "More text here.",
      ]),
    ).toBe("It does things well.");
    expect(firstParagraph(["Title", "=====", "", "A line of prose."])).toBe("A line of prose.");
    expect(firstParagraph(["# Only", "- a list"])).toBeUndefined();
  });

  it("is cut after a sentence, not inside a name", () => {
    expect(firstSentence("Uses v1.2 of x.js well. Then more.")).toBe("Uses v1.2 of x.js well.");
    expect(firstSentence("x".repeat(500)).length).toBe(160);
  });
});
