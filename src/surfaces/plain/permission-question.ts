import type { AskingAgent, PermissionAnswer, PermissionRequest } from "../../contracts/permission.ts";

const maxShownLines = 40;
const maxLineChars = 80;

/**
 * What is asked for stands there whole where a cut could hide something: commands are never cut. `label`: what the
 * asking agent is called in the lines that tell of it.
 */
export function permissionQuestion(request: PermissionRequest, label?: string): string {
  const who = request.agent === undefined ? "" : ` (agent ${inLine(describeAgent(request.agent, label))})`;
  const { command, file_path: path } = request.input;
  const choices = choicesFor(request);
  const why = [
    ...(request.reason === "" ? [] : [`  (${inLine(request.reason)})`]),
    ...ruleOffer(request).map((line) => `  ${line}`),
  ];
  if (typeof command === "string" && !/[\r\n]/.test(command) && command.length <= 200)
    return [...why, withChoices(`Allow ${inLine(request.toolName)}${who}: ${command}?`, choices)].join("\n");
  const subject = `${inLine(request.toolName)}${typeof path === "string" ? ` ${inLine(path)}` : ""}`;
  const details = typeof command === "string" ? command.split(/\r\n|\r|\n/) : detailsOf(request.input);
  return [
    `${subject}${who}:`,
    ...details.map((each) => `  ${each}`),
    ...why,
    withChoices(`Allow ${subject}?`, choices),
  ].join("\n");
}

/** What is typed follows the choices: where they do not fit behind the question they get a line of their own. */
function withChoices(question: string, choices: string): string {
  return `${question}${question.length + choices.length < maxLineChars ? " " : "\n"}${choices}`;
}

/** `reviewer, of type Explore`: the name that people gave it, else its label, else its id. */
function describeAgent({ id, type, name }: AskingAgent, label: string | undefined): string {
  if (name === undefined && label !== undefined) return label;
  const called = name ?? id;
  return type === undefined || type === called ? called : `${called}, of type ${type}`;
}

function choicesFor({ suggestions = [] }: PermissionRequest): string {
  return suggestions.length === 0
    ? "[y]es / [n]o (or say why): "
    : "[y]es / [s]ession / [p]roject / [n]o (or say why): ";
}

/** A whole tool says its own name; anything else must be seen before it is granted. */
function ruleOffer({ suggestions = [], toolName }: PermissionRequest): string[] {
  const [rule] = suggestions;
  return rule === undefined || rule === toolName ? [] : [`(session and project allow: ${inLine(rule)})`];
}

/** Text from outside must not make lines of its own that look like ours. */
function inLine(text: string): string {
  return text.replace(/\r\n|[\r\n\u0085\u2028\u2029]/g, "\\n").replaceAll("\t", " ");
}

function detailsOf(input: Readonly<Record<string, unknown>>): string[] {
  const { old_string: before, new_string: after, content } = input;
  if (typeof before === "string" && typeof after === "string") {
    const everywhere = input.replace_all === true ? ["(in every place where it stands)"] : [];
    return [...shorten(prefixed("- ", before)), ...shorten(prefixed("+ ", after)), ...everywhere];
  }
  if (typeof content === "string") return shorten(prefixed("+ ", content));
  return shorten((JSON.stringify(input, null, 2) ?? "").split("\n"));
}

function prefixed(prefix: string, text: string): string[] {
  return text.split("\n").map((each) => prefix + each);
}

function shorten(lines: string[]): string[] {
  if (lines.length <= maxShownLines) return lines;
  return [...lines.slice(0, maxShownLines), `... ${lines.length - maxShownLines} more lines`];
}

/** Only the exact words allow; whatever else was typed is a no that says why. */
export function readPermissionAnswer(typed: string | undefined): PermissionAnswer {
  const word = typed?.trim() ?? "";
  switch (word.toLowerCase()) {
    case "y":
    case "yes":
      return { answer: "once" };
    case "s":
    case "session":
      return { answer: "session" };
    case "p":
    case "project":
      return { answer: "project" };
    case "":
    case "n":
    case "no":
      return { answer: "no" };
    default:
      return { answer: "no", message: word };
  }
}
