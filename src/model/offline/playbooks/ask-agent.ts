import { type AgentOrder, askAgents } from "../agent-calls.ts";
import { unsigned, withSignature } from "../everyday-playbook.ts";
import { type Play, type Playbook, type Task, textOfEnd } from "../playbook.ts";
import { firstWords, readWording } from "../wording.ts";
import { type AgentWish, agentWish, readings } from "./agent-wording.ts";
import { answerInWords } from "./explore.ts";

/**
 * Takes "ask an Explore agent where the parser is", if one of `playbooks` understands what the agent is to do: none
 * is started for what it could not do.
 */
export function createAskAgent(playbooks: readonly Playbook[]): Playbook {
  return {
    name: "ask an agent",
    start(task) {
      const wish = agentWish(readWording(task.prompt));
      if (wish === undefined) return undefined;
      for (const prompt of readings(wish.task)) {
        for (const playbook of playbooks) {
          const own = playbook.start({ ...task, prompt });
          if (own !== undefined) return sendAgent(task, { wish, prompt, own, acts: playbook.acts === true });
        }
      }
      return undefined;
    },
  };
}

export interface AgentJob {
  readonly wish: AgentWish;
  /** What the agent is told. */
  readonly prompt: string;
  /** The same, done without an agent. */
  readonly own: Play;
  readonly acts: boolean;
}

/** Says what came of it; what no agent could be started for is done here, if it is only to look. */
export function* sendAgent(task: Task, { wish, prompt, own, acts }: AgentJob): Play {
  const order: AgentOrder = {
    description: firstWords(prompt, wordsOfDescription),
    prompt,
    agentType: wish.agentType ?? (acts ? "general-purpose" : "Explore"),
    ...(wish.inBackground ? { inBackground: true } : {}),
    // Nobody could use it without a tool that writes to it.
    ...(wish.name !== undefined && task.offers("SendMessage") ? { name: wish.name } : {}),
  };
  let said = "I have no tool to start an agent here.";
  if (task.offers("Agent")) {
    const [answer] = yield* askAgents([order], `I start an agent: ${order.agentType}.`);
    said = answerInWords(order, answer);
    if (answer?.kind === "answered" || answer?.kind === "started") return withSignature(said);
  }
  // What changes something was asked of an agent, in its bounds: it is not done without them.
  if (acts) return withSignature(`${said} Nothing was done by me; to have me do it, ask: ${prompt}`);
  return withSignature(`${said} I did it myself:\n\n${unsigned(textOfEnd(yield* own))}`);
}

const wordsOfDescription = 5;
