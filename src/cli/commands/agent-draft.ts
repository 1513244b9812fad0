/** Asks the configured model for an agent: one request, one answer. */
import { createScope } from "../../base/cancellation.ts";
import { CadreError } from "../../base/errors.ts";
import type { World } from "../../base/world.ts";
import type { Message } from "../../contracts/message.ts";
import { textOf } from "../../contracts/message-content.ts";
import type { Settings } from "../../contracts/settings.ts";
import { createAssembler } from "../../model/assemble-message.ts";
import type { Model } from "../../model/model.ts";
import { createModelSource } from "../../runtime/model-source.ts";
import { splitRules } from "../arguments.ts";
import type { AgentDraft } from "./agent-file.ts";

const instructions = `You write definitions of agents. An agent is a model with its own instructions and tools, which another agent starts for a task and which reports back once. From a person's description you write one.

Answer with exactly these parts and nothing else:
<name>two to four words in lower case, joined by dashes</name>
<description>When another agent should start this one, in one to three sentences, beginning with what it does. Say what it is not for, if that is easily confused.</description>
<tools>The tools it needs and no more, separated by commas, from this list: TOOLS. Leave it empty if it needs all.</tools>
<model>inherit; or haiku if the work is quick and simple; or opus if it is hard</model>
<prompt>Its instructions, 150 to 400 words, spoken to the agent as "you": what it is there for, what it does first, how it works, what its report must hold, what it never does. Concrete and plain. No praise, no filler.</prompt>

An agent that only looks or judges gets no tools that change files.`;

export async function draftAgent(options: {
  world: World;
  settings: Settings;
  description: string;
  toolNames: readonly string[];
  signal: AbortSignal;
  onWait: (reason: string) => void;
}): Promise<AgentDraft> {
  const model = await createModelSource(options).model();
  if (model.provider === "offline")
    throw new CadreError({
      code: "model-key-missing",
      message:
        "The offline model cannot draft an agent: it follows fixed rules. Export ANTHROPIC_API_KEY or OPENAI_API_KEY for a model that can, or leave --from out and give --name, --description and --prompt yourself.",
    });
  return readDraft(await answerOf(model, options), model);
}

const mostOutputTokens = 4_096;

async function answerOf(model: Model, options: Parameters<typeof draftAgent>[0]): Promise<string> {
  const { world, signal } = options;
  const question: Message = {
    uuid: world.random.uuid(),
    parentUuid: null,
    timestamp: new Date(world.clock.now()).toISOString(),
    role: "user",
    content: [{ type: "text", text: `The agent that is wanted:\n\n${options.description}` }],
  };
  const assembler = createAssembler();
  let text = "";
  for await (const event of model.stream({
    system: instructions.replace("TOOLS", options.toolNames.join(", ")),
    tools: [],
    messages: [question],
    cacheMarks: [],
    maxOutputTokens: Math.min(mostOutputTokens, model.maxOutputTokens ?? mostOutputTokens),
    scope: createScope(signal),
    onRetry: ({ reason }) => options.onWait(reason),
  })) {
    const completed = assembler.accept(event);
    if (completed !== undefined) text += textOf([completed.block]);
  }
  return text + assembler.unfinishedText();
}

function readDraft(answer: string, model: Model): AgentDraft {
  const name = part(answer, "name");
  const description = part(answer, "description");
  const prompt = part(answer, "prompt");
  if (!name || !description || !prompt) {
    const missing = Object.entries({ name, description, prompt }).flatMap(([key, value]) =>
      value ? [] : [key],
    );
    throw new CadreError({
      code: "agent-draft-unusable",
      message: `The draft of ${model.id} has no ${missing.join(", no ")}. Try again, describe the agent in other words, or give --name, --description and --prompt yourself.`,
    });
  }
  const tools = splitRules(part(answer, "tools") ?? "");
  const wished = part(answer, "model");
  return {
    name: nameFrom(name),
    description,
    prompt,
    ...(tools.length > 0 && !tools.includes("*") && { tools }),
    ...(wished !== undefined && wished !== "" && wished !== "inherit" && { model: wished }),
  };
}

/** What stands between the first opening and the last closing tag of this name. */
function part(answer: string, name: string): string | undefined {
  const start = answer.indexOf(`<${name}>`);
  const end = answer.lastIndexOf(`</${name}>`);
  return start < 0 || end < start ? undefined : answer.slice(start + name.length + 2, end).trim();
}

/** Models like to give names a shape of their own. */
function nameFrom(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64)
    .replace(/-+$/, "");
}
