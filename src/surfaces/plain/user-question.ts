import type { Question } from "../../toolbox/ask-user-question.ts";

export function questionText(question: Question): string {
  const options = question.options.map(
    (option, index) =>
      `  ${index + 1}. ${option.label}${option.description === "" ? "" : `: ${option.description}`}`,
  );
  const how = question.multiSelect ? "numbers with commas, or your own words" : "a number, or your own words";
  return [question.question, ...options, `Answer (${how}): `].join("\n");
}

/** Numbers stand for their options; anything else is an answer in the person's own words. */
export function readChoice(question: Question, typed: string): string | string[] {
  const text = typed.trim();
  if (text === "") return question.multiSelect ? [] : "";
  const labels = text.split(/[\s,]+/).map((part) => labelOf(question, part));
  const chosen = [...new Set(labels.filter((label) => label !== undefined))];
  const understood = labels.every((label) => label !== undefined);
  if (question.multiSelect) return understood ? chosen : [text];
  return understood && chosen.length === 1 ? (chosen[0] ?? text) : text;
}

function labelOf(question: Question, part: string): string | undefined {
  return /^\d+$/.test(part) ? question.options[Number(part) - 1]?.label : undefined;
}
