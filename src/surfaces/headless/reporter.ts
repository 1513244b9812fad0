/** Says what happens in the words of the chosen output format. Standard output holds that and nothing else. */
import { messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/world.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";
import { describeEnd } from "./describe-end.ts";
import { toJsonLine } from "./json-lines.ts";
import type { Sink } from "./sink.ts";
import type { WatchedSession } from "./watch-session.ts";
import { type WireContext, type WireMessage, wireInit } from "./wire-messages.ts";
import { type FinishedRun, problemOf, wireFailure, wireResult } from "./wire-result.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export interface Reporter {
  /** Every run has a result of its own; otherwise there is one of all of them. */
  readonly resultPerRun: boolean;
  /** `withAgentText`: whether a program is told what agents say, beside what they do. Default: it is. */
  runStart(session: Session, options?: { withAgentText?: boolean | undefined }): Promise<void>;
  /** Undefined: there is nothing to wait for. */
  event(event: LoopEvent): Promise<void> | undefined;
  runEnd(run: FinishedRun): Promise<void>;
  /** Something failed outside of a run. */
  failure(error: unknown): Promise<void>;
  /** A word to whoever started the command. */
  remark(message: string): Promise<void>;
  /** The session is closed: nothing more will be heard. */
  close(): Promise<void>;
}

export interface ReporterOptions {
  readonly format: OutputFormat;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly verbose: boolean;
  readonly context: WireContext;
  readonly clock: Pick<Clock, "setTimer">;
  readonly version: string;
  /** Known once the model is chosen. */
  readonly apiKeySource: () => string;
}

export function createReporter(options: ReporterOptions): Reporter {
  const { format, stdout, stderr, context } = options;
  const emit = (message: WireMessage) => stdout.write(toJsonLine(message));
  const ids = () => ({ sessionId: context.sessionId, uuid: context.uuid() });
  /** A reader who left wants to hear no more, as with any other command in a pipe. */
  const complain = async (message: string) => {
    if (!stdout.broken) await stderr.write(`cadre: ${message}\n`);
  };
  let watched: WatchedSession | undefined;
  /** A session whose activity nobody wants to know of is not listened to. */
  const watch = async (session: Session, withAgentText: boolean) => {
    if (watched !== undefined || (format !== "stream-json" && !options.verbose)) return;
    const { watchSession } = await import("./watch-session.ts");
    watched = watchSession({ ...options, session, withAgentText });
  };

  return {
    resultPerRun: format === "stream-json",
    async runStart(session, { withAgentText = true } = {}) {
      await watch(session, withAgentText);
      await watched?.startRun();
      if (format !== "stream-json") return;
      await session.prepare();
      await emit(
        wireInit({ session, version: options.version, apiKeySource: options.apiKeySource(), context }),
      );
    },
    event: (event) => watched?.event(event),
    async runEnd(run) {
      await watched?.endRun();
      if (format === "text") await stdout.write(withFinalNewline(textOf(run)));
      else await emit(wireResult(run, ids()));
      const remark = problemOf(run)?.message ?? describeEnd(run.result.end) ?? silence(run);
      if (remark !== undefined) await complain(remark);
    },
    async failure(error) {
      await watched?.endRun();
      if (format !== "text") await emit(wireFailure(error, ids()));
      await complain(messageOf(error));
    },
    remark: complain,
    async close() {
      await watched?.close();
      watched = undefined;
    },
  };
}

/** Nothing on standard output looks like a fault of ours. */
function silence({ result }: FinishedRun): string | undefined {
  const said = result.text !== "" || result.structuredOutput !== undefined;
  return said ? undefined : "The model ended without saying anything.";
}

function textOf({ result, wantsStructuredOutput }: FinishedRun): string {
  if (!wantsStructuredOutput || result.structuredOutput === undefined) return result.text;
  return JSON.stringify(result.structuredOutput, null, 2);
}

function withFinalNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
