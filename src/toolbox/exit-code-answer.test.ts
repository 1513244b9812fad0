import { expect, test } from "vitest";
import { isAnswer } from "./exit-code-answer.ts";

const answering = [
  "grep foo a.txt",
  "/usr/bin/grep foo a.txt",
  "cat a | grep foo",
  "ls; grep foo a",
  "cd src && grep -r foo .",
  "ls || grep foo a",
  "false || grep foo a",
  "grep foo a && echo found",
  "! grep foo a",
  "(grep foo a)",
  "{ rg foo; } 2>/dev/null",
  "diff a b",
  "test -f a",
  "[ -f a ]",
  "[[ -f a ]]",
  "git diff --quiet",
  "git -C sub diff --exit-code HEAD",
  "git grep foo",
  "git merge-base --is-ancestor a b",
  "pgrep node",
  "which rg",
  "command -v rg",
  "find / -name x",
];

const failing = [
  "npm test",
  "npm test && grep foo a",
  "grep foo a && npm test",
  "grep foo a; npm test",
  "grep foo a | node x.js",
  "git diff",
  "git commit -m grep",
  "command grep-all",
  "set -o pipefail; npm test | grep foo",
  "if grep foo a; then npm test; fi",
  "grep 'foo",
  "$x foo",
  "false",
  "echo a > /nowhere/b",
  "grep foo a &",
  "f() { grep foo a; }; f",
];

test.each(answering)("1 from %s is an answer", (command) => {
  expect(isAnswer({ command, exitCode: 1, output: "" })).toBe(true);
});

test.each(failing)("1 from %s is a failure", (command) => {
  expect(isAnswer({ command, exitCode: 1, output: "" })).toBe(false);
});

test("2 from grep is a failure", () => {
  expect(isAnswer({ command: "grep foo nowhere", exitCode: 2, output: "" })).toBe(false);
});

test("a cd that failed on the way is a failure", () => {
  const output = "bash: line 1: cd: nowhere: No such file or directory\n";
  expect(isAnswer({ command: "cd nowhere && grep foo a", exitCode: 1, output })).toBe(false);
});
