/** The text of an agent file, and whether a name can be one's. */

export interface AgentDraft {
  readonly name: string;
  readonly description: string;
  /** Undefined: all. Empty: none. */
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly prompt: string;
}

const mostNameChars = 64;

/** What is wrong with it, or undefined. The name is also that of the file. */
export function problemOfName(name: string): string | undefined {
  if (name.trim() === "") return "the name is empty";
  if (name.startsWith("-")) return `the name "${name}" begins with a dash`;
  if (!/^[\p{L}\p{N}_]/u.test(name)) return `the name "${name}" must begin with a letter or a digit`;
  const bad = /[^\p{L}\p{M}\p{N} ._-]/u.exec(name)?.[0];
  if (bad !== undefined)
    return `the name "${name}" has a ${JSON.stringify(bad)}: letters, digits, dashes, dots, underscores and spaces are possible`;
  if (/[ .]$/.test(name)) return `the name "${name}" ends with a ${name.endsWith(".") ? "dot" : "space"}`;
  if (name.length > mostNameChars) return `the name is longer than ${mostNameChars} characters`;
  return undefined;
}

export function renderAgentFile({ name, description, tools, model, prompt }: AgentDraft): string {
  const lines = [
    `name: ${scalar(name)}`,
    `description: ${scalar(description)}`,
    ...(tools === undefined ? [] : [`tools: ${tools.length === 0 ? "[]" : scalar(tools.join(", "))}`]),
    ...(model === undefined ? [] : [`model: ${scalar(model)}`]),
  ];
  return `---\n${lines.join("\n")}\n---\n\n${prompt.replace(/\r\n?/g, "\n").trim()}\n`;
}

/** Plain where nobody can read it otherwise; else in double quotes, in which YAML reads what JSON writes. */
function scalar(text: string): string {
  const isPlain =
    /^[\p{L}][\p{L}\p{N} ,.;()*/_'’!?:-]*$/u.test(text) &&
    !/:(?: |$)| #|\s$/.test(text) &&
    !keywords.test(text);
  return isPlain ? text : JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);
}

/** Words that YAML, or one of its versions, takes for something else than text. */
const keywords = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
