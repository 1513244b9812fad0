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

/** Chained, the last first: there is one for every agent. */
interface Link {
  readonly what: string;
  readonly step: Step;
  readonly before: Link | undefined;
}

class UndoList implements CleanUp {
  #last: Link | undefined;

  add(what: string, step: Step): void {
    this.#last = { what, step, before: this.#last };
  }

  async run(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (let link = this.#take(); link !== undefined; link = this.#take()) {
      try {
        await link.step();
      } catch (error) {
        failures.push(`${link.what}: ${messageOf(error)}`);
      }
    }
    return failures;
  }

  #take(): Link | undefined {
    const link = this.#last;
    this.#last = link?.before;
    return link;
  }
}
