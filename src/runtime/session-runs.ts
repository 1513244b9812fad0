/** The runs of a session's main agent: one at a time, each with what waits for it. */
import type { AgentContext } from "../agents/agent-context.ts";
import { CadreError } from "../base/errors.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import type { Budget } from "../loop/budget.ts";
import { createInterrupt, type Interrupt } from "../loop/interrupt.ts";
import { iterateLoop } from "../loop/iterate-loop.ts";
import type { LoopOptions, PrefixChange } from "../loop/loop-options.ts";
import type { Prefix } from "../loop/request.ts";
import { createRunRecorder } from "../loop/run-recorder.ts";
import type { Queue } from "../tasks/queue.ts";
import { describeTool, type Tool } from "../tools/tool.ts";
import type { SessionServices } from "./idle-services.ts";
import { runResult } from "./run-result.ts";
import type { CompactionResult, RunResult } from "./session.ts";
import type { SessionAgents } from "./session-agents.ts";
import type { SessionCompaction } from "./session-compaction.ts";
import { userContent } from "./user-content.ts";

export interface SessionRuns {
  submit(content?: string | Block[]): AsyncGenerator<LoopEvent, RunResult, undefined>;
  compact(instructions?: string, onEvent?: (event: LoopEvent) => void): Promise<CompactionResult>;
  /** What was said beside the runs. A history is a run's own as long as that goes on. */
  tell(content: Block[]): Promise<void>;
  /** The main agent as one that can start others, also when no run goes on. */
  main(): AgentContext;
  /** What the next run would be made of. */
  loop(): Conversation & Pick<LoopOptions, "prefix" | "tools" | "budget">;
  readonly tools: readonly Tool[];
  readonly isRunning: boolean;
  interrupt(): void;
  /** Ends the present run, whose scope is cancelled: it still has to say what became of its calls. */
  end(): Promise<void>;
}

/** What is the same for every run. */
export type Conversation = Omit<
  LoopOptions,
  "interrupt" | "budget" | "prefix" | "tools" | "listener" | "queue" | "renewPrefix" | "input"
> & { readonly queue: Queue };

export interface SessionRunsParts {
  readonly conversation: Conversation;
  readonly prefix: Prefix;
  readonly tools: readonly Tool[];
  readonly budget: Budget;
  readonly agents: SessionAgents;
  readonly services: () => SessionServices;
  readonly compaction: SessionCompaction;
  /** Of what ran when the process died: told with the first prompt. */
  readonly reports: readonly QueueItem[];
  /** Set by the tool that hands in the answer of the session. */
  readonly output: { value: unknown };
}

export function createSessionRuns(parts: SessionRunsParts): SessionRuns {
  const { conversation, budget, agents, compaction, output } = parts;
  const { world, history, transcript, queue, scope, limits } = conversation;
  const reports = [...parts.reports];
  let { prefix, tools } = parts;
  let prefixChange: PrefixChange | undefined;
  let running: Interrupt | undefined;
  let endRun: (() => Promise<void>) | undefined;

  const renewPrefix = () => {
    const change = prefixChange;
    prefixChange = undefined;
    return change;
  };
  const loop = () => ({ ...conversation, prefix, tools, budget });

  async function* submit(content?: string | Block[]): AsyncGenerator<LoopEvent, RunResult, undefined> {
    const interrupt = begin();
    output.value = undefined;
    let run: AsyncGenerator<LoopEvent, LoopEnd, undefined> | undefined;
    try {
      const input = await nextInput(content);
      const runBudget = budget.child({});
      enter(runBudget, interrupt);
      await agents.wakeWaiting();
      const recorder = createRunRecorder({ clock: world.clock, budget: runBudget });
      const iterated = iterateLoop({ ...loop(), renewPrefix, interrupt, input, budget: runBudget });
      run = iterated;
      endRun = async () => void (await iterated.return(closedEnd));
      let step = await run.next();
      for (; !step.done; step = await run.next()) {
        recorder.see(step.value);
        yield step.value;
      }
      // A close from outside has ended the loop without a word of its own.
      const end = scope.cancelled ? (step.value ?? closedEnd) : step.value;
      transcript.append(recorder.record(end));
      await transcript.durable();
      return runResult({ end, recorder, budget: runBudget, structuredOutput: output.value });
    } finally {
      // A consumer that left early stops the run; after its end this does nothing.
      await run?.return({
        reason: "aborted",
        during: "between-turns",
        why: "nobody reads this run any longer",
      });
      endRun = undefined;
      leave();
    }
  }

  async function compact(
    instructions?: string,
    onEvent?: (event: LoopEvent) => void,
  ): Promise<CompactionResult> {
    const interrupt = begin();
    try {
      const own = { ...loop(), interrupt, budget: budget.child({}) };
      return await compaction.byHand(own, { instructions, onEvent });
    } finally {
      leave();
    }
  }

  function begin(): Interrupt {
    if (running) throw busy();
    const interrupt = createInterrupt();
    running = interrupt;
    parts.services().runBegan();
    return interrupt;
  }

  function leave(): void {
    running = undefined;
    parts.services().runEnded();
  }

  function enter(ownBudget: Budget, interrupt: Interrupt): AgentContext {
    const { agent, model } = conversation;
    const main: AgentContext = {
      agent,
      depth: 0,
      model,
      ...(limits.thinking && { effort: limits.thinking.budgetTokens }),
      budget: ownBudget,
      cancellation: scope,
      interrupt,
      history,
    };
    agents.enter(main);
    return main;
  }

  /** What the model hears next: news of the session, then the prompt, then what waited. */
  async function nextInput(
    content: string | Block[] | undefined,
  ): Promise<NonNullable<LoopOptions["input"]>> {
    await Promise.all(reports.splice(0).map((report) => queue.add(report)));
    const news = [
      ...(await parts.services().news(history.messages, content)),
      ...(await agents.news(history.messages)),
    ];
    const agentTool = await agents.renewedTool();
    if (agentTool) renewAgentTool(agentTool);
    const input = inputOf(content, queue);
    return { ...input, content: [...news, ...input.content] };
  }

  /** Costs the whole prompt cache, so it is done only where settings want the list of agents there. */
  function renewAgentTool(agentTool: Tool): void {
    tools = tools.map((tool) => (tool.name === agentTool.name ? agentTool : tool));
    prefix = { ...prefix, tools: tools.map(describeTool) };
    prefixChange = { prefix, tools, reason: "the list of agents in the description of Agent" };
  }

  return {
    submit,
    compact,
    async tell(content) {
      if (running)
        return await queue.add({ uuid: world.random.uuid(), mode: "prompt", priority: "next", content });
      history.append({ role: "user", content, synthetic: true });
      await transcript.durable();
    },
    main: () => agents.live.of(undefined) ?? enter(budget.child({}), createInterrupt()),
    loop,
    get tools() {
      return tools;
    },
    get isRunning() {
      return running !== undefined;
    },
    interrupt: () => running?.request("stop"),
    end: async () => await endRun?.(),
  };
}

/** The prompt, and after it what waits in the queue. */
function inputOf(content: string | Block[] | undefined, queue: Queue): NonNullable<LoopOptions["input"]> {
  const own = content === undefined ? [] : userContent(content);
  const items = queue.take(undefined);
  queue.acknowledge(items);
  const all = [...own, ...items.flatMap((item) => item.content)];
  if (all.length === 0)
    throw new CadreError({
      code: "nothing-to-say",
      message: "There is no prompt, and nothing waits in the queue.",
    });
  return { content: all, queueItems: items.map((item) => item.uuid) };
}

export const closedEnd = {
  reason: "aborted",
  during: "between-turns",
  why: "the session was closed",
} as const;

function busy(): CadreError {
  return new CadreError({
    code: "session-busy",
    message: "A run is going on in this session: wait for its end, or put the text into its queue (enqueue).",
  });
}
