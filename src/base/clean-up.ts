import { messageOf } from "./errors.ts";

/** What must be undone at the end, the last first. Every step runs, whatever became of another (SP-19). */
export interface CleanUp {
  add(what: string, step: () => void | Promise<void>): void;
  /** Never rejects: answers with what failed. The second time there is nothing left to do. */
  run(): Promise<readonly string[]>;
}

export function createCleanUp(): CleanUp {
  return new UndoList();
}

type Step = () => void | Promise<void>;

class UndoList implements CleanUp {
  readonly #steps: { what: string; step: Step }[] = [];

  add(what: string, step: Step): void {
    this.#steps.push({ what, step });
  }

  async run(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (let last = this.#steps.pop(); last !== undefined; last = this.#steps.pop()) {
      try {
        await last.step();
      } catch (error) {
        failures.push(`${last.what}: ${messageOf(error)}`);
      }
    }
    return failures;
  }
}
