/** Commands about the conversation itself: to branch it, to shorten it, to ask beside it. */
import { messageOf } from "../../base/errors.ts";
import { groupDigits } from "../../base/group-digits.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";

export type SessionCommand =
  | { readonly name: "fork"; readonly goOn: boolean }
  | { readonly name: "compact"; readonly instructions: string | undefined }
  | { readonly name: "btw"; readonly question: string };

/** A text: it is one of these, but not as it must be said. Undefined: it is something else. */
export function sessionCommandIn(typed: string): SessionCommand | string | undefined {
  const [, name, rest = ""] = /^\/(fork|compact|btw)(?:\s+(.*))?$/s.exec(typed.trim()) ?? [];
  const argument = rest.trim();
  switch (name) {
    case "fork":
      return /^(--go)?$/.test(argument)
        ? { name, goOn: argument !== "" }
        : "Either /fork, or /fork --go to go on in the copy.";
    case "compact":
      return { name, instructions: argument || undefined };
    case "btw":
      return argument === "" ? "What is the question? /btw QUESTION" : { name, question: argument };
    default:
      return undefined;
  }
}

/** It needs the conversation to itself. */
export function isForIdle(command: SessionCommand): boolean {
  return command.name === "compact" || (command.name === "fork" && command.goOn);
}

/** Tells how to go on in both. */
export async function branchConversation(session: Session): Promise<string> {
  return await orWhyNot("not branched", async () => {
    const { id } = await session.branch();
    const left = session.tasks.list().filter(({ status }) => status === "running").length;
    const stay = left === 0 ? "" : " What is at work stays here.";
    return `Branched: you go on here.${stay} To go on in the copy, from another terminal:\n  cadre --resume ${id}`;
  });
}

export async function compactConversation(
  session: Session,
  instructions: string | undefined,
  onEvent: (event: LoopEvent) => void,
): Promise<string> {
  return await orWhyNot("not compacted", async () => {
    if (session.messages.length === 0) return "There is nothing to compact yet.";
    const { ok, problem, promptTokensBefore } = await session.compact(instructions, onEvent);
    if (!ok)
      return `cadre: not compacted: ${problem ?? "the model gave no summary"} The conversation is as it was.`;
    const before = promptTokensBefore > 0 ? ` It had ${groupDigits(promptTokensBefore)} tokens.` : "";
    return `Compacted: from here on the model has a summary.${before} The transcript has everything.`;
  });
}

export async function askBeside(session: Session, question: string, signal: AbortSignal): Promise<string> {
  return await orWhyNot("not asked", async () => {
    const answer = await session.askAside(question, signal);
    return `${answer.trim()}\n(beside the conversation: nothing of this is part of it)`;
  });
}

async function orWhyNot(what: string, act: () => Promise<string>): Promise<string> {
  try {
    return await act();
  } catch (error) {
    return `cadre: ${what}: ${messageOf(error)}`;
  }
}
