/** `cadre agents new` in a terminal: asks for what was not given. */
import { join } from "node:path";
import { isCancelled } from "../../base/errors.ts";
import { splitRules } from "../arguments.ts";
import { createLineQuestions, type LineQuestions } from "../ask-lines.ts";
import { type AgentDraft, problemOfName, renderAgentFile } from "./agent-file.ts";
import { problemOfModel } from "./agent-model.ts";
import { knownToolNames, problemOfTool } from "./agent-tools.ts";
import { type AgentsRequest, pathShower } from "./agents-request.ts";

export interface Answers {
  readonly draft: AgentDraft;
  readonly user: boolean;
  /** A file that exists may go. */
  readonly replace?: boolean;
}

/** Undefined: the person left, or said no. */
export async function askForAgent(options: {
  request: AgentsRequest;
  given: Partial<AgentDraft>;
}): Promise<Answers | undefined> {
  const { terminal } = options.request;
  if (terminal === undefined) return undefined;
  const questions = createLineQuestions({ ...terminal, terminal: true });
  try {
    return await askAll({ ...options, questions });
  } catch (error) {
    if (!isCancelled(error)) throw error;
    questions.say("\nNothing was written.");
    return undefined;
  } finally {
    questions.close();
  }
}

interface Asking {
  readonly request: AgentsRequest;
  readonly given: Partial<AgentDraft>;
  readonly questions: LineQuestions;
}

async function askAll(asking: Asking): Promise<Answers | undefined> {
  const { request, given, questions } = asking;
  const { values, world, cwd } = request;
  const isDrafted = values.from !== undefined;
  const name = given.name ?? (await askUntil(asking, "Name:", problemOfName));
  const description =
    given.description ??
    (await askUntil(asking, "When should it be used?", (text) =>
      text === "" ? "another agent chooses by it" : undefined,
    ));
  const tools = "tools" in given || isDrafted ? given.tools : await askForTools(asking);
  const model = "model" in given || isDrafted ? given.model : await askForModel(asking);
  const prompt = given.prompt ?? (await askForPrompt(asking));
  const user =
    values.user ||
    (!values.project &&
      !isDrafted &&
      (await askYes(questions, "For all your projects, not only this one? [y/N]")));
  const draft: AgentDraft = { name, description, tools, model, prompt };
  if (isDrafted) {
    questions.say(`\n${renderAgentFile(draft)}`);
    if (!(await askYes(questions, "Write it? [y/N]"))) {
      questions.say("Nothing was written.");
      return undefined;
    }
  }
  const file = join(user ? world.homeFolder : cwd, ".cadre", "agents", `${name}.md`);
  const exists = await world.files.lstat(file).then(
    () => true,
    () => false,
  );
  if (!exists || values.force) return { draft, user };
  const replace = await askYes(questions, `${pathShower(request)(file)} exists. Replace it? [y/N]`);
  if (!replace) questions.say("Nothing was written.");
  return replace ? { draft, user, replace } : undefined;
}

async function askUntil(
  { questions }: Asking,
  question: string,
  problemOf: (answer: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const answer = await questions.ask(question);
    const problem = problemOf(answer);
    if (problem === undefined) return answer;
    questions.say(`  ${problem}`);
  }
}

async function askForTools(asking: Asking): Promise<string[] | undefined> {
  const known = knownToolNames(asking.request);
  const answer = await askUntil(
    asking,
    "Tools, such as Read, Grep, Glob (empty: all):",
    (text) => splitRules(text).flatMap((tool) => problemOfTool(tool, known) ?? [])[0],
  );
  const tools = splitRules(answer);
  return tools.length === 0 || tools.includes("*") ? undefined : tools;
}

/** A name that looks wrong may still be right for a server of one's own. */
async function askForModel({ questions, request }: Asking): Promise<string | undefined> {
  const answer = await questions.ask("Model, such as haiku or an id (empty: inherit):");
  if (answer === "") return undefined;
  const problem = problemOfModel(answer, request);
  if (problem !== undefined) questions.say(`  ${problem}`);
  return answer;
}

async function askForPrompt({ questions }: Asking): Promise<string> {
  for (;;) {
    const text = await questions.askText("Its instructions (end with a line that holds only a dot):");
    if (text !== "") return text;
    questions.say("  an agent needs instructions: what it does first, what it reports, what it never does");
  }
}

async function askYes(questions: LineQuestions, question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await questions.ask(question));
}
