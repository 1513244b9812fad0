/**
 * `--debug`: what the runtime asks and decides, on standard error. It names requests and tools but never
 * shows headers, bodies, queries or tool inputs: those may hold secrets.
 */
import type { Clock, Network, World } from "../base/world.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Session } from "../runtime/session.ts";

export type DebugLog = (line: string) => void;

export function withDebugLog(world: World, log: DebugLog): World {
  return { ...world, network: logNetwork(world.network, { clock: world.clock, log }) };
}

function logNetwork(network: Network, options: { clock: Clock; log: DebugLog }): Network {
  const { clock, log } = options;
  return {
    async fetch(input, init) {
      const request = `${init?.method ?? "GET"} ${addressOf(input)}`;
      const start = clock.monotonicMs();
      const took = () => `${Math.round(clock.monotonicMs() - start)} ms`;
      try {
        const response = await network.fetch(input, init);
        log(`http ${request}: ${response.status} after ${took()}`);
        return response;
      } catch (error) {
        log(`http ${request}: ${error instanceof Error ? error.name : "failed"} after ${took()}`);
        throw error;
      }
    },
    close: () => network.close(),
  };
}

function addressOf(input: string | URL): string {
  try {
    const url = new URL(input);
    return url.origin + url.pathname;
  } catch {
    return "(not a URL)";
  }
}

/** The same session, whose runs are logged on the way. */
export function withRunLog(session: Session, log: DebugLog): Session {
  async function* submit(...content: Parameters<Session["submit"]>): ReturnType<Session["submit"]> {
    const run = session.submit(...content);
    try {
      for (;;) {
        const step = await run.next();
        if (step.done === true) {
          log(`run ended: ${step.value.end.reason}, ${step.value.turns} turns`);
          return step.value;
        }
        const line = describe(step.value);
        if (line !== undefined) log(line);
        yield step.value;
      }
    } finally {
      // Leaving early must reach the session; after the end it changes nothing. Nobody reads the value.
      await run.return(undefined as never);
    }
  }
  return Object.create(session, { submit: { value: submit } }) as Session;
}

function describe(event: LoopEvent): string | undefined {
  switch (event.type) {
    case "turn-start":
      return `turn ${event.turn} starts`;
    case "turn-end":
      return `turn ${event.turn} ended: ${JSON.stringify(event.usage)}`;
    case "model-retry":
      return `retry ${event.attempt} in ${event.delayMs} ms: ${event.reason}`;
    case "response-discard":
      return `response discarded: ${event.reason}`;
    case "call-start":
      return `call ${event.call.id} ${event.call.name} starts`;
    case "call-denied":
      return `call ${event.call.id} ${event.call.name} denied: ${event.reason}`;
    case "call-end":
      return `call ${event.call.id} ${event.call.name} ${event.result.is_error === true ? "failed" : "ended"} after ${Math.round(event.durationMs)} ms`;
    case "prefix-change":
      return `prompt prefix changed: ${event.reason}`;
    case "compaction-start":
      return `compaction starts: ${event.trigger}`;
    default:
      return undefined;
  }
}
