/** A command that waits for an answer which nobody can give: it is silent, and its last line has not ended. */
import type { Clock, Timer } from "../base/world.ts";

export interface PromptWatch {
  add(chunk: Uint8Array): void;
  stop(): void;
}

export const promptSilenceMs = 45_000;
/** Of the last line. */
const maxBytes = 1_000;

export function watchForPrompt(options: {
  clock: Clock;
  /** Called once at most. */
  onPrompt: (lastLine: string) => void;
}): PromptWatch {
  const { clock } = options;
  let line = Buffer.alloc(0);
  let lastMs = 0;
  let timer: Timer | undefined;
  let isDone = false;

  /** Not set anew for each chunk: there may be thousands in a second. */
  function look(): void {
    timer = undefined;
    const text = line.toString("utf8").replace(/^\ufffd+/, "");
    if (isDone || text.trim() === "") return;
    const leftMs = lastMs + promptSilenceMs - clock.monotonicMs();
    if (leftMs > 0) {
      timer = clock.setTimer(leftMs, look, { unref: true });
      return;
    }
    isDone = true;
    options.onPrompt(text);
  }

  return {
    add(chunk) {
      if (isDone || chunk.length === 0) return;
      lastMs = clock.monotonicMs();
      const end = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).subarray(-maxBytes);
      const begin = Math.max(end.lastIndexOf("\n"), end.lastIndexOf("\r")) + 1;
      line = begin > 0 ? Buffer.from(end.subarray(begin)) : Buffer.concat([line, end]).subarray(-maxBytes);
      if (line.length > 0) timer ??= clock.setTimer(promptSilenceMs, look, { unref: true });
    },
    stop() {
      isDone = true;
      timer?.cancel();
    },
  };
}
