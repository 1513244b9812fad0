import { signature, unsigned } from "../everyday-playbook.ts";
import { firstPlay, type Play, type Playbook, textOfEnd } from "../playbook.ts";

/** Takes "map this repository and list TODOs", if every part of it is understood; none is silently left out. */
export function createSeveralRequests(playbooks: readonly Playbook[]): Playbook {
  return {
    name: "several requests",
    start(task) {
      const parts = task.prompt
        .split(/\s*(?:;|\.\s|,?\s+and(?:\s+then)?\s|,\s*then\s|\n)\s*/i)
        .filter((part) => part.trim() !== "");
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
  return `${answers.join("\n\n---\n\n")}\n\n${signature}`;
}
