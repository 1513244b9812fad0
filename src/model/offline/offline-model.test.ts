import { describe, expect, it } from "vitest";
import { everydayPlaybooks } from "./offline-model.ts";

/** Which playbook takes a prompt. */
function takerOf(prompt: string): string | undefined {
  const task = { prompt, heard: [prompt], offers: () => true };
  return everydayPlaybooks.find((playbook) => playbook.start(task) !== undefined)?.name;
}

const understood: Readonly<Record<string, readonly string[]>> = {
  "map a repository": [
    "map this repository",
    "Map this repo.",
    "please map the repository",
    "What is this project?",
    "what's this project about",
    "What does this repository do?",
    "give me an overview",
    "Give me an overview of this codebase",
    "describe the code base",
    "Can you describe this project for me?",
    "explain this project",
    "explain this repository to me",
    "summarize the project",
    "tell me about this project",
    "How is this project organized?",
    "what is this?",
    "what's in here",
    "map this",
    "hi, could you please map this repository?",
    "what language is this written in",
    "how do I run this?",
    "how do i build and test this project",
  ],
  "count something": [
    "how many Python files",
    "How many TypeScript files are there in src?",
    "how many files are there",
    "count the functions",
    "count the lines of code",
    "how many lines of Python code are in this repository",
    "how many classes are there",
    "how many tests are there?",
    "count *.json files",
    'how many times is "foo" used',
    "number of go files",
    "how many uses of parseArgs",
  ],
  "list TODOs": [
    "list TODOs",
    "list all todos",
    "find TODO comments",
    "show me the TODOs in src/",
    "count the TODOs",
    "how many TODOs are there?",
    "are there any FIXMEs",
    "TODOs and FIXMEs",
    "what todos are left",
  ],
  "tell what changed lately": [
    "what changed lately",
    "What changed?",
    "what changed this week?",
    "what has changed recently",
    "what's new",
    "show me the last 5 commits",
    "recent changes",
    "git log",
    "what happened in the last 3 days",
    "summarize the recent commits",
  ],
  "run the tests": [
    "run the tests",
    "Run the tests and report",
    "please run all tests",
    "run the test suite",
    "run the unit tests and tell me what fails",
    "do the tests pass?",
    "are the tests green",
    "test this project",
    "check that the tests pass",
    "npm test",
  ],
  "rename a symbol": [
    "rename foo to bar",
    "rename `foo` to `bar` in src/",
    "Rename the function parseArgs to readArguments",
    "please rename class Foo to Bar everywhere",
    "rename foo to bar in Python files",
    "rename foo() to bar() anyway",
    'rename foo to bar in "my folder/x.ts"',
  ],
  "review what is not committed": [
    "review my change",
    "review the uncommitted change",
    "Review my changes, please",
    "review my uncommitted changes before I commit",
    "check the diff",
    "code review",
    "what did I change?",
    "review what is not committed",
  ],
  "find something": [
    "find parseArgs",
    "where is createScope defined?",
    "Where is createScope used",
    "who calls runLoop",
    "which files import zod",
    "which files import ./model.ts",
    "find all uses of Foo",
    "find files named index.ts",
    "list all Python files",
    'search for "hello world"',
    "grep for ECONNRESET",
    "where is the definition of Foo",
    "find the class Foo",
    "which files contain secret",
  ],
  "explain a file or a symbol": [
    "explain src/x.ts",
    "explain main.py",
    "what does function foo do",
    "What does parse_args do?",
    "explain class Bar",
    "explain the file Makefile",
    "what is in src/index.ts",
    "how does createScope work?",
    "describe `foo`",
    "what does Table.show do",
  ],
  "several requests": ["map this repository and list TODOs", "run the tests, then review my change"],
};

const notUnderstood: readonly string[] = [
  "help",
  "hello",
  "what can you do?",
  "who are you",
  "",
  "?",
  "write a test for parseArgs",
  "fix the failing tests",
  "don't run the tests",
  "do not rename foo to bar",
  "map the values of this array to strings",
  "explain quantum physics",
  "explain how authentication works",
  "why do the tests fail",
  "rename the project",
  "rename foo to bar unless it is used in tests",
  "rename foo to bar baz",
  "what changed between v1 and v2",
  "what changed lately and do a barrel roll",
  "review my essay",
  "review the architecture",
  "find a bug in this code and fix it",
  "find the bug that makes the server crash",
  "how many people live in Paris",
  "count to ten",
  "run the server",
  "run the tests that touch the database",
  "delete all files",
  "list TODOs and delete them",
  "translate README.md to French",
  "add a function foo",
  "¿qué hace este proyecto?",
  "what is the meaning of life",
  "make a map of this repository as SVG",
];

describe("the offline model", () => {
  for (const [name, prompts] of Object.entries(understood)) {
    it.each(prompts)(`understands a request to ${name}: %s`, (prompt) => {
      expect(takerOf(prompt)).toBe(name);
    });
  }

  it.each(notUnderstood)("does not claim to understand: %s", (prompt) => {
    expect(takerOf(prompt)).toBe("help");
  });

  it("is not slowed down by long prompts", () => {
    const long = `what is ${"a ".repeat(20_000)}`;
    expect(takerOf(long)).toBe("help");
    expect(takerOf(`find ${"(".repeat(5_000)}`)).toBe("help");
    expect(takerOf(`give me ${"the last ".repeat(5_000)}`)).toBe("help");
  });
});
