/** A person at a terminal: types, and waits for what is shown. */
import { PassThrough } from "node:stream";
import { createNodeClock } from "../base/world/node-clock.ts";
import type { Message } from "../contracts/message.ts";
import type { Surface } from "../runtime/session.ts";
import { runPlain } from "../surfaces/plain/run-plain.ts";
import { createScriptedSession, type ScriptedRun, type ScriptedSession } from "./scripted-session.ts";

export type Script = (surface: Surface, session: () => ScriptedSession) => ScriptedRun;

export function sitDown(
  script: Script,
  options: {
    firstPrompt?: string;
    terminal?: boolean;
    columns?: number;
    open?: () => never;
    messages?: Message[];
    /** Something waits from an earlier life of the session. */
    waiting?: boolean;
  } = {},
) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: options.columns });
  let shown = "";
  let seen = 0;
  let wake = () => {};
  output.on("data", (piece: Buffer) => {
    shown += piece.toString();
    wake();
  });
  let session: ScriptedSession | undefined;
  const interruption = new AbortController();
  const exit = runPlain({
    open: async (surface) => {
      options.open?.();
      const current: ScriptedSession = createScriptedSession(
        script(surface, () => current),
        {
          transcriptPath: "/home/me/t.jsonl",
          ...(options.messages && { messages: options.messages }),
        },
      );
      if (options.waiting === true) current.wake();
      session = current;
      return current;
    },
    firstPrompt: options.firstPrompt,
    input,
    output,
    terminal: options.terminal ?? false,
    interruption: { signal: interruption.signal, exitCode: () => 143 },
    clock: createNodeClock(),
    version: "1.2.3",
  });
  return {
    type: (text: string) => input.write(text),
    end: () => input.end(),
    /** Resolves when `text` is shown after what was seen before. */
    async sees(text: string) {
      for (;;) {
        const at = shown.indexOf(text, seen);
        if (at >= 0) {
          seen = at + text.length;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    shown: () => shown,
    session: () => session,
    interruption,
    exit,
  };
}
