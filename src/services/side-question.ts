/** The side question (`/btw`): answered from what the conversation knows, without entering it, also while a run goes on. */
import { CadreError } from "../base/errors.ts";
import type { ServiceHost } from "./service-host.ts";
import { servicePrompt } from "./service-prompt.ts";

/** Throws a `CadreError` that says why there is no answer. */
export async function askAside(
  host: ServiceHost,
  question: string,
  signal?: AbortSignal | undefined,
): Promise<string> {
  if (!host.isEnabled("sideQuestion"))
    throw refused("Side questions are switched off (setting: services.sideQuestion).", "service-off");
  if (question.trim() === "") throw refused("The question is empty. Give it some text.", "nothing-to-say");
  const answer = await host.perform(
    "sideQuestion",
    ({ ask }) => ask({ prompt: asidePrompt(question), maxOutputTokens: 4_000 }),
    { signal },
  );
  if (answer !== undefined) return answer;
  const isSpent = host.costs.some(({ name, resting }) => name === "sideQuestion" && resting);
  throw refused(
    isSpent
      ? "There is no answer: the budget for side questions is used up (setting: services.sideQuestion.tokens)."
      : "There is no answer: nothing was said in this session yet, its budget is used up, or the model gave none.",
    "no-answer",
  );
}

function asidePrompt(question: string): string {
  return servicePrompt(
    "sideQuestion",
    `The user asks something beside the conversation, which goes on without it. This one answer they do see. Answer shortly, from what is known above; where that is not enough, say so instead of guessing.

${question}`,
  );
}

function refused(message: string, code: string): CadreError {
  return new CadreError({ code, message });
}
