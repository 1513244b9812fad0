/** What must hold after every run, whatever happened in it. */
import { expect } from "vitest";
import { CadreError } from "../../src/base/errors.ts";
import type { LoopEvent } from "../../src/contracts/event.ts";
import type { Block, Message } from "../../src/contracts/message.ts";
import { toolUsesOf } from "../../src/contracts/message-content.ts";
import { loadRecords } from "./load-records.ts";
import type { Plan } from "./plan.ts";
import type { Outcome, SeenRequest } from "./play-plan.ts";

export function checkInvariants(plan: Plan, outcome: Outcome): void {
  expect(outcome.violations).toEqual([]);
  expectReasonableEnd(plan, outcome);
  // A reader who left, and a disk that failed, may leave the last message without its answer on disk.
  const whole = !("threw" in outcome.end);
  expectPaired(outcome.messages, { whole });
  for (const request of outcome.requests) expectPaired(request.messages, { whole: true });
  expectGrowingRequests(outcome.requests);
  expectEventsInOrder(outcome.events, { whole });
  expectRecorded(outcome);
  expectTruth(outcome);
  expectPromptEnd(plan, outcome);
  expectQueueKept(outcome);
  expectSteered(plan, outcome);
}

/** After a crash between any two records the history can be sent, and tells of everything that was started. */
export async function checkRecovery(plan: Plan, { records, messages }: Outcome): Promise<void> {
  const whole = await loadRecords(records);
  expect(whole.problems).toEqual([]);
  // Messages without a word or a call are left out when a history is read back (TA-24).
  const said = messages.filter(({ content }) => content.some(isSaid));
  expect(whole.messages.slice(0, said.length)).toEqual(JSON.parse(JSON.stringify(said)));
  expectPaired(whole.messages, { whole: true });

  const written = records.slice(0, plan.seed % (records.length + 1));
  const recovered = await loadRecords(written);
  expectPaired(recovered.messages, { whole: true });
  if (written.some((record) => record.type === "compaction")) return;
  const calls = recovered.messages.flatMap((message) => toolUsesOf(message.content).map((call) => call.id));
  const started = written.flatMap((record) => (record.type === "calls" ? record.started : []));
  expect(calls).toEqual(expect.arrayContaining(started));
}

function isSaid(block: Block): boolean {
  if (block.type === "text") return block.text.trim() !== "";
  return block.type !== "thinking" && block.type !== "redacted_thinking";
}

function expectReasonableEnd(plan: Plan, { end, left }: Outcome): void {
  if (!("threw" in end)) return;
  if (left && (end.threw as Error).message === "the reader left") return;
  if (end.threw instanceof CadreError && end.threw.code === "journal-unwritable") {
    expect(plan.disk.failing).not.toEqual([]);
    return;
  }
  expect((end.threw as Error).message).toBe("the hook broke");
}

/** LO-4: every call has exactly one result, in the next message, in the same order; and no result has no call. */
export function expectPaired(messages: readonly Message[], { whole }: { whole: boolean }): void {
  const ids = messages.flatMap((message) => toolUsesOf(message.content).map((call) => call.id));
  expect(new Set(ids).size, "call ids are unique").toBe(ids.length);
  expect(ids).not.toContain("");
  let awaited: string[] = [];
  for (const message of messages) {
    const results = message.content.flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    expect(results, "results answer the calls before them").toEqual(awaited);
    awaited = toolUsesOf(message.content).map((call) => call.id);
  }
  if (whole) expect(awaited, "the last calls have results").toEqual([]);
}

/** LO-5: what was sent once is sent again, unchanged. */
function expectGrowingRequests(requests: readonly SeenRequest[]): void {
  for (const [index, request] of requests.entries()) {
    expect(request.messages[0]?.role).toBe("user");
    for (const message of request.messages) expect(message.content.length).toBeGreaterThan(0);
    const before = requests[index - 1];
    if (before === undefined || before.restarts !== request.restarts) continue;
    const same = request.messages.slice(0, before.messages.length);
    expect(JSON.stringify(same), "a request begins with the one before").toBe(
      JSON.stringify(before.messages),
    );
  }
}

/** LO-23: of each message, calls end in the order in which they stand; nobody starts twice or ends unasked. */
function expectEventsInOrder(events: readonly LoopEvent[], { whole }: { whole: boolean }): void {
  const started = new Set<string>();
  const ended: string[] = [];
  for (const event of events) {
    if (event.type === "call-start") {
      expect(started.has(event.call.id)).toBe(false);
      started.add(event.call.id);
    } else if (event.type === "call-end") ended.push(event.call.id);
    else if (event.type === "call-progress") expect(ended).not.toContain(event.toolUseId);
  }
  const appended = events.flatMap((event) =>
    event.type === "message-append" ? toolUsesOf(event.message.content).map((call) => call.id) : [],
  );
  const known = new Set(appended);
  expect(new Set(ended).size).toBe(ended.length);
  const endedOfAppended = ended.filter((id) => known.has(id));
  expect(endedOfAppended).toEqual(whole ? appended : appended.slice(0, endedOfAppended.length));
}

/** The history and what is on disk are the same. */
function expectRecorded({ records, messages }: Outcome): void {
  let recorded: Message[] = [];
  for (const record of records) {
    if (record.type === "message") recorded.push(record.message);
    else if (record.type === "compaction") recorded = [...record.messages];
  }
  expect(recorded).toEqual(messages);
}

/** An answer that never came to its end is not passed off as one. */
function expectTruth({ end, events }: Outcome): void {
  if ("threw" in end || end.reason !== "completed") return;
  const last = events.findLast((event) => event.type === "model-event");
  expect(last?.event.type).toBe("message-stop");
}

/** The grace of a call that ignores its signal, and some time for what runs. */
const promptMs = 7_000;

function expectPromptEnd(plan: Plan, { askedMs, endMs }: Outcome): void {
  if (askedMs.cancel !== undefined) expect(endMs - askedMs.cancel).toBeLessThan(promptMs);
  // A call that blocks may go on after a stop; one that never ends does so for ever.
  const hangs = plan.replies.some((reply) =>
    reply.calls.some(({ behaviour }) => /^hangs/.test(behaviour.kind)),
  );
  if (askedMs.stop !== undefined && !hangs) expect(endMs - askedMs.stop).toBeLessThan(promptMs);
}

/** Each item waits, or stands in one message. */
function expectQueueKept({ messages, records, queued, stillWaiting, end }: Outcome): void {
  if (records.some((record) => record.type === "compaction") || "threw" in end) return;
  const arrived = messages.flatMap((message) => message.queueItems ?? []);
  expect(new Set(arrived).size).toBe(arrived.length);
  expect(arrived.length + stillWaiting).toBe(queued.length);
}

/** A message that waits is a wish to go on, never an end. */
function expectSteered(plan: Plan, { end }: Outcome): void {
  if ("threw" in end || end.reason !== "aborted") return;
  if (plan.breakIns.every(({ what }) => !/^(stop|cancel|leave)$/.test(what)))
    expect(end.why).toBe("the test lost its patience");
}
