import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { testDescription } from "../notified.ts";
import type { Asking, Task } from "../playbook.ts";
import { readProject } from "../project.ts";
import type { ProjectCommand } from "../project-command.ts";
import { surveyFolder } from "../survey.ts";
import { failureLines, readTestReport, type TestReport } from "../test-report.ts";
import { type CommandOutput, run, shellQuoted } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";

export const runTests = everydayPlaybook({
  name: "run the tests",
  needs: ["Glob", "Read", "Bash"],
  acts: true,
  understand: understandRun,
  play: (task, request) => playRun(task, request, {}),
  playBeside: (task, request) => playRun(task, request, { run_in_background: true }),
});

interface TestRequest {
  /** The program that was named, such as pytest. */
  readonly tool?: string;
}

const tests = "(?:tests?|test[- ]?suites?|unit[- ]?tests?|specs?|checks)";
const whose =
  "(?:(?:all|the|my|our|its|this|these|project'?s|repo(?:sitory)?'?s|unit|whole|full|entire|complete|of|existing|every) )*";
const pass = "(?:pass(?:es|ing)?|green|ok|okay|fine|work(?:s|ing)?|run(?:s|ning)?|succeed(?:s|ing)?|clean)";
const asksToRun = new RegExp(
  [
    `^(?:(?:re-?)?run|execute|start|launch|do) ${whose}${tests}(?: (?:again|now|suite|once more|for (?:this|the|me)(?: \\w+)?|of (?:this|the) \\w+|in (?:this|the) \\w+))*(?:,? and (?:report|tell|show|summari[sz]e|give|see|say|check)\\b.*)?$`,
    `^(?:do|does|are|did|is|will) ${whose}(?:${tests}|build|everything)(?: all| still| currently| now)* ${pass}$`,
    `^(?:does|is) (?:it|everything|${whose}(?:code|project|repo(?:sitory)?|build))(?: still)? ${pass}(?: (?:the |all |its )*${tests})?$`,
    `^(?:check|see|verify|make sure)(?: (?:if|that|whether))? ${whose}${tests}(?: (?:still )?${pass}| are (?:still )?${pass})?$`,
    "^test (?:this|the|my|our)(?: (?:project|repo(?:sitory)?|code|code ?base|package))?$|^test it$|^tests?$",
  ].join("|"),
  "i",
);
const asksForTool =
  /^(?:run |execute )?((?:npm|pnpm|yarn|bun)(?: run)? test|pytest|python -m (?:pytest|unittest)|cargo test|go test|make (?:test|check)|mvn test|(?:\.\/)?gradlew? test|tox|nox|vitest|jest|mocha|rspec|rake(?: test| spec)?|phpunit|ctest|dotnet test|mix test|swift test|deno test)$/i;

function understandRun(wording: Wording): TestRequest | undefined {
  const tool = asksForTool.exec(wording.core)?.[1];
  if (tool !== undefined) return { tool: tool.toLowerCase() };
  return asksToRun.test(wording.core) || asksToRun.test(wording.text) ? {} : undefined;
}

const longestRunMs = 600_000;

function* playRun(task: Task, request: TestRequest, how: { run_in_background?: true }): Asking<string> {
  const survey = yield* surveyFolder(task, "I look for the command that runs the tests.");
  const project = yield* readProject(survey);
  const tests = project.commands.filter((command) => command.purpose === "test");
  const meant = tests.filter((test) => request.tool === undefined || runsWith(test, request.tool));
  const [test] = meant;
  if (test === undefined && request.tool !== undefined && tests.length > 0)
    return [
      `No file here says that the tests run with \`${request.tool}\`, so I ran nothing. What they say:`,
      ...alternatives(tests).slice(2),
    ].join("\n");
  if (test === undefined)
    return "I found no file that says how the tests are run (package.json scripts, Makefile targets, pyproject.toml, Cargo.toml, go.mod and the like), so I ran nothing.";
  const others = tests.filter((other) => other !== test);
  const command =
    test.folder === "" ? test.command : `(cd -- ${shellQuoted(test.folder)} && ${test.command})`;
  const output = yield* run(
    { command, description: testDescription, ...(how.run_in_background ? how : { timeout: longestRunMs }) },
    `${test.from} says: \`${command}\`.`,
  );
  if (output.denied) return deniedAnswer(command, test, output);
  if (output.taskId !== undefined)
    return [
      `The tests run in the background, as task ${output.taskId}: \`${command}\` (${test.from}). What comes of them is told when they have ended.`,
      ...alternatives(others),
    ].join("\n");
  return [...report(command, test, output), ...alternatives(others)].join("\n");
}

/** `pytest` is what `python -m pytest` runs. */
function runsWith(test: ProjectCommand, tool: string): boolean {
  const words = tool.replace(/^(\w+) run (?=\w)/, "$1 ");
  return test.command.replace(/ run (?=test)/, " ").includes(words);
}

function deniedAnswer(command: string, test: ProjectCommand, output: CommandOutput): string {
  return [
    `The tests would run with \`${command}\` (${test.from}), but I was not allowed to run it:`,
    "",
    `> ${output.text.split("\n")[0] ?? ""}`,
    "",
    "Nothing was run. To allow it:",
    "",
    '    cadre -p "run the tests" --allowed-tools Bash',
  ].join("\n");
}

function report(command: string, test: ProjectCommand, output: CommandOutput): string[] {
  const found = readTestReport(output.text);
  const verdict = output.exitCode === 0 ? successOf(found) : verdictOf(output.text, found?.failed);
  const counts = found === undefined ? [] : countsOf(found);
  const failures = output.exitCode === 0 ? [] : failureLines(output.text);
  return [
    `**${verdict}** (exit code ${output.exitCode}).`,
    "",
    `- Command: \`${command}\` (${test.from})`,
    found === undefined
      ? "- Counts: the output is of no runner that I can read."
      : `- Counts: ${counts.join(", ") || "the runner printed none"} (${found.runner})`,
    ...(output.cut ? ["- The output was cut; counts are of what I could see."] : []),
    ...(failures.length === 0 ? [] : ["", "First signs of failure:", ...failures.map((line) => `- ${line}`)]),
    "",
    ...endOf(output.text),
  ];
}

function endOf(output: string): string[] {
  if (output === "") return ["It printed nothing."];
  const lines = output.split("\n").slice(-12);
  return ["The end of the output:", "", ...lines.map((line) => `    ${line.slice(0, 160)}`.trimEnd())];
}

/** That a command ended well does not say that a test ran. */
function successOf(found: TestReport | undefined): string {
  if (found === undefined) return "The test command ended well";
  const ran = (found.passed ?? 0) + (found.failed ?? 0);
  return found.passed !== undefined && ran === 0 ? "No test ran" : "The tests pass";
}

/** A non-zero exit is not always a failing test. */
function verdictOf(output: string, failed: number | undefined): string {
  if (failed !== undefined && failed > 0) return `${countOf(failed, "test")} failed`;
  if (/command not found|not found|No such file|No module named|cannot find|ENOENT/i.test(output))
    return "The test command could not do its work";
  if (/timed? ?out/i.test(output)) return "The test command ran out of time";
  return "The test command failed";
}

function countsOf(found: { passed?: number; failed?: number; skipped?: number }): string[] {
  return (["passed", "failed", "skipped"] as const).flatMap((key) =>
    found[key] === undefined ? [] : [`${found[key]} ${key}`],
  );
}

function alternatives(others: readonly ProjectCommand[]): string[] {
  if (others.length === 0) return [];
  const shown = others
    .slice(0, 8)
    .map(({ command, from, folder }) => `- \`${command}\`${folder === "" ? "" : ` in ${folder}/`} (${from})`);
  return ["", "Other test commands here, which I did not run:", ...shown];
}
