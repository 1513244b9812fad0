/** What the output of the usual test runners says: how many passed and failed, and where. */
export interface TestReport {
  readonly runner: string;
  readonly passed?: number;
  readonly failed?: number;
  readonly skipped?: number;
}

interface RunnerRule {
  readonly runner: string;
  readonly matches: RegExp;
  read(output: string): Omit<TestReport, "runner">;
}

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const rules: readonly RunnerRule[] = [
  {
    runner: "pytest",
    matches: /^=+ .*\b(?:passed|failed|error|errors|no tests ran|skipped)\b.* in [\d.]+s/m,
    read(output) {
      const line = /^=+ (.*\bin [\d.]+s.*?)=*$/gm;
      const last = [...output.matchAll(line)].at(-1)?.[1] ?? "";
      const failed =
        (number(/(\d+) failed/.exec(last)?.[1]) ?? 0) + (number(/(\d+) errors?/.exec(last)?.[1]) ?? 0);
      return {
        passed: number(/(\d+) passed/.exec(last)?.[1]) ?? 0,
        failed,
        skipped: number(/(\d+) skipped/.exec(last)?.[1]),
      };
    },
  },
  {
    runner: "pytest",
    matches: /^\d+ (?:passed|failed)\b.* in [\d.]+s/m,
    read(output) {
      const last = [...output.matchAll(/^(?:\d+ \w+,? ?)+ in [\d.]+s.*$/gm)].at(-1)?.[0] ?? "";
      return {
        passed: number(/(\d+) passed/.exec(last)?.[1]) ?? 0,
        failed: number(/(\d+) failed/.exec(last)?.[1]) ?? 0,
      };
    },
  },
  {
    runner: "cargo test",
    matches: /^test result: /m,
    read(output) {
      const results = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
      const sum = (group: number) => results.reduce((total, match) => total + Number(match[group]), 0);
      return { passed: sum(1), failed: sum(2), skipped: sum(3) };
    },
  },
  {
    runner: "vitest",
    matches: /^\s*Tests\s+.*\(\d+\)/m,
    read(output) {
      const line = /^\s*Tests\s+(.*)$/m.exec(output)?.[1] ?? "";
      return {
        passed: number(/(\d+) passed/.exec(line)?.[1]) ?? 0,
        failed: number(/(\d+) failed/.exec(line)?.[1]) ?? 0,
        skipped: number(/(\d+) skipped/.exec(line)?.[1]),
      };
    },
  },
  {
    runner: "jest",
    matches: /^Tests:\s+.*\d+ total/m,
    read(output) {
      const line = /^Tests:\s+(.*)$/m.exec(output)?.[1] ?? "";
      return {
        passed: number(/(\d+) passed/.exec(line)?.[1]) ?? 0,
        failed: number(/(\d+) failed/.exec(line)?.[1]) ?? 0,
        skipped: number(/(\d+) skipped/.exec(line)?.[1]),
      };
    },
  },
  {
    runner: "node --test",
    matches: /^[#ℹ] tests \d+/m,
    read(output) {
      const field = (name: string) => number(new RegExp(`^[#ℹ] ${name} (\\d+)`, "m").exec(output)?.[1]);
      return { passed: field("pass"), failed: field("fail"), skipped: field("skipped") };
    },
  },
  {
    runner: "mocha",
    matches: /^\s*\d+ passing/m,
    read: (output) => ({
      passed: number(/^\s*(\d+) passing/m.exec(output)?.[1]),
      failed: number(/^\s*(\d+) failing/m.exec(output)?.[1]) ?? 0,
      skipped: number(/^\s*(\d+) pending/m.exec(output)?.[1]),
    }),
  },
  {
    runner: "unittest",
    matches: /^Ran \d+ tests? in [\d.]+s/m,
    read(output) {
      const ran = Number(/^Ran (\d+) tests?/m.exec(output)?.[1]);
      const failed =
        (number(/failures=(\d+)/.exec(output)?.[1]) ?? 0) + (number(/errors=(\d+)/.exec(output)?.[1]) ?? 0);
      const skipped = number(/skipped=(\d+)/.exec(output)?.[1]);
      return { passed: ran - failed - (skipped ?? 0), failed, skipped };
    },
  },
  {
    runner: "maven",
    matches: /^(?:\[\w+\] )?Tests run: \d+, Failures: \d+/m,
    read(output) {
      const last = [
        ...output.matchAll(/Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)/g),
      ].at(-1);
      const [run = 0, failures = 0, errors = 0, skipped = 0] = (last ?? []).slice(1).map(Number);
      return { passed: run - failures - errors - skipped, failed: failures + errors, skipped };
    },
  },
  {
    runner: "rspec",
    matches: /^\d+ examples?, \d+ failures?/m,
    read(output) {
      const [run = 0, failed = 0] = (/^(\d+) examples?, (\d+) failures?/m.exec(output) ?? [])
        .slice(1)
        .map(Number);
      return { passed: run - failed, failed };
    },
  },
  {
    runner: "ctest",
    matches: /^\d+% tests passed, \d+ tests? failed out of \d+/m,
    read(output) {
      const [failed = 0, all = 0] = (/tests passed, (\d+) tests? failed out of (\d+)/.exec(output) ?? [])
        .slice(1)
        .map(Number);
      return { passed: all - failed, failed };
    },
  },
  {
    runner: "minitest",
    matches: /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/m,
    read(output) {
      const [run = 0, failures = 0, errors = 0, skipped = 0] = (
        /^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, \d+ pendings, \d+ omissions)?(?:, (\d+) skips)?/m.exec(
          output,
        ) ?? []
      )
        .slice(1)
        .map((part) => Number(part ?? 0));
      return { passed: run - failures - errors - skipped, failed: failures + errors, skipped };
    },
  },
  {
    runner: "phpunit",
    matches: /^OK \(\d+ tests?, \d+ assertions?\)|^Tests: \d+, Assertions: \d+/m,
    read(output) {
      const passed = number(/^OK \((\d+) tests?/m.exec(output)?.[1]);
      if (passed !== undefined) return { passed, failed: 0 };
      const field = (name: string) => number(new RegExp(`\\b${name}: (\\d+)`).exec(output)?.[1]) ?? 0;
      const failed = field("Failures") + field("Errors");
      const skipped = field("Skipped");
      return { passed: field("Tests") - failed - skipped, failed, skipped };
    },
  },
  {
    runner: "deno test",
    matches: /^(?:ok|FAILED) \| \d+ passed/m,
    read: (output) => ({
      passed: number(/\| (\d+) passed/.exec(output)?.[1]),
      failed: number(/\| (\d+) failed/.exec(output)?.[1]),
    }),
  },
  {
    runner: "bun test",
    matches: /^\s*\d+ pass$/m,
    read: (output) => ({
      passed: number(/^\s*(\d+) pass$/m.exec(output)?.[1]),
      failed: number(/^\s*(\d+) fail$/m.exec(output)?.[1]) ?? 0,
    }),
  },
  {
    runner: "swift test",
    matches: /^\s*Executed \d+ tests?, with \d+ failures?/m,
    read(output) {
      const last = [...output.matchAll(/Executed (\d+) tests?, with (\d+) failures?/g)].at(-1);
      const [run = 0, failed = 0] = (last ?? []).slice(1).map(Number);
      return { passed: run - failed, failed };
    },
  },
  {
    runner: "mix test",
    matches: /^\d+ tests?, \d+ failures?/m,
    read(output) {
      const [run = 0, failed = 0] = (/^(\d+) tests?, (\d+) failures?/m.exec(output) ?? [])
        .slice(1)
        .map(Number);
      return { passed: run - failed, failed };
    },
  },
  {
    runner: "meson test",
    matches: /^Ok:\s+\d+/m,
    read: (output) => ({
      passed: number(/^Ok:\s+(\d+)/m.exec(output)?.[1]),
      failed: number(/^Fail:\s+(\d+)/m.exec(output)?.[1]),
      skipped: number(/^Skipped:\s+(\d+)/m.exec(output)?.[1]),
    }),
  },
  {
    runner: "dotnet test",
    matches: /Failed:\s+\d+, Passed:\s+\d+/,
    read: (output) => ({
      passed: number(/Passed:\s+(\d+)/.exec(output)?.[1]),
      failed: number(/Failed:\s+(\d+)/.exec(output)?.[1]),
      skipped: number(/Skipped:\s+(\d+)/.exec(output)?.[1]),
    }),
  },
  {
    runner: "go test",
    matches: /^(?:ok|FAIL|---|\?)\s+\S+/m,
    read(output) {
      const passedTests = output.match(/^\s*--- PASS: /gm)?.length;
      const failedTests = output.match(/^\s*--- FAIL: /gm)?.length ?? 0;
      return { ...(passedTests === undefined ? {} : { passed: passedTests }), failed: failedTests };
    },
  },
];

/** Undefined when no known runner speaks in it. */
export function readTestReport(output: string): TestReport | undefined {
  const plain = withoutColour(output);
  const rule = rules.find((candidate) => candidate.matches.test(plain));
  return rule === undefined ? undefined : { runner: rule.runner, ...rule.read(plain) };
}

const failureLimit = 10;

/** Lines that name a failure or the place of one. */
export function failureLines(output: string): string[] {
  const found = withoutColour(output)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) =>
      /^(?:FAILED |ERROR |--- FAIL: |FAIL[: ]|FAIL\s+\S+|not ok |✖ |✗ |× |●\s|AssertionError|E\s{2,}\S|error(?:\[E\d+\])?:|Error:|thread '.*' panicked at|test .* \.\.\. FAILED|Assertion .* failed)|^\S+\.(?:py|go|rs|ts|tsx|js|jsx|mjs|c|cc|cpp|java|rb|php|cs):\d+(?::\d+)?(?::|$)/.test(
        line,
      ),
    )
    .map((line) => line.slice(0, 200));
  return [...new Set(found)].slice(0, failureLimit);
}

function withoutColour(text: string): string {
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}
