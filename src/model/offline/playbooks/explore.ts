import { type AgentAnswer, type AgentOrder, askAgents } from "../agent-calls.ts";
import { everydayPlaybook, unsigned } from "../everyday-playbook.ts";
import { exploreFolder } from "../explore-folder.ts";
import { folderOfTask, folderTask, writeReport } from "../folder-report.ts";
import { baseNameOf } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import type { Wording } from "../wording.ts";
import { type ExplainRequest, folderNamed, nameIn, playExplain } from "./explain-code.ts";

export const explore = everydayPlaybook({
  name: "explore a folder",
  needs: ["Glob", "Grep", "Read"],
  understand: understandExplore,
  play: playExplore,
});

type ExploreRequest =
  /** The task of an agent, which looks itself. */
  | { readonly kind: "task"; readonly folder: string }
  /** A person's wish, for which an agent may be sent. */
  | { readonly kind: "wish"; readonly thing: ExplainRequest };

function understandExplore(wording: Wording): ExploreRequest | undefined {
  const folder = folderOfTask(wording);
  if (folder !== undefined) return { kind: "task", folder };
  const [, verb, words] =
    /^(explore|look into|look around in|dig into|investigate) (.+)$/i.exec(wording.core) ?? [];
  if (verb === undefined || words === undefined) return undefined;
  const thing = nameIn(words, wording.quoted, /^explore$/i.test(verb));
  return thing === undefined ? undefined : { kind: "wish", thing };
}

function* playExplore(task: Task, request: ExploreRequest): Asking<string> {
  if (request.kind === "task") return yield* tellFolder(task, request.folder);
  const { thing } = request;
  const folder = thing.kind === "symbol" ? undefined : (yield* folderNamed(thing.name))?.path;
  // Nobody need be sent to a place that is not there.
  if (folder === undefined && thing.kind === "folder") return yield* playExplain(task, thing);
  const look = () => (folder === undefined ? playExplain(task, thing) : tellFolder(task, folder));
  const prompt = folder === undefined ? `explain ${thingInWords(thing)}` : folderTask(folder);
  if (!task.offers("Agent") || prompt === undefined) return yield* look();
  const order: AgentOrder = {
    description:
      folder === undefined ? `Explore what ${thing.name} is` : `Explore the ${baseNameOf(folder)} folder`,
    prompt,
    agentType: "Explore",
  };
  const [answer] = yield* askAgents([order], "I send an Explore agent.");
  if (answer?.kind === "answered" || answer?.kind === "started") return answerInWords(order, answer);
  return `${answerInWords(order, answer)} I looked myself:\n\n${yield* look()}`;
}

function* tellFolder(task: Task, folder: string): Asking<string> {
  const explored = yield* exploreFolder(task, folder);
  return typeof explored === "string" ? explored : writeReport(folder, explored);
}

/** As `nameIn` reads it back. */
function thingInWords({ name, kind, path }: ExplainRequest): string {
  const words = kind === "thing" ? name : `${kind} \`${name}\``;
  return path === undefined ? words : `${words} in ${path}`;
}

/** What an agent answered, or why it did not. */
export function answerInWords(order: AgentOrder, answer: AgentAnswer | undefined): string {
  const who = `The ${order.agentType} agent`;
  switch (answer?.kind) {
    case "answered":
      return `${who} reports:\n\n${unsigned(answer.text)}`;
    case "started":
      return `${who} runs in the background, as task ${answer.agentId}${order.name === undefined ? "" : ` with the name ${order.name}`}. What it finds is told when it has ended.`;
    default:
      return `${who} did not answer: ${answer?.problem ?? "no result came"}.`;
  }
}
