import { firstPlay, type Play, type Playbook, textOfEnd } from "../playbook.ts";
import { correctSpelling } from "../spelling.ts";

/** Tries again with the spelling put right, and says what it read. Asked after all others: they take words as they are. */
export function createMisspeltRequest(playbooks: readonly Playbook[]): Playbook {
  return {
    name: "misspelt request",
    start(task) {
      const prompt = correctSpelling(task.prompt);
      const play = prompt === task.prompt ? undefined : firstPlay(playbooks, { ...task, prompt });
      return play === undefined ? undefined : withReading(play, prompt);
    },
  };
}

function* withReading(play: Play, prompt: string): Play {
  return `I read this as: ${prompt.trim()}\n\n${textOfEnd(yield* play)}`;
}
