import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-purpose.ts";
import type { Asking, Task } from "../playbook.ts";
import { readProject } from "../project.ts";
import type { ProjectCommand } from "../project-command.ts";
import { surveyFolder } from "../survey.ts";
import { failureLines, readTestReport } from "../test-report.ts";
import { type CommandOutput, run, shellQuoted } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";

export const runTests = everydayPlaybook({
  name: "run the tests",
  needs: ["Glob", "Read", "Bash"],
  understand: understandRun,
  play: playRun,
});

const asksToRun =
  /^(?:(?:re-?)?run|execute|start)(?: (?:all|the|my|our|its|this|project'?s|repo(?:sitory)?'?s|unit|whole|full|complete|of))* (?:tests?|test ?suite|specs?|checks)(?: (?:again|now|here|suite|for (?:this|the|me)(?: \w+)?|of (?:this|the) \w+|in (?:this|the) \w+))*(?:,? and (?:report|tell|show|summari[sz]e|give|see|say|check)\b.*)?$|^(?:do|are|did) (?:all )?(?:the |my |our )?tests? (?:pass|passing|green|ok|work|working|run)$|^(?:npm test|test (?:this|the|my) (?:project|repo(?:sitory)?|code|code ?base|package)|test (?:it|this)|check (?:if|that|whether) (?:all )?(?:the )?tests (?:pass|are (?:green|passing|ok)))$|^(?:is the (?:build|test suite) (?:green|passing|ok))$/i;

function understandRun(wording: Wording): true | undefined {
  return asksToRun.test(wording.text) ? true : undefined;
}

const longestRunMs = 600_000;

function* playRun(task: Task): Asking<string> {
  const survey = yield* surveyFolder(task, "I look for the command that runs the tests.");
  const project = yield* readProject(survey);
  const tests = project.commands.filter((command) => command.purpose === "test");
  const [test, ...others] = tests;
  if (test === undefined)
    return "I found no file that says how the tests are run (package.json scripts, Makefile targets, pyproject.toml, Cargo.toml, go.mod and the like), so I ran nothing.";
  const command =
    test.folder === "" ? test.command : `(cd -- ${shellQuoted(test.folder)} && ${test.command})`;
  const output = yield* run(
    { command, description: "Run the tests", timeout: longestRunMs },
    `${test.from} says: \`${command}\`.`,
  );
  if (output.denied) return deniedAnswer(command, test, output);
  return [...report(command, test, output), ...alternatives(others)].join("\n");
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
  const verdict = output.exitCode === 0 ? "The tests pass" : verdictOf(output.text, found?.failed);
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
    "The end of the output:",
    "",
    ...output.text
      .split("\n")
      .slice(-12)
      .map((line) => `    ${line.slice(0, 160)}`),
  ];
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
