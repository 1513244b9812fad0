/** What the person may want next: offered in a line, sent by `/yes` and by nothing else. */
import { forTerminal } from "../../base/markup.ts";
import type { PlainConsole } from "./console.ts";

export interface Suggestions {
  /** Shows it, unless the person is busy: one that was not seen cannot be sent. */
  offer(text: string): void;
  /** What was offered last; after that it is gone. */
  take(): string | undefined;
  /** The conversation has gone on. */
  drop(): void;
}

export function createSuggestions(options: {
  console: Pick<PlainConsole, "line" | "prompt" | "isInUse">;
  /** It is the person's turn. */
  isIdle: () => boolean;
}): Suggestions {
  const { console, isIdle } = options;
  let offered: string | undefined;
  return {
    offer(text) {
      // What is sent is what was shown. A command is for the person to type.
      const shown = forTerminal(text).trim();
      if (!isIdle() || console.isInUse || shown === "" || shown.startsWith("/")) return;
      offered = shown;
      console.line(`(next? ${shown} - /yes sends it)`);
      console.prompt();
    },
    take() {
      const text = offered;
      offered = undefined;
      return text;
    },
    drop() {
      offered = undefined;
    },
  };
}
