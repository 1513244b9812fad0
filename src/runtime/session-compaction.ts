/** Compaction of the conversations of a session. Most sessions are short: what does it is loaded when it is needed. */
import { isCancelled } from "../base/errors.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Settings } from "../contracts/settings.ts";
import { compactHistory } from "../loop/compact.ts";
import type { CompactionPort, LoopOptions } from "../loop/loop-options.ts";
import type { StandingParts } from "../services/standing.ts";
import type { CompactionResult } from "./session.ts";

export interface SessionCompaction {
  /** One for all agents. Undefined: it is done only by hand. */
  readonly automatic: CompactionPort | undefined;
  /** Shortens the conversation of this run, which must not be going on. */
  byHand(
    loop: Omit<LoopOptions, "listener">,
    options: { instructions: string | undefined; onEvent: ((event: LoopEvent) => void) | undefined },
  ): Promise<CompactionResult>;
}

const defaultShare = 0.8;

export function createSessionCompaction(
  parts: StandingParts & {
    readonly settings: Settings;
    /** Kept while the main conversation went on. Undefined: there are none. */
    readonly notes?: (() => Promise<string | undefined>) | undefined;
  },
): SessionCompaction {
  const { auto = true, at = defaultShare } = parts.settings.compaction ?? {};
  let loading: Promise<CompactionPort["compact"]> | undefined;
  const port: CompactionPort = {
    at,
    async compact(wish) {
      loading ??= load(parts);
      return await (await loading)(wish);
    },
  };
  return {
    automatic: auto ? port : undefined,
    async byHand(run, { instructions, onEvent }) {
      const loop = { ...run, compaction: port, listener: { emit: onEvent ?? (() => {}) } };
      const end = await compactHistory(loop, { trigger: "manual", instructions });
      await loop.transcript.durable();
      const { usage, costUsd } = loop.budget;
      return {
        ok: end.problem === undefined,
        promptTokensBefore: end.promptTokensBefore,
        ...(end.problem && { problem: wordsOf(end.problem) }),
        usage,
        costUsd,
      };
    },
  };
}

function wordsOf(problem: Error): string {
  return isCancelled(problem) ? `It was stopped: ${problem.reason}.` : problem.message;
}

async function load(
  parts: StandingParts & { readonly notes?: (() => Promise<string | undefined>) | undefined },
): Promise<CompactionPort["compact"]> {
  const [{ createCompaction }, { createStanding }] = await Promise.all([
    import("../services/compaction.ts"),
    import("../services/standing.ts"),
  ]);
  return createCompaction({ standing: createStanding(parts), notes: parts.notes });
}
