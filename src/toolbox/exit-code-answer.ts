/** Some programs answer a question with their exit code: `grep` found nothing, `diff` found a difference. */
import {
  parseShell,
  programOf,
  type ShellNode,
  type SimpleCommand,
  simpleCommandOf,
  simpleCommandsOf,
} from "../permissions/shell-words.ts";

/**
 * Whether `exitCode` is an answer and no failure, judged on the commands of the list that can have given it.
 * When in doubt it is a failure.
 */
export function isAnswer(options: { command: string; exitCode: number; output: string }): boolean {
  if (options.exitCode !== 1) return false;
  const parsed = parseShell(options.command);
  if (!parsed.understood) return false;
  // `set -e` and `set -o pipefail` change which command gives the status.
  if (simpleCommandsOf(parsed.script).some((command) => programOf(command) === "set")) return false;
  const deciding = decidingCommands(parsed.script);
  if (deciding === undefined || !deciding.some(answers)) return false;
  // A `cd` on the way to the answer says so when it fails.
  const isQuietCd = (command: SimpleCommand) => programOf(command) === "cd" && !/\bcd: /.test(options.output);
  return deciding.every((command) => answers(command) || neverFails(command) || isQuietCd(command));
}

/** The simple commands whose failure can be the status of `node`; undefined when that is not so simple. */
function decidingCommands(node: ShellNode | undefined): SimpleCommand[] | undefined {
  switch (node?.type) {
    case "Script":
    case "CompoundList":
      return decidingCommands(node.commands.at(-1));
    case "Statement":
      return node.background === true ? undefined : decidingCommands(node.command);
    case "Pipeline":
      return decidingCommands(node.commands.at(-1));
    case "AndOr":
      return decidingOfList(node.commands, node.operators);
    case "Subshell":
    case "BraceGroup":
      return decidingCommands(node.body);
    case "Redirected":
      return decidingCommands(node.command);
    case "Command":
      return [simpleCommandOf(node)];
    case "TestCommand":
      return [testCommand];
    default:
      return undefined;
  }
}

/** After `||` only what follows can have failed last; before `&&` any of them can. */
function decidingOfList(
  commands: readonly ShellNode[],
  operators: readonly string[],
): SimpleCommand[] | undefined {
  const first = operators.lastIndexOf("||") + 1;
  const deciding = commands.slice(first).map(decidingCommands);
  return deciding.some((found) => found === undefined) ? undefined : deciding.flatMap((found) => found ?? []);
}

const testCommand: SimpleCommand = {
  name: { text: "test", source: "[[", kind: "literal", single: true, mayBeOption: false },
  args: [],
  assignments: [],
  redirects: [],
};

// find ends with 1 when it could not look into some folder, whatever else it found.
const answering = new Set(
  "grep egrep fgrep zgrep rg diff cmp test [ pgrep pidof which type expr find".split(" "),
);
const answeringGit = new Map<string, RegExp | undefined>([
  ["grep", undefined],
  ["check-ignore", undefined],
  ["diff", /^--(exit-code|quiet|no-index)$/],
  ["diff-index", /^--(exit-code|quiet)$/],
  ["diff-files", /^--(exit-code|quiet)$/],
  ["merge-base", /^--is-ancestor$/],
  ["show-ref", /^--(verify|quiet|exists)$|^-q$/],
  ["rev-parse", /^--quiet$|^-q$/],
  ["config", /^--get(-all|-regexp)?$/],
]);

function answers(command: SimpleCommand): boolean {
  const program = programOf(command);
  const args = command.args.map((word) => word.text);
  if (program === undefined) return false;
  if (program === "command") return args[0] === "-v" || args[0] === "-V";
  if (program !== "git") return answering.has(program);
  const subcommand = args.find((arg, index) => !arg.startsWith("-") && args[index - 1] !== "-C");
  if (subcommand === undefined || !answeringGit.has(subcommand)) return false;
  const option = answeringGit.get(subcommand);
  return option === undefined || args.some((arg) => option.test(arg));
}

function neverFails(command: SimpleCommand): boolean {
  return ["echo", "printf", "true", ":", "pwd"].includes(programOf(command) ?? "");
}
