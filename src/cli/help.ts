import type { OptionSpec } from "./arguments.ts";
import { doctorOptions, runOptions } from "./options.ts";

export const helpTopics = ["doctor", "help"] as const;

export function helpText(topic?: (typeof helpTopics)[number]): string {
  switch (topic) {
    case "doctor":
      return doctorHelp();
    case "help":
      return "Usage: cadre help [COMMAND]\n\nShows the help of cadre, or of one of its commands.\n\nExample:\n  cadre help doctor\n";
    default:
      return mainHelp();
  }
}

function mainHelp(): string {
  return `Usage: cadre [OPTIONS] [PROMPT]
       cadre doctor | help

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
  help [COMMAND]   show the help of a command

Options:
${optionLines(runOptions)}
Environment:
  ANTHROPIC_API_KEY     key of the Anthropic API; without one, the built-in
                        offline model answers (rule-based, no network)
  ANTHROPIC_AUTH_TOKEN  a bearer token instead of a key
  ANTHROPIC_BASE_URL    another address that speaks the same protocol
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

const width = 79;
const indent = 6;

function optionLines(table: readonly OptionSpec[]): string {
  return table
    .map((spec) => {
      const short = spec.short === undefined ? "" : `-${spec.short}, `;
      const value = spec.value === undefined ? "" : ` ${spec.value}`;
      return `  ${short}--${spec.name}${value}\n${wrap(spec.help)}\n`;
    })
    .join("");
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => " ".repeat(indent) + each).join("\n");
}
