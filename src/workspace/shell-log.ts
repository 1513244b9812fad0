/**
 * What a command in the background writes, on its way into a file that models and people read: without the runtime's
 * secrets. A chunk may end in the middle of one, so only whole lines go on at once; the rest waits for its end, or
 * until nothing has come for a moment: a question that waits for an answer has no end.
 */
import { cutAtCharacter } from "../base/one-line.ts";
import type { Redactor } from "../base/secrets.ts";
import type { Clock, Timer } from "../base/world.ts";

export interface ShellLog {
  add(chunk: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
}

const quietMs = 1_000;
/** So much of a line is held back. */
const maxHeldChars = 64 * 1024;
/** Of a longer one so much stays back: no secret that has only begun is longer. */
const overlapChars = 4 * 1024;

export function createShellLog(options: {
  clock: Clock;
  /** Absent: there are no secrets, and everything goes on as it comes. */
  redactor: Redactor | undefined;
  write: (text: string | Uint8Array) => void;
}): ShellLog {
  const { clock, redactor, write } = options;
  if (redactor === undefined) return { add: write, end() {} };
  const decoder = new TextDecoder();
  let held = "";
  let lastMs = 0;
  let timer: Timer | undefined;

  function take(text: string): void {
    const lineEnd = endOfLines(text);
    const chars = lineEnd === 0 ? 0 : held.length + lineEnd;
    held += text;
    passOn(chars);
    if (held.length > maxHeldChars) {
      held = redact(held);
      const start = cutAtCharacter(held, held.length - overlapChars);
      write(start);
      held = held.slice(start.length);
    }
  }

  function passOn(chars: number): void {
    if (chars > 0) write(redact(held.slice(0, chars)));
    held = held.slice(chars);
  }

  const redact = (text: string) => redactor.redact(text);

  /** Not set anew for each chunk: there may be thousands in a second. */
  function look(): void {
    timer = undefined;
    if (held === "") return;
    const leftMs = lastMs + quietMs - clock.monotonicMs();
    if (leftMs > 0) timer = clock.setTimer(leftMs, look, { unref: true });
    else passOn(held.length);
  }

  return {
    add(chunk) {
      lastMs = clock.monotonicMs();
      take(decoder.decode(chunk, { stream: true }));
      if (held !== "") timer ??= clock.setTimer(quietMs, look, { unref: true });
    },
    end() {
      timer?.cancel();
      take(decoder.decode());
      passOn(held.length);
    },
  };
}

/** A progress bar goes back to the beginning of its line. */
function endOfLines(text: string): number {
  return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}
