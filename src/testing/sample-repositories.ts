/** Small real repositories of different kinds, for tests that need something true to look at. */
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import { createTempWorkspace, type TempWorkspace } from "./temp-workspace.ts";

export type SampleKind = keyof typeof samples;

export interface SampleRepository extends TempWorkspace {
  /** All files that were written, relative, sorted; `.git` is not among them. */
  readonly files: readonly string[];
  git(...args: string[]): Promise<string>;
}

export const sampleKinds = [
  "python-package",
  "go-module",
  "rust-workspace",
  "typescript-monorepo",
  "c-project",
  "documents",
  "odd-names",
  "empty",
] as const satisfies readonly SampleKind[];

/** `git`: with a repository in which everything is committed. */
export async function createSampleRepository(
  kind: SampleKind,
  options: { git?: boolean } = {},
): Promise<SampleRepository> {
  const world = createNodeWorld();
  const workspace = await createTempWorkspace();
  const contents: Readonly<Record<string, string>> = samples[kind];
  for (const [path, text] of Object.entries(contents)) await workspace.write(path, text);
  const git = (...args: string[]) => runGit({ world, cwd: workspace.path, args });
  if (options.git === true) {
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", "--all");
    await git("commit", "--quiet", "--allow-empty", "--message=First version");
  }
  return { ...workspace, files: Object.keys(contents).sort(), git };
}

async function runGit(options: { world: World; cwd: string; args: readonly string[] }): Promise<string> {
  const { world, cwd, args } = options;
  const child = world.processes.spawn("git", args, {
    cwd,
    env: {
      PATH: world.env.PATH,
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "Ada Example",
      GIT_AUTHOR_EMAIL: "ada@example.com",
      GIT_COMMITTER_NAME: "Ada Example",
      GIT_COMMITTER_EMAIL: "ada@example.com",
    },
  });
  const [output, problems, exit] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    child.exited,
  ]);
  if (exit.code !== 0) throw new Error(`git ${args.join(" ")} failed: ${problems}`);
  return output;
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

const mitLicence = `MIT License

Copyright (c) 2024 Ada Example

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files, to deal in the Software
without restriction.
`;

const samples = {
  "python-package": {
    "README.md":
      "# Tally\n\n[![build](https://example.com/b.svg)](https://example.com)\n\nTally counts words in text files and prints a table. It has no dependencies.\n\n## Use\n\nRun it.\n",
    LICENSE: mitLicence,
    "pyproject.toml":
      '[build-system]\nrequires = ["setuptools"]\n\n[project]\nname = "tally"\ndescription = "Counts words"\n\n[project.scripts]\ntally = "tally.cli:main"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "src/tally/__init__.py": '"""Counts words in text files."""\n\nfrom .count import count_words\n',
    "src/tally/__main__.py": "from .cli import main\n\nmain()\n",
    "src/tally/cli.py":
      'import sys\n\nfrom .count import count_words, Table\n\n\ndef main():\n    """Print the table for the files on the command line."""\n    for name in sys.argv[1:]:\n        with open(name) as file:\n            Table(count_words(file.read())).show()\n\n\nif __name__ == "__main__":\n    main()\n',
    "src/tally/count.py":
      'import re\n\nWORD = re.compile(r"\\w+")\n\n\ndef count_words(text):\n    """Return how often each word occurs in text.\n\n    Case does not matter.\n    """\n    counts = {}\n    for word in WORD.findall(text.lower()):\n        counts[word] = counts.get(word, 0) + 1\n    return counts\n\n\n# TODO: count_words_fast without a dict\ndef count_words_twice(text):\n    return count_words(text + text)\n\n\nclass Table:\n    """A table of words and numbers."""\n\n    def __init__(self, counts):\n        self.counts = counts\n\n    def show(self):\n        for word, number in sorted(self.counts.items()):\n            print(word, number)  # FIXME align\n',
    "tests/test_count.py":
      'from tally.count import count_words\n\n\ndef test_counts_each_word():\n    assert count_words("a b a") == {"a": 2, "b": 1}\n\n\ndef test_empty_text_has_no_words():\n    assert count_words("") == {}\n',
    "tests/conftest.py":
      'import pathlib\nimport sys\n\nsys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))\n',
  },
  "go-module": {
    "README.md": "Greeter\n=======\n\nGreeter says hello over HTTP in many languages.\n",
    "go.mod": "module example.com/greeter\n\ngo 1.21\n",
    "cmd/greeterd/main.go":
      'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/greeter/greet"\n)\n\nfunc main() {\n\tfmt.Println(greet.Hello("world"))\n}\n',
    "cmd/greetctl/main.go": 'package main\n\nfunc main() {\n\tprintln("ctl")\n}\n',
    "greet/doc.go": "// Package greet makes greetings in many languages.\npackage greet\n",
    "greet/greet.go":
      'package greet\n\n// Hello returns a greeting for name.\nfunc Hello(name string) string {\n\treturn "Hello, " + name\n}\n\n// Greeter greets.\ntype Greeter struct {\n\tLanguage string\n}\n\nfunc (g Greeter) Greet(name string) string {\n\t// TODO: other languages\n\treturn Hello(name)\n}\n',
    "greet/greet_test.go":
      'package greet\n\nimport "testing"\n\nfunc TestHello(t *testing.T) {\n\tif Hello("x") != "Hello, x" {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
  },
  "rust-workspace": {
    "README.md": "# Pebble\n\nPebble is a small key-value store for **embedded** use.\n",
    "LICENSE-APACHE":
      "                                 Apache License\n                           Version 2.0, January 2004\n",
    "Cargo.toml": '[workspace]\nmembers = ["pebble", "pebble-cli"]\nresolver = "2"\n',
    "pebble/Cargo.toml":
      '[package]\nname = "pebble"\nversion = "0.1.0"\ndescription = "The store itself."\nedition = "2021"\n',
    "pebble/src/lib.rs":
      '//! A key-value store in memory.\n\nmod map;\n\npub use map::Store;\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn stores_a_value() {\n        let mut store = Store::new();\n        store.put("a", "1");\n        assert_eq!(store.get("a"), Some("1"));\n    }\n}\n',
    "pebble/src/map.rs":
      "use std::collections::HashMap;\n\n/// Keeps values by key.\n#[derive(Default)]\npub struct Store {\n    values: HashMap<String, String>,\n}\n\nimpl Store {\n    pub fn new() -> Self {\n        Self::default()\n    }\n\n    /// Keeps `value` under `key`.\n    pub fn put(&mut self, key: &str, value: &str) {\n        self.values.insert(key.to_string(), value.to_string());\n    }\n\n    pub fn get(&self, key: &str) -> Option<&str> {\n        self.values.get(key).map(String::as_str)\n    }\n}\n",
    "pebble-cli/Cargo.toml":
      '[package]\nname = "pebble-cli"\nversion = "0.1.0"\ndescription = "A command line for pebble."\nedition = "2021"\n\n[dependencies]\npebble = { path = "../pebble" }\n',
    "pebble-cli/src/main.rs":
      'use pebble::Store;\n\nfn main() {\n    let mut store = Store::new();\n    store.put("a", "1"); // XXX only one\n    println!("{:?}", store.get("a"));\n}\n',
  },
  "typescript-monorepo": {
    "README.md": "# Harbor\n\nHarbor keeps boats apart: a server and a client for berth bookings.\n",
    "package.json":
      '{\n  "name": "harbor",\n  "private": true,\n  "license": "ISC",\n  "workspaces": ["packages/*"],\n  "scripts": { "build": "tsc -b", "test": "node --test" }\n}\n',
    "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
    "packages/server/package.json":
      '{ "name": "@harbor/server", "description": "Takes bookings.", "main": "./src/index.ts", "bin": { "harbord": "./src/main.ts" } }\n',
    "packages/server/src/index.ts":
      '/** The server side of bookings. */\nimport { Berth } from "./berth.ts";\n\nexport { Berth };\n\nexport function bookBerth(berth: Berth, boat: string): Berth {\n  return { ...berth, boat };\n}\n\nexport const bookBerthLater = (berth: Berth) => berth;\n',
    "packages/server/src/berth.ts":
      "/** A place for one boat. */\nexport interface Berth {\n  readonly number: number;\n  readonly boat?: string;\n}\n",
    "packages/server/src/main.ts":
      'import { bookBerth } from "./index.ts";\n\n// bookBerth is the door to everything.\nconst booked = bookBerth({ number: 1 }, "Ada"); // not bookBerthLater\nconsole.log(booked, "bookBerth");\n',
    "packages/server/src/index.test.ts":
      'import { test } from "node:test";\nimport { bookBerth } from "./index.ts";\n\ntest("books", () => {\n  bookBerth({ number: 2 }, "Bo");\n});\n\ntest("books twice", () => {\n  bookBerth(bookBerth({ number: 2 }, "Bo"), "Cy");\n});\n',
    "packages/client/package.json": '{ "name": "@harbor/client", "description": "Shows berths." }\n',
    "packages/client/src/view.tsx":
      'import React from "react";\n\nexport class BerthView extends React.Component {\n  render() {\n    return null;\n  }\n}\n',
    "docs/guide.md": "# Guide\n\nHow to book a berth, step by step.\n",
  },
  "c-project": {
    README: "ring - a ring buffer in C\n\nThe buffer never allocates after it was made.\n",
    COPYING: "GNU GENERAL PUBLIC LICENSE\nVersion 2, June 1991\n",
    Makefile:
      "CC ?= cc\nall: ring-demo\n\nring-demo: src/main.c src/ring.c\n\t$(CC) -o ring-demo src/main.c src/ring.c\n\ntest: all\n\t./ring-demo\n\n.PHONY: all test\n",
    ".gitignore": "ring-demo\n",
    "src/ring.h": "#ifndef RING_H\n#define RING_H\n\nint ring_push(int value);\n\n#endif\n",
    "src/ring.c":
      '#include "ring.h"\n\nstatic int last;\n\n/* Puts a value into the ring. */\nint ring_push(int value)\n{\n    last = value; /* HACK */\n    return last;\n}\n',
    "src/main.c":
      '#include <stdio.h>\n#include "ring.h"\n\nint main(void)\n{\n    printf("%d\\n", ring_push(3));\n    return 0;\n}\n',
  },
  documents: {
    "notes/2024 plan.md": "# Plan\n\nWhat we want to do this year, in short words.\n",
    "notes/ideas.txt": "one idea\n",
    "letter.md": "Dear reader,\n\nthis is a letter about nothing in particular.\n",
  },
  "odd-names": {
    "-rf": "export const dashed = 1;\n",
    'it\'s here/a "quoted" name.py': "def odd():\n    return 1  # TODO quote\n",
    "größe/münze 💰.ts": "export const coin = 1;\n",
    "[id]/page(1).ts": "export const page = coin;\n",
    "$(touch pwned).ts": "export const coin = 2;\n",
    "a:12:b.ts": "// TODO colon\n",
    "windows.ts": "export const coin = 3;\r\nexport const coins = coin;\r\n",
  },
  empty: {},
} as const satisfies Record<string, Readonly<Record<string, string>>>;
