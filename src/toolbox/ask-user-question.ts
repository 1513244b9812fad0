import * as z from "zod";
import { unlessCancelled } from "../base/cancellation.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";

const description = `Asks the person one to four questions with two to four choices each, and waits for the answers. Use it when the work depends on a decision that only they can make and that you can not find out by looking. The person can always answer in their own words, so offer no "Other". Put the choice you recommend first and say why in its description.`;

export const Question = z.object({
  question: z.string().min(1).describe("The whole question"),
  header: z.string().min(1).max(20).describe("One or two words that name it, for narrow displays"),
  options: z
    .array(
      z.object({
        label: z.string().min(1).describe("The choice in a few words"),
        description: z.string().describe("What choosing it means"),
      }),
    )
    .min(2)
    .max(4)
    .refine((options) => new Set(options.map((option) => option.label)).size === options.length, {
      message: "two options have the same label",
    }),
  multiSelect: z.boolean().default(false).describe("Whether several options can be chosen"),
});
export type Question = z.infer<typeof Question>;

const Input = z.object({
  questions: z
    .array(Question)
    .min(1)
    .max(4)
    .refine((questions) => new Set(questions.map((item) => item.question)).size === questions.length, {
      message: "two questions are the same",
    }),
});

/** By the text of the question: the label that was chosen (several with `multiSelect`), or the person's own words. */
export type Answers = Readonly<Record<string, string | readonly string[]>>;

/** Given by the surface. Undefined: nobody is there, or they did not want to answer. */
export type AskUser = (questions: readonly Question[], signal: AbortSignal) => Promise<Answers | undefined>;

export interface AskUserQuestionOutput {
  readonly questions: readonly Question[];
  readonly answers: Answers | undefined;
}

export function createAskUserQuestionTool(deps: { ask?: AskUser } = {}): Tool {
  return defineTool({
    name: "AskUserQuestion",
    description,
    input: Input,
    isReadOnly: () => true,
    // One question at a time is on the screen.
    isConcurrencySafe: () => false,
    interruptBehavior: "cancel",
    async call({ questions }, { signal }): Promise<AskUserQuestionOutput> {
      if (deps.ask === undefined)
        throw new ToolFailure(
          "Nobody can answer questions here. Decide on your own, take the choice that is easiest to undo, and say in your answer what you decided and why.",
        );
      const answers = await unlessCancelled(deps.ask(questions, signal), signal);
      return { questions, answers };
    },
    toResult: describeAnswers,
  });
}

function describeAnswers({ questions, answers }: AskUserQuestionOutput): string {
  if (answers === undefined)
    return "The person did not answer. Go on without, or ask in your reply if you can not.";
  return questions.map(({ question }) => `${question}\n${describeAnswer(answers, question)}`).join("\n\n");
}

function describeAnswer(answers: Answers, question: string): string {
  const answer = Object.hasOwn(answers, question) ? answers[question] : undefined;
  const text = typeof answer === "object" ? answer.join(", ") : (answer ?? "");
  return text.trim() === "" ? "(not answered)" : `Answer: ${text}`;
}
