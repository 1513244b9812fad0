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
  /** The same, with what takes long beside the conversation. */
  playBeside?(task: Task, understood: Understood): Asking<string>;
}

export const signature = "(offline model: rule-based, no network; `cadre --help`: connect a real one)";

export function withSignature(answer: string): string {
  return `${answer.trimEnd()}\n\n${signature}`;
}

/** What was answered, without the line at its end; several answers have one each. */
export function unsigned(answer: string): string {
  return answer.replaceAll(`\n\n${signature}`, "").replace(signature, "").trimEnd();
}

export function everydayPlaybook<Understood>(spec: EverydaySpec<Understood>): Playbook {
  const { play, playBeside } = spec;
  const startWith = (task: Task, how: typeof play) => {
    const understood = spec.understand(readWording(task.prompt));
    return understood === undefined ? undefined : signed(spec, task, () => how(task, understood));
  };
  return {
    name: spec.name,
    ...(spec.acts === true ? { acts: true } : {}),
    start: (task) => startWith(task, play),
    ...(playBeside && { startBeside: (task: Task) => startWith(task, playBeside) }),
  };
}

function* signed(
  spec: Pick<EverydaySpec<never>, "name" | "needs">,
  task: Task,
  play: () => Asking<string>,
): Play {
  const missing = spec.needs.filter((tool) => !task.offers(tool));
  const answer =
    missing.length > 0
      ? `To ${spec.name} I need ${missing.join(" and ")}, which ${missing.length > 1 ? "are" : "is"} not available here.`
      : yield* play();
  return withSignature(answer);
}
