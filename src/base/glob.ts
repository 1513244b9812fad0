/**
 * Glob patterns, matched in time that grows with the length of the text and no faster: neither a pattern nor a
 * file name can be made to keep the process busy, as the backtracking of regular expressions can.
 *
 * `*` and `?` stay within a segment, a double star as a whole segment is any number of them; `[abc]`, `[!a-z]`,
 * `{a,b}`, `{1..9}`, `@(a|b)`, `?(a)`, `+(a)`, `*(a)`, and `!` before the whole. A leading dot is nothing special.
 */
import { type GlobNode, isNotSlash, parseGlob, unusableGlob } from "./glob-syntax.ts";

/** Throws `glob-unusable` for a pattern that is too large or cannot be understood. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const negated = /^!(?!\()/.test(pattern);
  const positive = (negated ? pattern.slice(1) : pattern).replace(/^(\.\/)+/, "");
  const machine = buildMachine(parseGlob(positive));
  const matches = createMatcher(machine);
  return negated ? (path) => !matches(path) : matches;
}

/** One of the states in which the machine may be at the same time. */
interface State {
  /** Reads a character before it goes on; absent: goes on at once. */
  readonly accepts: ((character: string) => boolean) | undefined;
  next: readonly number[];
}

interface Machine {
  readonly states: readonly State[];
  readonly start: number;
  readonly end: number;
}

const maxStates = 20_000;

function buildMachine(nodes: readonly GlobNode[]): Machine {
  const states: State[] = [{ accepts: undefined, next: [] }];
  const end = 0;
  const add = (state: State): number => {
    if (states.length >= maxStates) throw unusableGlob("it stands for too much");
    return states.push(state) - 1;
  };
  const read = (accepts: (character: string) => boolean, next: number) => add({ accepts, next: [next] });

  /** Zero or more of what `body` builds, given where it goes on. */
  function loop(next: number, body: (again: number) => number): { any: number; some: number } {
    const state: State = { accepts: undefined, next: [] };
    const any = add(state);
    const some = body(any);
    state.next = [some, next];
    return { any, some };
  }

  function build(node: GlobNode, next: number): number {
    switch (node.kind) {
      case "one":
        return read(node.accepts, next);
      case "within":
        return loop(next, (again) => read(isNotSlash, again)).any;
      case "everything":
        return loop(next, (again) => read(() => true, again)).any;
      case "segments":
        return loop(next, (again) => {
          const slash = read((character) => character === "/", again);
          return loop(slash, (more) => read(isNotSlash, more)).some;
        }).any;
      case "choice": {
        const choose = (after: number) =>
          add({ accepts: undefined, next: node.options.map((option) => join(option, after)) });
        if (node.times === "once") return choose(next);
        if (node.times === "optional") return add({ accepts: undefined, next: [choose(next), next] });
        return loop(next, choose)[node.times];
      }
    }
  }

  /** From the end, because every piece must know what follows. */
  function join(sequence: readonly GlobNode[], next: number): number {
    return sequence.reduceRight((after, node) => build(node, after), next);
  }

  return { states, start: join(nodes, end), end };
}

/** A set of states that was reached, and where each character seen so far led from there. */
interface Reached {
  readonly reading: readonly number[];
  readonly isEnd: boolean;
  readonly after: Map<string, Reached>;
}

/** In states, all sets together: more than real patterns need. What is forgotten is found again. */
const maxRemembered = 200_000;

/** Remembers the sets it has seen, so that most characters cost one look-up. */
function createMatcher(machine: Machine): (path: string) => boolean {
  let remembered = new Map<string, Reached>();
  let rememberedStates = 0;
  const start = reach([machine.start]);

  function reach(from: readonly number[]): Reached {
    const seen = new Set(from);
    // A set goes on with what is added to it on the way.
    for (const index of seen) {
      const state = machine.states[index];
      if (state?.accepts === undefined) for (const next of state?.next ?? []) seen.add(next);
    }
    const reading = [...seen].filter((index) => machine.states[index]?.accepts).sort((a, b) => a - b);
    const key = `${seen.has(machine.end)} ${reading.join(" ")}`;
    const known = remembered.get(key);
    if (known) return known;
    rememberedStates += reading.length + 1;
    if (rememberedStates > maxRemembered) {
      for (const old of remembered.values()) old.after.clear();
      remembered = new Map();
      rememberedStates = reading.length + 1;
    }
    const reached = { reading, isEnd: seen.has(machine.end), after: new Map<string, Reached>() };
    remembered.set(key, reached);
    return reached;
  }

  function step(reached: Reached, character: string): Reached {
    const known = reached.after.get(character);
    if (known) return known;
    const next = reach(
      reached.reading.flatMap((index) => {
        const state = machine.states[index];
        return state?.accepts?.(character) ? state.next : [];
      }),
    );
    reached.after.set(character, next);
    return next;
  }

  return (path) => {
    let reached = start;
    for (const character of path) {
      if (reached.reading.length === 0) return false;
      reached = step(reached, character);
    }
    return reached.isEnd;
  };
}
