import { everydayPlaybook } from "../everyday-playbook.ts";
import type { KnownTask } from "../known-task.ts";
import type { Asking, Playbook, Task } from "../playbook.ts";
import { ask } from "../tool-calls.ts";
import { bareName, firstWords, type Wording, withoutArticle } from "../wording.ts";
import { taskInWords, taskLines } from "./which-tasks.ts";

interface Message {
  /** More than one: it is not clear who is meant. None: nobody is called that. */
  readonly agents: readonly KnownTask[];
  readonly to: string;
  readonly text: string;
}

/** Takes "tell scout to list the TODOs", for agents that were started in this conversation. */
export const tellAgent: Playbook = {
  name: "write to an agent",
  start(task) {
    const agents = () => (task.known?.() ?? []).filter(({ kind }) => kind === "agent");
    return everydayPlaybook({
      name: "write to an agent",
      needs: ["SendMessage"],
      understand: (wording) => understandMessage(wording, agents),
      play: (_task: Task, message: Message) => playMessage(message, agents()),
    }).start(task);
  },
};

/** How an agent may be called: with its name or id, with its kind, with its name alone. */
const callings: readonly string[] = [
  "((?:the )?agent [`\"']?[\\w.-]+[`\"']?)",
  "((?:(?:the|that|this|your|my) )?(?:[\\w:-]+ )?agent)",
  "([`\"'][^`\"']+[`\"']|[\\w.-]+)",
];
const forms: readonly RegExp[] = callings.flatMap((who) => [
  new RegExp(
    `^(?:tell|ask|message|inform|remind|write(?: to)?) ${who}(?:,? (?:to|that)\\b|[:,])? (.+)$`,
    "i",
  ),
  new RegExp(`^send (?:a |this )?message to ${who}(?: (?:saying|that)|[:,])? (.+)$`, "i"),
  new RegExp(`^send ${who} (?:a|this|the) message(?: (?:saying|that)|[:,])? (.+)$`, "i"),
  new RegExp(`^let ${who} know(?: that|[:,])? (.+)$`, "i"),
]);

function understandMessage({ text }: Wording, known: () => readonly KnownTask[]): Message | undefined {
  const read = forms.flatMap((form) => {
    const [, to, said] = form.exec(text) ?? [];
    return to === undefined || said === undefined ? [] : [{ to: bareName(to), text: said }];
  });
  if (read.length === 0) return undefined;
  const agents = known();
  for (const message of read) {
    const meant = agentsMeant(message.to, agents);
    if (meant.length > 0) return { ...message, agents: meant };
  }
  // To somebody unknown: no agent is started for that, and nothing is sent to another one.
  const unknown = read.find(({ to }) => !/^(?:me|us|you|an?|the|some|another)$|\bagent\b/i.test(to));
  const isMessage = /^(?:tell|message|send|let)\b/i.test(text) && agents.length > 0;
  return unknown && isMessage ? { ...unknown, agents: [] } : undefined;
}

function agentsMeant(to: string, agents: readonly KnownTask[]): readonly KnownTask[] {
  const plain = bareName(withoutArticle(to).replace(/^agent (?=\S)/i, "")).toLowerCase();
  const named = agents.findLast(({ name, id }) => name?.toLowerCase() === plain || id === plain);
  if (named !== undefined) return [named];
  if (/^(?:agent|it|them|him|her)$/.test(plain)) return agents;
  const type = plain.replace(/ agent$/, "");
  const ofType = agents.filter(({ agentType }) => agentType?.toLowerCase() === type);
  if (ofType.length > 0) return ofType;
  return plain.length < 4 ? [] : agents.filter(({ id }) => id.startsWith(plain));
}

const wordsOfSummary = 8;

function* playMessage({ agents: meant, to, text }: Message, agents: readonly KnownTask[]): Asking<string> {
  const [agent, ...others] = meant;
  if (agent === undefined)
    return `Nothing was sent: I have started no agent called ${to} in this conversation. Those I know:\n\n${taskLines(agents)}`;
  if (others.length > 0)
    return `Nothing was sent: several agents may be meant. Name one of them:\n\n${taskLines(meant)}`;
  const summary = firstWords(text, wordsOfSummary);
  const [result] = yield* ask([{ name: "SendMessage", input: { to: agent.id, message: text, summary } }]);
  if (result === undefined || result.isError)
    return `Nothing was sent to the ${taskInWords(agent)}: ${result?.text ?? "no answer came"}`;
  return `Sent to the ${taskInWords(agent)}: "${text}".\n\n${result.text.replace(/\nagentId: [\s\S]*$/, "")}`;
}
