/** Asks a running session something, through its control socket. */
import { isAbsolute } from "node:path";
import { cancelAfter, createScope, unlessCancelled } from "../base/cancellation.ts";
import { CadreError, CancelledError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { Connection, World } from "../base/world.ts";
import { linesOf } from "./control-lines.ts";
import {
  type AnswerTo,
  answersTo,
  ControlRefusal,
  type ControlRequest,
  controlVersion,
} from "./control-protocol.ts";

/** Without the version, which is always ours. */
export type ControlQuestion = ControlRequest extends infer Request
  ? Request extends ControlRequest
    ? Omit<Request, "version">
    : never
  : never;

export interface AskOptions<Question extends ControlQuestion> {
  readonly world: Pick<World, "sockets" | "clock">;
  /** Of its socket. */
  readonly path: string;
  readonly question: Question;
  /** Default: 5 s. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

const defaultDeadlineMs = 5_000;
/** Thousands of tasks fit. */
const mostAnswerBytes = 64 * 1024 * 1024;

/**
 * Throws a `CadreError`: `session-unreachable` if there is nobody to ask or no answer comes; otherwise what the
 * session said in its refusal, under its code. Cancelled by `signal` it throws `CancelledError`.
 */
export async function askSession<Question extends ControlQuestion>(
  options: AskOptions<Question>,
): Promise<AnswerTo<Question["request"]>> {
  const { world, path, question, deadlineMs = defaultDeadlineMs } = options;
  await assertOwnSocket(world, path);
  const scope = createScope(options.signal);
  const stopTimer = cancelAfter({ clock: world.clock, scope, delayMs: deadlineMs, reason: "no answer" });
  let connection: Connection | undefined;
  const ask = async () => {
    connection = await world.sockets.connect(path);
    // It may have taken longer than somebody waits.
    if (scope.cancelled) connection.close();
    await connection.write(`${JSON.stringify({ version: controlVersion, ...question })}\n`);
    for await (const line of linesOf(connection.incoming, mostAnswerBytes)) return line;
    throw new Error("it ended the connection without an answer");
  };
  let line: string;
  try {
    line = await unlessCancelled(ask(), scope);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw unreachable(path, error, deadlineMs);
  } finally {
    stopTimer();
    scope.release();
    connection?.close();
  }
  return readAnswer<Question["request"]>({ line, path, request: question.request });
}

/** What is sent is private, and whoever answers is believed: only a process of the same user may be at the other end. */
async function assertOwnSocket(world: Pick<World, "sockets">, path: string): Promise<void> {
  if (!isAbsolute(path) || path.includes("\0"))
    throw new CadreError({
      code: "address-invalid",
      message: `"${path.slice(0, 200)}" is not the absolute path of a session's socket.`,
    });
  if (await world.sockets.isOwn(path).catch(() => false)) return;
  throw new CadreError({
    code: "session-unreachable",
    message: `There is no session at ${path.slice(0, 200)}: it is not a socket of this user. Perhaps the session has ended.`,
    data: { path },
  });
}

function unreachable(path: string, error: unknown, deadlineMs: number): CadreError {
  const code = systemCodeOf(error);
  const why =
    error instanceof CancelledError
      ? `did not answer within ${deadlineMs / 1000} s`
      : code === "ENOENT" || code === "ECONNREFUSED"
        ? "is no longer there"
        : `could not be asked: ${messageOf(error)}`;
  return new CadreError({
    code: "session-unreachable",
    message: `The session at ${path} ${why}.`,
    data: { path },
    cause: error,
    retryable: true,
  });
}

function readAnswer<Kind extends ControlRequest["request"]>(options: {
  line: string;
  path: string;
  request: Kind;
}): AnswerTo<Kind> {
  const { line, path } = options;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const refusal = ControlRefusal.safeParse(value);
  if (refusal.success)
    throw new CadreError({ code: refusal.data.code, message: refusal.data.message, data: { path } });
  const answer = answersTo[options.request].safeParse(value);
  // The schema is that of this request.
  if (answer.success) return answer.data as AnswerTo<Kind>;
  throw new CadreError({
    code: "session-unreachable",
    message: `What listens at ${path} does not answer as a session does. Use the same version of Cadre on both sides.`,
    data: { path },
  });
}
