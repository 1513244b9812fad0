import type { OptionSpec } from "./arguments.ts";
import {
  agentsOptions,
  doctorOptions,
  permissionsOptions,
  runOptions,
  sessionsOptions,
  tasksOptions,
} from "./options.ts";

export const helpTopics = ["agents", "doctor", "permissions", "sessions", "tasks", "help"] as const;

export function helpText(topic?: (typeof helpTopics)[number]): string {
  switch (topic) {
    case "agents":
      return agentsHelp();
    case "doctor":
      return doctorHelp();
    case "permissions":
      return permissionsHelp();
    case "sessions":
      return sessionsHelp();
    case "tasks":
      return tasksHelp();
    case "help":
      return "Usage: cadre help [COMMAND]\n\nShows the help of cadre, or of one of its commands.\n\nExample:\n  cadre help doctor\n";
    default:
      return mainHelp();
  }
}

function mainHelp(): string {
  return `Usage: cadre [OPTIONS] [PROMPT]
       cadre agents | doctor | permissions | sessions | tasks | help

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
  cadre --continue                          go on with the latest session

With -p, background tasks are waited for: what they bring is answered, and the
result is the last answer.

Commands:
  agents           list the agents; show, check and write them
  doctor           check this machine: model, keys, folders, programs
  permissions      say what would be decided on a tool call, and why
  sessions         list the sessions that can be gone on with
  tasks            list the agents and shells of sessions; show and stop them
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
  1    the run failed, or reached a limit (turns, cost, tokens, time)
  2    wrong usage, invalid settings or input, or nowhere to keep the session
  3    no answer from the model: no key, key refused, not reachable, overloaded
  130  interrupted (Ctrl+C); 143 terminated; 141 the reader of the output left
`;
}

function agentsHelp(): string {
  return `Usage: cadre agents [OPTIONS]              list the agents of this folder
       cadre agents show [OPTIONS] NAME    one agent, value by value
       cadre agents doctor [OPTIONS]       what is wrong with agent files
       cadre agents new [OPTIONS] [NAME]   write an agent file

An agent is a Markdown file with a name and a description at its top; the rest
is its instructions. From weak to strong: built in, plugins, ~/.cadre/agents,
.cadre/agents of the project, --agents; .claude/agents is read too. Of several
with the same name the strongest counts. The exit code of doctor is 1 if a file
could not be loaded, that of new if the file exists and --force is not given.

Examples:
  cadre agents
  cadre agents show Explore
  cadre agents doctor --json
  cadre agents new
  cadre agents new --name reviewer --description "Reviews a change" \\
    --tools Read,Grep,Glob --prompt-file reviewer.txt
  cadre agents new --from "finds slow database queries and explains them"

Options:
${optionLines(agentsOptions)}`;
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

function sessionsHelp(): string {
  return `Usage: cadre sessions [OPTIONS]

Lists the sessions of this folder, the latest first: id, when it was last
written, how many messages it has, and its first prompt.

Examples:
  cadre sessions
  cadre sessions --all --json
  cadre --resume 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed

Options:
${optionLines(sessionsOptions)}`;
}

function tasksHelp(): string {
  return `Usage: cadre tasks [OPTIONS]                  list tasks, the latest first
       cadre tasks show [OPTIONS] ID          all that is known of a task
       cadre tasks output [OPTIONS] ID        what it has written or done
       cadre tasks stop [OPTIONS] ID...       stop tasks that run
       cadre tasks stop --session ID          stop all in the background

A task is an agent or a shell command that a session has started: of sessions
that run, and of those that are over. The beginning of an id is enough, if no
other task begins so. A task is interrupted if its process ended before it did.
The exit code is 1 if there is no such task, or it cannot be stopped because it
does not run; 2 for wrong usage.

Examples:
  cadre tasks
  cadre tasks --all --running
  cadre tasks show a4j1f9s0
  cadre tasks output --follow a4j1f9s0
  cadre tasks stop a4j1f9s0

Options:
${optionLines(tasksOptions)}`;
}

type Group = readonly [title: string, names: readonly (typeof runOptions)[number]["name"][]];

/** Which options are told together; what stands in no group is told last. */
const groups: readonly Group[] = [
  [
    "Prompt and answer",
    [
      "print",
      "prompt-file",
      "output-format",
      "input-format",
      "include-partial-messages",
      "json-schema",
      "no-wait",
    ],
  ],
  ["Model", ["model", "system-prompt", "system-prompt-file", "append-system-prompt"]],
  ["Limits", ["max-turns", "max-cost", "max-tokens", "max-minutes"]],
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
  [
    "Session",
    [
      "cwd",
      "add-dir",
      "settings",
      "continue",
      "resume",
      "fork-session",
      "session-id",
      "no-session-persistence",
    ],
  ],
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
