/** The options of each command. The help is made from these tables. */
import type { PermissionMode } from "../contracts/permission.ts";
import type { OptionSpec, OptionValues } from "./arguments.ts";

const permissionModes = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "bypassPermissions",
] as const satisfies readonly PermissionMode[];

export const helpOption = {
  name: "help",
  short: "h",
  kind: "flag",
  help: "Show this help",
} as const satisfies OptionSpec;

export const runOptions = [
  { name: "print", short: "p", kind: "flag", help: "Answer one prompt, print the result, and exit" },
  { name: "prompt-file", kind: "text", value: "FILE", help: "Read the prompt from a file" },
  {
    name: "output-format",
    kind: "choice",
    choices: ["text", "json", "stream-json"],
    value: "FORMAT",
    help: "text (default), json (one result object) or stream-json (one object per line, as it happens)",
  },
  {
    name: "input-format",
    kind: "choice",
    choices: ["text", "stream-json"],
    value: "FORMAT",
    help: "text (default) or stream-json (one message per line on standard input)",
  },
  {
    name: "include-partial-messages",
    kind: "flag",
    help: "With stream-json: also the pieces of a message as they stream",
  },
  {
    name: "json-schema",
    kind: "text",
    value: "JSON|FILE",
    help: "The answer must fit this JSON schema; it is printed as structured_output, or as JSON text",
  },
  {
    name: "no-wait",
    kind: "flag",
    help: "Do not wait for background tasks after the answer: they are stopped",
  },
  { name: "model", kind: "text", value: "MODEL", help: "A model id, opus, sonnet, haiku, or offline" },
  { name: "system-prompt", kind: "text", value: "TEXT", mayBeEmpty: true, help: "Replace the system prompt" },
  {
    name: "system-prompt-file",
    kind: "text",
    value: "FILE",
    help: "Replace the system prompt by a file's text",
  },
  {
    name: "append-system-prompt",
    kind: "text",
    value: "TEXT",
    mayBeEmpty: true,
    help: "Add to the system prompt",
  },
  {
    name: "allowed-tools",
    kind: "rules",
    value: "RULES",
    mayBeEmpty: true,
    help: "Tools that need no question, such as Edit,Bash; repeatable",
  },
  {
    name: "disallowed-tools",
    kind: "rules",
    value: "RULES",
    mayBeEmpty: true,
    help: "Tools that are never allowed; repeatable",
  },
  {
    name: "permission-mode",
    kind: "choice",
    choices: permissionModes,
    value: "MODE",
    help: "default, acceptEdits, plan, dontAsk or bypassPermissions",
  },
  {
    name: "dangerously-skip-permissions",
    kind: "flag",
    help: "Ask for nothing. Only where nothing can be harmed",
  },
  {
    name: "permission-prompt-tool",
    kind: "choice",
    choices: ["stdio"],
    value: "stdio",
    help: "With stream-json input: ask the program on the other side for permission",
  },
  { name: "max-turns", kind: "count", value: "N", help: "Stop after N turns" },
  {
    name: "max-cost",
    aliases: ["max-budget-usd"],
    kind: "amount",
    value: "USD",
    help: "Stop when this much is spent",
  },
  {
    name: "max-tokens",
    kind: "count",
    value: "N",
    help: "Stop when all agents together have used N tokens",
  },
  { name: "max-minutes", kind: "amount", value: "N", help: "Stop after N minutes" },
  { name: "cwd", kind: "text", value: "FOLDER", help: "Work in this folder" },
  { name: "add-dir", kind: "list", value: "FOLDER", help: "Work in this folder as well; repeatable" },
  { name: "settings", kind: "text", value: "FILE|JSON", help: "Settings on top of the user's own" },
  { name: "agents", kind: "text", value: "JSON", help: "Definitions of agents by name, for this session" },
  { name: "plugin-dir", kind: "list", value: "FOLDER", help: "The folder of a plugin; repeatable" },
  { name: "session-id", kind: "text", value: "UUID", help: "The id of the new session" },
  { name: "continue", short: "c", kind: "flag", help: "Go on with the latest session of this folder" },
  {
    name: "resume",
    short: "r",
    kind: "text",
    value: "ID",
    mayBeAlone: true,
    help: "Go on with a session; in a terminal, without an id, one can be chosen",
  },
  {
    name: "fork-session",
    kind: "flag",
    help: "With --continue or --resume: go on with a copy under a new id",
  },
  { name: "no-session-persistence", kind: "flag", help: "Keep no transcript" },
  { name: "verbose", kind: "flag", help: "Show tool calls on standard error" },
  { name: "debug", kind: "flag", help: "Log requests, retries and decisions on standard error" },
  { name: "version", short: "v", kind: "flag", help: "Show the version" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export type RunValues = OptionValues<typeof runOptions>;

export const doctorOptions = [
  { name: "json", kind: "flag", help: "Print the findings as JSON" },
  { name: "model", kind: "text", value: "MODEL", help: "Check this model instead of the configured one" },
  { name: "settings", kind: "text", value: "FILE|JSON", help: "Settings on top of the user's own" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export const permissionsOptions = [
  { name: "json", kind: "flag", help: "Print the decision as one JSON object" },
  {
    name: "allow",
    kind: "list",
    value: "RULE",
    help: "A rule that allows, such as Bash(npm test:*); repeatable",
  },
  { name: "ask", kind: "list", value: "RULE", help: "A rule that wants a question; repeatable" },
  { name: "deny", kind: "list", value: "RULE", help: "A rule that denies; repeatable" },
  {
    name: "mode",
    kind: "choice",
    choices: permissionModes,
    value: "MODE",
    help: "default, acceptEdits, plan, dontAsk or bypassPermissions",
  },
  { name: "cwd", kind: "text", value: "FOLDER", help: "Judge as if working in this folder" },
  { name: "add-dir", kind: "list", value: "FOLDER", help: "A working folder as well; repeatable" },
  { name: "settings", kind: "text", value: "FILE|JSON", help: "Settings on top of the user's own" },
  { name: "no-settings", kind: "flag", help: "Only the rules given here, not those of the user's settings" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export const sessionsOptions = [
  { name: "json", kind: "flag", help: "Print JSON" },
  { name: "all", kind: "flag", help: "Those of all folders" },
  { name: "limit", kind: "count", value: "N", help: "At most N, the latest first (20)" },
  { name: "cwd", kind: "text", value: "FOLDER", help: "Those of this folder" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export const tasksOptions = [
  { name: "json", kind: "flag", help: "Print JSON" },
  { name: "all", kind: "flag", help: "Those of all folders" },
  { name: "session", kind: "text", value: "ID", help: "Those of this session" },
  { name: "running", kind: "flag", help: "list: only those that run" },
  { name: "limit", kind: "count", value: "N", help: "list: at most N, the latest first (20)" },
  { name: "follow", short: "f", kind: "flag", help: "output: go on until the task has ended" },
  { name: "cwd", kind: "text", value: "FOLDER", help: "Those of this folder" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export type TasksValues = OptionValues<typeof tasksOptions>;

/** Those from `name` on are for `agents new` alone. */
export const agentsOptions = [
  { name: "json", kind: "flag", help: "Print JSON" },
  { name: "cwd", kind: "text", value: "FOLDER", help: "The agents that a session in this folder would have" },
  {
    name: "agents",
    kind: "text",
    value: "JSON",
    help: "Definitions by name, as a session can be given them",
  },
  { name: "plugin-dir", kind: "list", value: "FOLDER", help: "The folder of a plugin; repeatable" },
  { name: "settings", kind: "text", value: "FILE|JSON", help: "Settings on top of the user's own" },
  { name: "name", kind: "text", value: "NAME", help: "new: what the agent is called" },
  { name: "description", kind: "text", value: "TEXT", help: "new: when it should be used" },
  {
    name: "tools",
    kind: "text",
    value: "LIST",
    mayBeEmpty: true,
    help: "new: the tools it has, such as Read,Grep; all if left out, none if empty",
  },
  {
    name: "model",
    kind: "text",
    value: "MODEL",
    help: "new: its model; that of whoever starts it if left out",
  },
  { name: "prompt", kind: "text", value: "TEXT", help: "new: its instructions" },
  { name: "prompt-file", kind: "text", value: "FILE", help: "new: its instructions, from a file" },
  {
    name: "from",
    kind: "text",
    value: "TEXT",
    help: "new: let the configured model draft what is not given, from this description",
  },
  { name: "project", kind: "flag", help: "new: write to .cadre/agents of the folder (the default)" },
  { name: "user", kind: "flag", help: "new: write to ~/.cadre/agents" },
  { name: "force", kind: "flag", help: "new: replace a file that exists" },
  helpOption,
] as const satisfies readonly OptionSpec[];

export type AgentsValues = OptionValues<typeof agentsOptions>;
