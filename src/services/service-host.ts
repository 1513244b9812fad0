/** Runs the services of a session: when they begin, what they may use, how they end, and what each of them cost. */
import { onCancelled, reasonOf, type Scope, shielded } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { Timer, World } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import type { Budget } from "../loop/budget.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { askInternally, type ServiceQuestion } from "./ask-internally.ts";
import { ServiceBudget } from "./service-budget.ts";
import { type ServiceName, serviceSetting } from "./service-settings.ts";

/** What services see of their session. */
export interface ServedSession {
  readonly world: World;
  readonly settings: Settings;
  /** A person follows it. */
  readonly isWatched: boolean;
  /** All of it: what services use is charged here, too. */
  readonly budget: Budget;
  readonly scope: Scope;
  /** The main conversation as it stands. Undefined: nothing was said yet. */
  conversation(): LoopOptions | undefined;
  readonly onProblem: (message: string) => void;
}

/** Something that is done when nobody has asked for anything for a while. */
export interface IdleService {
  readonly name: ServiceName;
  readonly idleMs: number;
  /** What it makes is for later: it gets a moment when the session closes. */
  readonly keeps?: boolean;
  /** Asked when its time has come. */
  isDue(): boolean;
  run(run: ServiceRun): Promise<void>;
}

export interface ServiceRun {
  /**
   * The model's answer. Undefined: there is none to be had, and nothing to be told about that. Rejects when the service
   * has to end.
   */
  ask(question: ServiceQuestion): Promise<string | undefined>;
}

export interface ServiceCost {
  readonly name: ServiceName;
  readonly requests: number;
  readonly usage: Usage;
  /** Undefined: the price of a model is not known. */
  readonly costUsd: number | undefined;
  /** Its budget is used up, or it has failed too often: it does nothing more in this session. */
  readonly resting: boolean;
}

export interface ServiceHost {
  isEnabled(name: ServiceName): boolean;
  /** The main agent begins: what is done for idleness ends, and is done another time. */
  runBegan(): void;
  /** The main agent is idle. */
  runEnded(): void;
  /** Does it now, unless it is done already. Ends when the main agent begins. */
  begin(service: IdleService): void;
  /** Does something that somebody waits for, and that goes on beside a run. Throws what `work` throws. */
  perform<T>(
    name: ServiceName,
    work: (run: ServiceRun) => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  /** The same for what nobody waits for. Never rejects. */
  attempt(name: ServiceName, work: (run: ServiceRun) => Promise<void>): Promise<void>;
  /** Of those that have asked something. */
  readonly costs: readonly ServiceCost[];
  /** What is worth keeping may take `graceMs`, all else ends now. Resolves when all have ended. */
  close(options: { graceMs: number }): Promise<void>;
}

/** After so many failures without a success in between a service rests. */
const mostFailures = 3;

interface ServiceState {
  readonly budget: ServiceBudget;
  requests: number;
  failures: number;
  resting: boolean;
}

export function createServiceHost(session: ServedSession, services: readonly IdleService[]): ServiceHost {
  const { world, scope: sessionScope } = session;
  const states = new Map<ServiceName, ServiceState>();
  const told = new Set<ServiceName>();
  const timers = new Set<Timer>();
  /** By name: of what is done for idleness there is one at a time. */
  const idle = new Map<ServiceName, { readonly scope: Scope; readonly done: Promise<void> }>();
  const others = new Set<Promise<unknown>>();
  const askedScope = sessionScope.child();
  let isIdle = true;
  let closed = false;

  const isEnabled = (name: ServiceName) => serviceSetting(name, session).enabled;

  function stateOf(name: ServiceName): ServiceState {
    const known = states.get(name);
    if (known) return known;
    const { limits } = serviceSetting(name, session);
    const budget = new ServiceBudget({ limits, name, session: session.budget });
    const state = { budget, requests: 0, failures: 0, resting: false };
    states.set(name, state);
    return state;
  }

  function runOf(name: ServiceName, scope: Scope): ServiceRun {
    return {
      async ask(question) {
        const state = stateOf(name);
        const loop = question.loop ?? session.conversation();
        if (loop === undefined || state.resting) return undefined;
        if (session.budget.exhausted() !== undefined) return undefined;
        state.requests++;
        const answer = await askInternally({ ...question, loop, name, budget: state.budget, scope });
        state.resting ||= answer.exhausted;
        return answer.text;
      },
    };
  }

  /** Once for each service: whoever reads it can switch it off. */
  function fail(name: ServiceName, error: unknown): void {
    const state = stateOf(name);
    state.failures++;
    if (state.failures >= mostFailures) state.resting = true;
    if (told.has(name)) return;
    told.add(name);
    session.onProblem(
      `The service ${name} failed: ${messageOf(error)} (The setting services.${name} switches it off.)`,
    );
  }

  async function attempt(
    name: ServiceName,
    work: (run: ServiceRun) => Promise<void>,
    scope: Scope = askedScope.child(),
  ): Promise<void> {
    try {
      await work(runOf(name, scope));
      stateOf(name).failures = 0;
    } catch (error) {
      if (!isCancelled(error)) fail(name, error);
    } finally {
      scope.release();
    }
  }

  function begin(service: IdleService): void {
    const { name } = service;
    if (closed || !isIdle || idle.has(name) || states.get(name)?.resting || !service.isDue()) return;
    const scope = sessionScope.child();
    const done = attempt(name, (run) => service.run(run), scope).finally(() => idle.delete(name));
    idle.set(name, { scope, done });
  }

  function clearTimers(): void {
    for (const timer of timers) timer.cancel();
    timers.clear();
  }

  function schedule(service: IdleService): void {
    const timer = world.clock.setTimer(
      service.idleMs,
      () => {
        timers.delete(timer);
        begin(service);
      },
      { unref: true },
    );
    timers.add(timer);
  }

  const enabled = services.filter(({ name }) => isEnabled(name));

  /** Those that keep something do what they would have done a little later. */
  async function finishKept(graceMs: number): Promise<void> {
    const kept = enabled.filter(({ keeps }) => keeps);
    for (const service of kept) begin(service);
    const under = kept.flatMap(({ name }) => idle.get(name)?.done ?? []);
    if (under.length === 0) return;
    const what = "finishing the services";
    await shielded({ clock: world.clock, deadlineMs: graceMs, what }, async () => {
      await Promise.all(under);
    }).catch(() => {});
  }

  return {
    isEnabled,
    runBegan() {
      isIdle = false;
      clearTimers();
      for (const { scope } of idle.values()) scope.cancel("the conversation goes on");
    },
    runEnded() {
      if (closed) return;
      isIdle = true;
      clearTimers();
      for (const service of enabled) schedule(service);
    },
    begin,
    async perform(name, work, { signal } = {}) {
      const scope = askedScope.child();
      const stopListening = signal && onCancelled(signal, () => scope.cancel(reasonOf(signal)));
      if (signal?.aborted) scope.cancel(reasonOf(signal));
      const done = work(runOf(name, scope));
      others.add(done);
      try {
        return await done;
      } finally {
        stopListening?.();
        others.delete(done);
        scope.release();
      }
    },
    attempt(name, work) {
      const done = attempt(name, work).finally(() => others.delete(done));
      others.add(done);
      return done;
    },
    get costs() {
      return Array.from(states, ([name, { budget, requests, resting }]) => ({
        name,
        requests,
        usage: requests === 0 ? noUsage : budget.usage,
        costUsd: budget.costUsd,
        resting,
      })).filter(({ requests }) => requests > 0);
    },
    async close({ graceMs }) {
      if (closed) return;
      clearTimers();
      askedScope.cancel("the session was closed");
      if (isIdle && graceMs > 0) await finishKept(graceMs);
      closed = true;
      for (const { scope } of idle.values()) scope.cancel("the session was closed");
      await Promise.allSettled([...Array.from(idle.values(), ({ done }) => done), ...others]);
    },
  };
}
