import type { PermissionAnswer, PermissionRequest } from "../../contracts/permission.ts";

const choices = "[y]es / [s]ession / [n]o (or say why): ";
const maxShownLines = 40;

/** What is asked for stands there whole where a cut could hide something: commands are never cut. */
export function permissionQuestion(request: PermissionRequest): string {
  const who = request.agentId === undefined ? "" : ` (agent ${request.agentId})`;
  const { command, file_path: path } = request.input;
  const why = request.reason === "" ? [] : [`  (${request.reason})`];
  if (typeof command === "string" && !/[\r\n]/.test(command) && command.length <= 200)
    return [...why, `Allow ${request.toolName}${who}: ${command}? ${choices}`].join("\n");
  const subject = typeof path === "string" ? ` ${path}` : "";
  const details = typeof command === "string" ? command.split(/\r\n|\r|\n/) : detailsOf(request.input);
  return [
    `${request.toolName}${subject}${who}:`,
    ...details.map((each) => `  ${each}`),
    ...why,
    `Allow ${request.toolName}${subject}? ${choices}`,
  ].join("\n");
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
    case "":
    case "n":
    case "no":
      return { answer: "no" };
    default:
      return { answer: "no", message: word };
  }
}
