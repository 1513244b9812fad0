/**
 * How many requests an account bears at a time. It cannot be asked for, only found out: halved when the provider
 * says that it is too much, and grown slowly while it says nothing.
 */
export interface AdaptiveLimit {
  /** A whole number, at least 1. */
  readonly current: number;
  grow(options: { isContended: boolean }): void;
  halve(): void;
}

const growthPerAnswer = 0.1;

export function createAdaptiveLimit({ start, max }: { start: number; max: number }): AdaptiveLimit {
  let exact = start;
  return {
    get current() {
      return Math.floor(exact);
    },
    grow({ isContended }) {
      // Beyond the start it only grows when somebody waits: what nobody uses proves nothing.
      if (exact < start || isContended) exact = Math.min(max, exact + growthPerAnswer);
    },
    halve() {
      exact = Math.max(1, Math.floor(exact / 2));
    },
  };
}
