/** A person at a plain console, as the runtime asks them. */
import type { Surface } from "../../runtime/session.ts";
import type { PlainConsole } from "./console.ts";
import { permissionQuestion, readPermissionAnswer } from "./permission-question.ts";
import { questionText, readChoice } from "./user-question.ts";

export function createPlainSurface(console: PlainConsole): Required<Surface> {
  return {
    async askPermission(request, signal) {
      return readPermissionAnswer(await console.ask(permissionQuestion(request), signal));
    },
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
