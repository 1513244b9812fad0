import type { OptionSpec } from "./arguments.ts";
import { doctorOptions, permissionsOptions, runOptions } from "./options.ts";

export const helpTopics = ["doctor", "permissions", "help"] as const;

export function helpText(topic?: (typeof helpTopics)[number]): string {
  switch (topic) {
    case "doctor":
      return doctorHelp();
    case "permissions":
      return permissionsHelp();
    case "help":
      return "Usage: cadre help [COMMAND]\n\nShows the help of cadre, or of one of its commands.\n\nExample:\n  cadre help doctor\n";
    default:
      return mainHelp();
  }
}

function mainHelp(): string {
  return `Usage: cadre [OPTIONS] [PROMPT]
       cadre doctor | permissions | help

Works on a task in the current folder: asks a model, runs the tools it calls,
repeats. In a terminal it is a conversation; with -p, or when the input or the
output is not a terminal, it answers one prompt.

Examples:
  cadre                                     start a conversation
  cadre "explain this repository"           start with a prompt
  cadre -p "list the TODOs in src"          one answer on standard output
  git diff | cadre -p "review this change"  the input follows the prompt
  cadre -p --output-format json "..."       a result object for scripts
  cadre -p --allowed-tools Edit,Bash "fix the failing test"

Commands:
  doctor           check this machine: model, keys, folders, programs
  permissions      say what would be decided on a tool call, and why
  help [COMMAND]   show the help of a command

${groupedOptions()}
Environment:
  ANTHROPIC_API_KEY, OPENAI_API_KEY    the key of a provider; with none, the
                                       built-in offline model answers: it is
                                       rule-based and needs no network
  ANTHROPIC_AUTH_TOKEN                 a bearer token instead of a key
  ANTHROPIC_BASE_URL, OPENAI_BASE_URL  another address with the same protocol
  HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS

Files:
  ~/.cadre/settings.json   settings of the user

Exit codes:
  0    the run ended well
  1    the run failed, or reached a limit (turns, cost, tokens)
  2    wrong usage, invalid settings or input, or nowhere to keep the session
  3    no answer from the model: no key, key refused, not reachable, overloaded
  130  interrupted (Ctrl+C); 143 terminated; 141 the reader of the output left
`;
}

function doctorHelp(): string {
  return `Usage: cadre doctor [OPTIONS]

Checks what Cadre needs and says what to do about what is missing. Nothing is
changed, and no key is printed. The exit code is 1 if something needed fails.

Examples:
  cadre doctor
  cadre doctor --json

Options:
${optionLines(doctorOptions)}`;
}

function permissionsHelp(): string {
  return `Usage: cadre permissions check [OPTIONS] TOOL INPUT-JSON

Says whether a tool call would be allowed, asked or denied, and why. It is
decided by the code that guards every session; nothing is run. The rules of
~/.cadre/settings.json count, unless --no-settings is given. The exit code is 0
whatever the decision, and 2 for wrong usage.

Examples:
  cadre permissions check Bash '{"command":"git push"}'
  cadre permissions check Bash '{"command":"npm test; id"}' \\
    --allow 'Bash(npm test:*)' --json
  cadre permissions check Write '{"file_path":".git/hooks/x"}' \\
    --mode acceptEdits

Rules:
  Bash                       all of a tool
  Bash(npm test)             this command
  Bash(git diff:*)           what begins with these words
  Bash(npm run *)            * stands for anything
  Read(./secrets/**)         paths as in .gitignore, from the project's folder
  Edit(//etc/**)             // is the root of the file system, ~ the home
  WebFetch(domain:host.org)  this host and those below it
  mcp__server__tool          a tool of a server; mcp__server for all of them
  Agent(Explore)             a type of agent; Skill(name) a skill
Deny wins over ask, and ask over allow.

Options:
${optionLines(permissionsOptions)}`;
}

type Group = readonly [title: string, names: readonly (typeof runOptions)[number]["name"][]];

/** Which options are told together; what stands in no group is told last. */
const groups: readonly Group[] = [
  [
    "Prompt and answer",
    ["print", "prompt-file", "output-format", "input-format", "include-partial-messages", "json-schema"],
  ],
  [
    "Model",
    ["model", "system-prompt", "system-prompt-file", "append-system-prompt", "max-turns", "max-cost"],
  ],
  [
    "Permissions",
    [
      "allowed-tools",
      "disallowed-tools",
      "permission-mode",
      "dangerously-skip-permissions",
      "permission-prompt-tool",
    ],
  ],
  ["Session", ["cwd", "add-dir", "settings", "session-id", "no-session-persistence"]],
];

function groupedOptions(): string {
  const grouped = new Set<string>(groups.flatMap(([, names]) => names));
  const others = runOptions.map(({ name }) => name).filter((name) => !grouped.has(name));
  return [...groups, ["Other options", others] as const]
    .map(([title, names]) => {
      const specs = names.flatMap((name) => runOptions.filter((spec) => spec.name === name));
      return `${title}:\n${optionLines(specs)}`;
    })
    .join("\n");
}

const width = 79;
/** Where the explanations begin. */
const column = 32;

function optionLines(table: readonly OptionSpec[]): string {
  return table
    .map((spec) => {
      const short = spec.short === undefined ? "    " : `-${spec.short}, `;
      const value = spec.value === undefined ? "" : ` ${spec.value}`;
      const option = `  ${short}--${spec.name}${value}`;
      const also = (spec.aliases ?? []).map((alias) => ` (also --${alias})`).join("");
      const [first = "", ...rest] = wrap(spec.help + also);
      const indented = rest.map((line) => `${" ".repeat(column)}${line}\n`).join("");
      const gap = option.length < column - 1 ? option.padEnd(column) : `${option}\n${" ".repeat(column)}`;
      return `${gap}${first}\n${indented}`;
    })
    .join("");
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && column + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
