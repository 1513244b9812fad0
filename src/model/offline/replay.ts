/**
 * Finds the next step by replay: the play is started anew for every request and fed with the results that
 * stand in the conversation. Nothing is remembered between requests, so resume, forks and restarts work.
 */
import type { ToolUseBlock } from "../../contracts/message.ts";
import type { Exchange } from "./conversation.ts";
import type { CallResult, Play, Step, Task } from "./playbook.ts";

export interface ReplayOptions {
  readonly exchanges: readonly Exchange[];
  readonly offers: (toolName: string) => boolean;
  readonly start: (task: Task) => Play;
  /** What to say when the conversation is not one that these plays could have led. */
  readonly lost: () => Step;
  /** What to say to words of the runtime that came when nothing was under way. */
  readonly told?: (texts: readonly string[]) => Step | undefined;
}

/**
 * Every prompt is a task of its own. A prompt that arrives together with tool results waits until the task
 * under way has ended; its answer and the first step of the next task then share one message.
 */
export function nextStep(options: ReplayOptions): Step {
  const exchanges = options.exchanges.slice(startOfTask(options.exchanges));
  const waiting: string[] = [];
  let playing: Playing | undefined;
  let results: readonly CallResult[] | undefined = [];
  let step: Step = options.lost();
  for (const [index, exchange] of exchanges.entries()) {
    // After an interrupt the person's new words replace what was under way.
    if (exchange.prompts.length > 0 && wasInterrupted(exchange)) playing = undefined;
    waiting.push(...tasksIn(exchange.prompts));
    playing?.heard.push(...exchange.texts);
    if (results === undefined) playing = undefined;
    const advanced = advance({ options, playing, results: results ?? [], waiting, exchange });
    step = advanced.step;
    playing = advanced.playing;
    if (exchange.answer === undefined) return step;
    results = resultsOf(exchange.answer.calls, exchanges[index + 1]);
    if (!sameCalls(step, exchange.answer.calls)) playing = undefined;
  }
  return step;
}

const longestRequest = 300;

/** What was asked in one message: a line is a request of its own, a longer text is material for the one before it. */
function tasksIn(prompts: readonly string[]): string[] {
  const tasks: string[] = [];
  for (const prompt of prompts) {
    const isRequest = prompt.length <= longestRequest && !prompt.includes("\n");
    if (isRequest || tasks.length === 0) tasks.push(prompt);
    else tasks.push(`${tasks.pop()}\n\n${prompt}`);
  }
  return tasks;
}

interface Playing {
  readonly play: Play;
  readonly heard: string[];
}

/** The last user turn that brings a prompt and no results: what lies before it is history. */
function startOfTask(exchanges: readonly Exchange[]): number {
  for (let index = exchanges.length - 1; index > 0; index--) {
    const exchange = exchanges[index];
    if (exchange !== undefined && exchange.prompts.length > 0 && exchange.results.size === 0) return index;
  }
  return 0;
}

function wasInterrupted(exchange: Exchange): boolean {
  return [...exchange.results.values()].some((result) => result.isError && /interrupted/i.test(result.text));
}

function advance(state: {
  options: ReplayOptions;
  playing: Playing | undefined;
  results: readonly CallResult[];
  waiting: string[];
  exchange: Exchange;
}): { step: Step; playing: Playing | undefined } {
  const { options, waiting, exchange } = state;
  const said: string[] = [];
  let { playing } = state;
  let results: readonly CallResult[] = state.results;
  for (;;) {
    if (playing === undefined) {
      const prompt = waiting.shift();
      if (prompt === undefined) return { step: unasked(options, exchange), playing };
      const heard = [prompt];
      playing = { play: options.start({ prompt, heard, offers: options.offers }), heard };
      results = [];
    }
    const turn = playing.play.next(results);
    const step: Step = typeof turn.value === "string" ? { text: turn.value } : turn.value;
    if (turn.done !== true || (step.calls?.length ?? 0) > 0) return { step: joined(said, step), playing };
    said.push(step.text ?? "");
    playing = undefined;
    if (waiting.length === 0) return { step: joined(said, {}), playing };
  }
}

/** Results that nobody waits for mean that the thread is lost, whatever else was said with them. */
function unasked(options: ReplayOptions, { texts, results }: Exchange): Step {
  return (results.size === 0 ? options.told?.(texts) : undefined) ?? options.lost();
}

function joined(said: readonly string[], step: Step): Step {
  const text = [...said, step.text ?? ""].filter((part) => part !== "").join("\n\n");
  return { ...step, ...(text === "" ? {} : { text }) };
}

/** In the order of the calls; undefined when one is missing. */
export function resultsOf(
  calls: readonly ToolUseBlock[],
  next: Exchange | undefined,
): readonly CallResult[] | undefined {
  const results = calls.map((call) => next?.results.get(call.id));
  return results.every((result) => result !== undefined) ? results : undefined;
}

function sameCalls(step: Step, answered: readonly ToolUseBlock[]): boolean {
  const calls = step.calls ?? [];
  return (
    calls.length === answered.length &&
    calls.every((call, index) => {
      const other = answered[index];
      return other?.name === call.name && canonicalJson(other.input) === canonicalJson(call.input);
    })
  );
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
