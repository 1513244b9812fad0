/**
 * Finds the next step by replay: the play is started anew for every request and fed with the results that
 * stand in the conversation. Nothing is remembered between requests, so resume, forks and restarts work.
 */
import type { ToolUseBlock } from "../../contracts/message.ts";
import type { Exchange } from "./conversation.ts";
import type { KnownTask } from "./known-task.ts";
import { knownTasks } from "./known-tasks.ts";
import type { CallResult, Play, Step, Task } from "./playbook.ts";

export interface ReplayOptions {
  readonly exchanges: readonly Exchange[];
  readonly offers: (toolName: string) => boolean;
  readonly start: (task: Task) => Play;
  /** What to say when the conversation is not one that these plays could have led. */
  readonly lost: () => Step;
  /** What to say to words of the runtime: at once when nothing is under way, else after the answer. */
  readonly told?: (texts: readonly string[]) => Step | undefined;
}

/**
 * Every prompt is a task of its own. A prompt that arrives together with tool results waits until the task
 * under way has ended; its answer and the first step of the next task then share one message. To the main agent all
 * is answered in the last message: it sees no other.
 */
export function nextStep(options: ReplayOptions): Step {
  const begin = startOfTask(options.exchanges);
  const exchanges = options.exchanges.slice(begin);
  const waiting: string[] = [];
  const news: string[] = [];
  const held: string[] = [];
  const isOrdered = options.exchanges.some(({ orders }) => orders.length > 0);
  let playing: Playing | undefined;
  let results: readonly CallResult[] | undefined = [];
  let step: Step = options.lost();
  for (const [index, exchange] of exchanges.entries()) {
    // After an interrupt the person's new words replace what was under way.
    if (isAsked(exchange) && wasInterrupted(exchange)) playing = undefined;
    waiting.push(...tasksIn([...exchange.prompts, ...exchange.orders]));
    news.push(...exchange.texts);
    playing?.heard.push(...exchange.texts);
    if (results === undefined) playing = undefined;
    const known = () => knownTasks(options.exchanges.slice(0, begin + index + 1));
    const advanced = advance({ options, playing, results: results ?? [], waiting, news, exchange, known });
    const isLast = (advanced.step.calls?.length ?? 0) === 0;
    held.push(...advanced.said);
    step = joined(isLast || !isOrdered ? held.splice(0) : [], advanced.step);
    playing = advanced.playing;
    if (exchange.answer === undefined) return step;
    if (exchange.answer.calls.length === 0) news.length = 0;
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
    if (exchange !== undefined && isAsked(exchange) && exchange.results.size === 0) return index;
  }
  return 0;
}

function isAsked({ prompts, orders }: Exchange): boolean {
  return prompts.length + orders.length > 0;
}

function wasInterrupted(exchange: Exchange): boolean {
  return [...exchange.results.values()].some((result) => result.isError && /interrupted/i.test(result.text));
}

/** `said`: the answers to what has ended, before the step. */
function advance(state: {
  options: ReplayOptions;
  playing: Playing | undefined;
  results: readonly CallResult[];
  waiting: string[];
  /** What the runtime has said since the last answer. */
  news: readonly string[];
  exchange: Exchange;
  known: () => readonly KnownTask[];
}): { said: readonly string[]; step: Step; playing: Playing | undefined } {
  const { options, waiting, news, exchange } = state;
  const said: string[] = [];
  let { playing } = state;
  let results: readonly CallResult[] = state.results;
  for (;;) {
    if (playing === undefined) {
      const prompt = waiting.shift();
      if (prompt === undefined) return { said, step: unasked(options, { news, exchange }), playing };
      const heard = [prompt];
      const task = { prompt, heard, offers: options.offers, known: state.known };
      playing = { play: options.start(task), heard };
      results = [];
    }
    const turn = playing.play.next(results);
    const step: Step = typeof turn.value === "string" ? { text: turn.value } : turn.value;
    if (turn.done !== true || (step.calls?.length ?? 0) > 0) return { said, step, playing };
    said.push(step.text ?? "");
    playing = undefined;
    // What came meanwhile is told when the work is done, not in the middle of it.
    if (waiting.length === 0) return { said, step: options.told?.(news) ?? {}, playing };
  }
}

/** Results that nobody waits for mean that the thread is lost, whatever else was said with them. */
function unasked(options: ReplayOptions, heard: { news: readonly string[]; exchange: Exchange }): Step {
  return (heard.exchange.results.size === 0 ? options.told?.(heard.news) : undefined) ?? options.lost();
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
