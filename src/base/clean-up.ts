import { messageOf } from "./errors.ts";

/** What must be undone at the end, the last first. Every step runs, whatever became of another (SP-19). */
export interface CleanUp {
  add(what: string, step: () => void | Promise<void>): void;
  /** Never rejects: answers with what failed. The second time there is nothing left to do. */
  run(): Promise<readonly string[]>;
}

export function createCleanUp(): CleanUp {
  const steps: { what: string; step: () => void | Promise<void> }[] = [];
  return {
    add(what, step) {
      steps.push({ what, step });
    },
    async run() {
      const failures: string[] = [];
      for (let last = steps.pop(); last !== undefined; last = steps.pop()) {
        try {
          await last.step();
        } catch (error) {
          failures.push(`${last.what}: ${messageOf(error)}`);
        }
      }
      return failures;
    },
  };
}
