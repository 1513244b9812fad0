/** Tools that do what a plan says, and watch over the rules of their execution. */
import * as z from "zod";
import { sleep } from "../../src/base/cancellation.ts";
import { CancelledError } from "../../src/base/errors.ts";
import type { Clock } from "../../src/base/world.ts";
import type { Gate } from "../../src/tools/executor.ts";
import { defineTool, type Tool, ToolFailure } from "../../src/tools/tool.ts";
import type { ToolContext } from "../../src/tools/tool-context.ts";
import type { Behaviour, CallPlan } from "./plan.ts";

const Input = z.object({ number: z.number() });

interface Watch {
  readonly calls: readonly CallPlan[];
  readonly clock: Clock;
  readonly violate: (what: string) => void;
  readonly isOnDisk: (callId: string) => boolean;
  readonly hasEnded: () => boolean;
  /** A person asked for the end. */
  readonly isStopped: () => boolean;
}

interface Kind {
  readonly name: CallPlan["tool"];
  readonly safe: boolean;
  readonly readOnly: boolean;
  readonly lane?: Tool["lane"];
  readonly needsWholeMessage?: boolean;
  readonly interruptBehavior?: Tool["interruptBehavior"];
}

const kinds: readonly Kind[] = [
  { name: "Safe", safe: true, readOnly: true },
  { name: "Unsafe", safe: false, readOnly: false },
  { name: "Cancel", safe: false, readOnly: false, interruptBehavior: "cancel" },
  { name: "Whole", safe: true, readOnly: true, needsWholeMessage: true },
  { name: "Delegate", safe: true, readOnly: false, lane: "agent" },
];

export function createPlannedTools(watch: Watch): { tools: Tool[]; gate: Gate } {
  const active = new Map<string, Kind>();
  const began = new Set<string>();

  function begin(kind: Kind, context: ToolContext): void {
    const id = context.toolUseId;
    if (watch.hasEnded()) watch.violate(`${kind.name} started after the end`);
    if (watch.isStopped()) watch.violate(`${kind.name} started after the stop`);
    if (began.has(id)) watch.violate(`${kind.name} ran twice`);
    if (context.signal.aborted) watch.violate(`${kind.name} started although it was cancelled`);
    if (!kind.readOnly && !watch.isOnDisk(id)) watch.violate(`${kind.name} started before it was on disk`);
    for (const other of active.values())
      if (!kind.safe || !other.safe) watch.violate(`${kind.name} ran beside ${other.name}`);
    began.add(id);
    active.set(id, kind);
  }

  const define = (kind: Kind) =>
    defineTool({
      name: kind.name,
      description: "Does as planned",
      input: Input,
      isReadOnly: () => kind.readOnly,
      isConcurrencySafe: () => kind.safe,
      ...(kind.lane && { lane: kind.lane }),
      ...(kind.needsWholeMessage && { needsWholeMessage: true }),
      ...(kind.interruptBehavior && { interruptBehavior: kind.interruptBehavior }),
      maxResultChars: 100,
      call({ number }, context) {
        const behaviour = watch.calls[number]?.behaviour ?? { kind: "answers", afterMs: 0 };
        begin(kind, context);
        const end = () => active.delete(context.toolUseId);
        // One that ignores its signal is given up, and the next may begin.
        context.signal.addEventListener(
          "abort",
          () => behaviour.kind.endsWith("ignores-its-signal") && end(),
        );
        if (behaviour.kind === "throws-at-once") {
          end();
          throw new Error("broke before it began");
        }
        return behave(behaviour, { clock: watch.clock, context, end });
      },
      toResult(text) {
        if (text === "unfit") throw new Error("the result cannot be told");
        if (text === "siblings") return { content: "failed", isError: true, failsSiblings: true };
        return text;
      },
    });

  const fickle = defineTool({
    name: "Fickle",
    description: "Cannot say what it is",
    input: Input,
    isReadOnly: () => {
      throw new Error("cannot say");
    },
    call: async () => "never",
    toResult: (text) => text,
  });

  return { tools: [...kinds.map(define), fickle], gate: gateOf(watch) };
}

async function behave(
  behaviour: Behaviour,
  { clock, context, end }: { clock: Clock; context: ToolContext; end: () => void },
): Promise<string> {
  try {
    switch (behaviour.kind) {
      case "answers":
        if (behaviour.afterMs > 0) await sleep(clock, behaviour.afterMs, context.signal);
        return "done";
      case "fails":
        throw new ToolFailure("failed as planned");
      case "fails-siblings":
        await sleep(clock, behaviour.afterMs, context.signal);
        return "siblings";
      case "throws":
        throw thrown(behaviour.what);
      case "throws-in-result":
        return "unfit";
      case "hangs":
        return await sleep(clock, 365 * 24 * 60 * 60_000, context.signal).then(() => "late");
      case "hangs-and-ignores-its-signal":
        return await new Promise<never>(() => {});
      case "floods":
        for (let piece = 0; piece < behaviour.pieces; piece++) context.report?.({ text: `piece ${piece}` });
        return "flooded";
      case "answers-much":
        return "much ".repeat(1_000);
      case "throws-at-once":
        return "unreachable";
    }
  } finally {
    end();
  }
}

function thrown(what: Extract<Behaviour, { kind: "throws" }>["what"]): unknown {
  if (what === "error") return new RangeError("out of range");
  if (what === "cancelled") return new CancelledError("of its own");
  return what === "text" ? "a text" : undefined;
}

function gateOf({ calls, clock }: Watch): Gate {
  return async ({ bound, context }) => {
    const plan = calls[Number(bound.input.number)];
    switch (plan?.gate) {
      case "denies":
        return { allowed: false, message: "not allowed" };
      case "throws":
        throw new Error("the gate broke");
      case "hangs":
        return await new Promise<never>(() => {});
      case "allows-late":
        await sleep(clock, 5, context.signal);
        return { allowed: true };
      default:
        return { allowed: true };
    }
  };
}
