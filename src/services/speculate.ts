/**
 * Speculation: begins with the suggested prompt before anybody has asked for it, on a copy of the conversation and with
 * tools that only read. If the user asks for just that, the draft is there; otherwise nobody ever sees it.
 */
import { neutralizeTags } from "../base/markup.ts";
import { cutAtCharacter } from "../base/one-line.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Gate } from "../tools/executor.ts";
import type { IdleService } from "./service-host.ts";
import { isNone, servicePrompt } from "./service-prompt.ts";

const longestDraft = 8_000;

export interface Speculation extends IdleService {
  /** What to begin with. */
  suggest(prompt: string): void;
  /** The draft for this prompt, as the runtime tells it to the model. Whatever else was prepared is thrown away. */
  take(prompt: string): string | undefined;
}

export function createSpeculation(options: {
  conversation: () => LoopOptions | undefined;
  /** Never asks a person, and keeps no record. */
  gate: Gate;
}): Speculation {
  let suggested: string | undefined;
  let draft: { readonly prompt: string; readonly text: string } | undefined;
  return {
    name: "speculate",
    // Begun by a suggestion, not by a timer of its own: then there is something to begin with.
    idleMs: 0,
    isDue: () => suggested !== undefined,
    suggest(prompt) {
      suggested = prompt;
    },
    async run({ ask }) {
      const prompt = suggested;
      suggested = undefined;
      const loop = options.conversation();
      if (prompt === undefined || loop === undefined) return;
      // What would need a person's word is refused in this mode.
      const quiet = { ...loop, agent: { ...loop.agent, mode: { current: "dontAsk" as const } } };
      const text = await ask({
        prompt: speculationPrompt(prompt),
        loop: quiet,
        gate: readingOnly(options.gate),
        maxOutputTokens: 2_000,
        maxTurns: 6,
      });
      if (text !== undefined && !isNone(text)) draft = { prompt, text: cutAtCharacter(text, longestDraft) };
    },
    take(prompt) {
      const ready = draft;
      draft = undefined;
      suggested = undefined;
      return ready !== undefined && ready.prompt === prompt.trim() ? draftText(ready.text) : undefined;
    },
  };
}

/** They look at files here and at nothing else: not at the network, and not by way of a shell. */
const readingTools: ReadonlySet<string> = new Set(["Read", "Glob", "Grep"]);

function readingOnly(gate: Gate): Gate {
  return async (call) => {
    if (readingTools.has(call.tool.name) && call.bound.isReadOnly) return await gate(call);
    const message = `Not run: before the user has asked for it only ${[...readingTools].join(", ")} may be called.`;
    return { allowed: false, message };
  };
}

function speculationPrompt(prompt: string): string {
  return servicePrompt(
    "speculate",
    `The user may ask for the following next, but has not done so. Find out what is needed for it: you may call ${[...readingTools].join(", ")}, a few times, and nothing else. Then answer with what you have found, with paths and lines, in at most 300 words; change nothing. If nothing can be found out beforehand, answer with the one word NONE.

${prompt}`,
  );
}

function draftText(text: string): string {
  return `<system-reminder>
A moment ago, before the user asked for it, this was found out for their next prompt with tools that only read. It may be out of date; files in it must be read before they are edited.

${neutralizeTags(text)}
</system-reminder>`;
}
