import { unsigned, withSignature } from "../everyday-playbook.ts";
import { firstPlay, type Play, type Playbook, textOfEnd } from "../playbook.ts";

const meanwhile =
  "(?:meanwhile|in the meantime|while (?:it|that|this) (?:runs|works)|while (?:they|those) (?:run|work)),?";
const separator = new RegExp(
  `\\s*(?:;|\\.\\s|,?\\s+and(?:\\s+then)?\\s(?:\\s*${meanwhile}\\s)?|,\\s*then\\s|,?\\s+${meanwhile}\\s|,?\\s+while you\\s|\\n)\\s*`,
  "i",
);

/** Takes "map this repository and list TODOs", if every part of it is understood; none is silently left out. */
export function createSeveralRequests(playbooks: readonly Playbook[]): Playbook {
  return {
    name: "several requests",
    start(task) {
      const parts = task.prompt.split(separator).filter((part) => part.trim() !== "");
      if (parts.length < 2 || parts.length > 5) return undefined;
      const starts = parts.map((prompt) => firstPlay(playbooks, { ...task, prompt }));
      const plays = starts.filter((play) => play !== undefined);
      return plays.length === parts.length ? oneAfterTheOther(plays) : undefined;
    },
  };
}

function* oneAfterTheOther(plays: readonly Play[]): Play {
  const answers: string[] = [];
  for (const play of plays) answers.push(unsigned(textOfEnd(yield* play)));
  return withSignature(answers.join("\n\n---\n\n"));
}
