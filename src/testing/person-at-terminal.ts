/** A person at a terminal: types, and waits for what is shown. */
import { PassThrough } from "node:stream";
import { createNodeClock } from "../base/world/node-clock.ts";
import type { Message } from "../contracts/message.ts";
import type { PlainSurface } from "../surfaces/plain/plain-surface.ts";
import { runPlain } from "../surfaces/plain/run-plain.ts";
import { createScriptedSession, type ScriptedRun, type ScriptedSession } from "./scripted-session.ts";

export type Script = (surface: PlainSurface, session: () => ScriptedSession) => ScriptedRun;

export function sitDown(
  script: Script,
  options: {
    firstPrompt?: string;
    terminal?: boolean;
    columns?: number;
    open?: () => never;
    messages?: Message[];
    /** What is open besides what every session has; `resumed`: it was gone to by its id. */
    session?: (resumed: string | undefined) => Partial<ScriptedSession>;
    /** Another session can be gone to. */
    canGoOn?: boolean;
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
  const open = async (surface: PlainSurface, resumed?: string) => {
    options.open?.();
    const made: ScriptedSession = createScriptedSession(
      script(surface, () => made),
      {
        transcriptPath: "/home/me/t.jsonl",
        ...(resumed !== undefined && { id: resumed }),
        ...(options.messages && { messages: options.messages }),
      },
    );
    const current: ScriptedSession = Object.assign(made, options.session?.(resumed));
    if (options.waiting === true) current.wake();
    session = current;
    return current;
  };
  const exit = runPlain({
    open: (surface) => open(surface),
    ...(options.canGoOn && { openOther: open }),
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
