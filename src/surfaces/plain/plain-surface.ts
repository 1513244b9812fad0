/** A person at a plain console, as the runtime asks them. */
import { isCancelled, messageOf, systemCodeOf } from "../../base/errors.ts";
import type { SessionPermissions, Surface } from "../../runtime/session.ts";
import type { AgentLabels } from "./agent-labels.ts";
import type { PlainConsole } from "./console.ts";
import { permissionQuestion, readPermissionAnswer } from "./permission-question.ts";
import { questionText, readChoice } from "./user-question.ts";

export interface PlainSurface extends Required<Surface> {
  /** Something went wrong that nobody waits for. */
  onProblem(message: string): void;
}

export function createPlainSurface(
  console: PlainConsole,
  heard: Pick<PlainSurface, "onSuggestion" | "onProblem">,
): PlainSurface {
  return {
    ...heard,
    async askQuestions(questions, signal) {
      const answers: [string, string | string[]][] = [];
      for (const question of questions) {
        const typed = await console.ask(questionText(question), signal);
        if (typed === undefined) return undefined;
        answers.push([question.question, readChoice(question, typed)]);
      }
      return Object.fromEntries(answers);
    },
    async approvePlan(plan, signal) {
      const typed = (
        await console.ask(
          `Plan:\n${plan}\nGo ahead with this plan? [y]es / [n]o (or say what to change): `,
          signal,
        )
      )?.trim();
      if (typed === undefined || /^(no?)?$/i.test(typed)) return { approved: false };
      return /^y(es)?$/i.test(typed) ? { approved: true } : { approved: false, message: typed };
    },
  };
}

/** Puts the waiting questions to the person, one after the other, until the returned function is called. */
export function answerPermissions(options: {
  console: PlainConsole;
  permissions: SessionPermissions;
  labels: Pick<AgentLabels, "of">;
}): () => void {
  const { console, permissions, labels } = options;
  const open = new Map<string, AbortController>();
  const ask = async (id: string, text: string, signal: AbortSignal) => {
    try {
      const typed = await console.ask(text, signal);
      const { note } = await permissions.answer(id, readPermissionAnswer(typed));
      if (note !== undefined) console.line(`(${note})`);
    } catch (error) {
      // Withdrawn, or answered elsewhere while this was typed.
      if (!isCancelled(error) && systemCodeOf(error) !== "question-not-waiting")
        console.line(`cadre: ${messageOf(error)}`);
    } finally {
      open.delete(id);
    }
  };
  return permissions.subscribe((change) => {
    if (change.type === "question-close") open.get(change.id)?.abort();
    else {
      const { question } = change;
      const withdrawal = new AbortController();
      open.set(question.id, withdrawal);
      const label = question.agent && labels.of(question.agent.id);
      void ask(question.id, permissionQuestion(question, label), withdrawal.signal);
    }
  });
}
