/** How the everyday playbooks are made: what they need, how they understand, and how their answers end. */
import type { Asking, Play, Playbook, Task } from "./playbook.ts";
import { readWording, type Wording } from "./wording.ts";

export interface EverydaySpec<Understood> {
  readonly name: string;
  readonly needs: readonly string[];
  /** It does more than look. */
  readonly acts?: boolean;
  /** Undefined: this is not for me. Never a guess: what was understood is acted upon. */
  understand(wording: Wording): Understood | undefined;
  play(task: Task, understood: Understood): Asking<string>;
}

export const signature = "(offline model: rule-based, no network; `cadre --help`: connect a real one)";

/** What was answered, without the line at its end. */
export function unsigned(answer: string): string {
  return answer.replace(signature, "").trimEnd();
}

export function everydayPlaybook<Understood>(spec: EverydaySpec<Understood>): Playbook {
  return {
    name: spec.name,
    ...(spec.acts === true ? { acts: true } : {}),
    start(task) {
      const understood = spec.understand(readWording(task.prompt));
      return understood === undefined ? undefined : signed(spec, task, understood);
    },
  };
}

function* signed<Understood>(spec: EverydaySpec<Understood>, task: Task, understood: Understood): Play {
  const missing = spec.needs.filter((tool) => !task.offers(tool));
  const answer =
    missing.length > 0
      ? `To ${spec.name} I need ${missing.join(" and ")}, which ${missing.length > 1 ? "are" : "is"} not available here.`
      : yield* spec.play(task, understood);
  return `${answer.trimEnd()}\n\n${signature}`;
}
