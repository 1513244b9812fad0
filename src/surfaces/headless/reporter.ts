/** Says what happens in the words of the chosen output format. Standard output holds that and nothing else. */
import { messageOf } from "../../base/errors.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";
import { createActivityLines } from "../plain/activity-lines.ts";
import { describeEnd } from "./describe-end.ts";
import { toJsonLine } from "./json-lines.ts";
import type { Sink } from "./sink.ts";
import { type WireContext, type WireMessage, wireInit } from "./wire-messages.ts";
import { type FinishedRun, problemOf, wireFailure, wireResult } from "./wire-result.ts";
import { createWireRun, type WireRun } from "./wire-run.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export interface Reporter {
  /** `withAgentText`: whether a program is told what agents say, beside what they do. Default: it is. */
  runStart(session: Session, options?: { withAgentText?: boolean | undefined }): Promise<void>;
  /** Undefined: there is nothing to wait for. */
  event(event: LoopEvent): Promise<void> | undefined;
  runEnd(run: FinishedRun): Promise<void>;
  /** Something failed outside of a run. */
  failure(error: unknown): Promise<void>;
}

export interface ReporterOptions {
  readonly format: OutputFormat;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly verbose: boolean;
  readonly context: WireContext;
  readonly version: string;
  /** Known once the model is chosen. */
  readonly apiKeySource: () => string;
}

export function createReporter(options: ReporterOptions): Reporter {
  const { format, stdout, stderr, context } = options;
  const lines = createActivityLines();
  let wire: WireRun | undefined;
  const emit = (message: WireMessage) => stdout.write(toJsonLine(message));
  const ids = () => ({ sessionId: context.sessionId, uuid: context.uuid() });
  /** A reader who left wants to hear no more, as with any other command in a pipe. */
  const complain = async (message: string) => {
    if (!stdout.broken) await stderr.write(`cadre: ${message}\n`);
  };

  const emitAll = async (messages: Iterable<WireMessage>) => {
    for (const message of messages) await emit(message);
  };
  const showAll = async (texts: Iterable<string>) => {
    for (const text of texts) await stderr.write(`${text}\n`);
  };
  /** Nothing stays open beyond its run. */
  const settle = async () => {
    await emitAll(wire?.close() ?? []);
    wire = undefined;
    if (options.verbose && format !== "stream-json") await showAll(lines.close());
  };

  return {
    async runStart(session, { withAgentText = true } = {}) {
      if (format !== "stream-json") return;
      wire = createWireRun({ context, withAgentText });
      await session.prepare();
      await emit(
        wireInit({ session, version: options.version, apiKeySource: options.apiKeySource(), context }),
      );
    },
    event(event) {
      if (wire !== undefined) return emitAll(wire.messagesOf(event));
      return options.verbose ? showAll(lines.at(event)) : undefined;
    },
    async runEnd(run) {
      await settle();
      if (format === "text") await stdout.write(withFinalNewline(textOf(run)));
      else await emit(wireResult(run, ids()));
      const remark = problemOf(run)?.message ?? describeEnd(run.result.end) ?? silence(run);
      if (remark !== undefined) await complain(remark);
    },
    async failure(error) {
      await settle();
      if (format !== "text") await emit(wireFailure(error, ids()));
      await complain(messageOf(error));
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
