import { signature } from "../everyday-playbook.ts";
import type { Play, Playbook, Step, Task } from "../playbook.ts";
import { readWording } from "../wording.ts";

const abilities = [
  "What I can do in this folder, with tools that really run:",
  "",
  '- map a repository: "map this repository"',
  '- find or count: "where is parseArgs defined", "how big is this project"',
  '- explain a file, a folder or a name: "explain src/main.ts"',
  '- find tests: "which tests exist for the queue"',
  '- list TODOs: "list TODOs in src/"',
  '- tell what changed lately: "what changed this week"',
  '- run the tests and report: "run the tests"',
  '- rename a symbol: "rename oldName to newName in src/"',
  '- review what is not committed: "review my change"',
  '- send an agent: "explore src", "ask an Explore agent where parseArgs is used"',
  '- work in the background: "run the tests in the background and list TODOs", then "what is running", "stop it"',
].join("\n");

const connection = [
  "For everything else, connect a real model and give the same command again:",
  "",
  "    export ANTHROPIC_API_KEY=...      (or OPENAI_API_KEY=...)",
  "",
  "`--model NAME` chooses a model; `cadre doctor` shows which one would be used.",
].join("\n");

const asksForHelp =
  /^(?:help|\?|\/help|what can (?:you|i) (?:do|ask|say)(?: (?:here|for me))?|how (?:do i|can i|to) use (?:you|this|cadre)|who are you|what are you|what(?:'s| is) (?:cadre|this thing)|are you (?:an? )?(?:ai|llm|model|bot|real|human)\b.*|which model (?:are you|is this)|what model (?:are you|is this)|commands|usage|options)$/i;
const greets =
  /^(?:hi|hello|hey|yo|good (?:morning|afternoon|evening|day)|greetings|howdy|hallo|moin|thanks|thank you|thx|bye|ok|okay|cool|great|test|ping)(?: (?:there|all|cadre|you|so much))?$/i;

/** Takes every task: it must come last. */
export const help: Playbook = {
  name: "help",
  start: (task) => answer(task),
};

// biome-ignore lint/correctness/useYield: this play needs no tool.
function* answer(task: Task): Play {
  const raw = task.prompt.trim().replace(/[\s!.,]+$/, "");
  const { text } = readWording(task.prompt);
  if (text === "" && !greets.test(raw)) return said("There was no request that I could read.");
  if (greets.test(raw) || greets.test(text))
    return said("Hello. I am Cadre's offline model: I follow rules and understand a few requests.");
  if (asksForHelp.test(text) || asksForHelp.test(raw))
    return said(
      "I am Cadre's offline model: rules in a program, not a language model. Nothing leaves this machine.",
    );
  return said(
    "I did not understand this request. I am Cadre's offline model: I follow rules, and this fits none of them. Nothing was done.",
  );
}

function said(opening: string): string {
  return `${opening}\n\n${abilities}\n\n${connection}\n\n${signature}`;
}

/** When the conversation is not one that the playbooks could have led. */
export function lostAnswer(): Step {
  return {
    text: `I cannot go on from here: this conversation was led by another model, was shortened, or holds no request. I follow rules and only know what I did myself. Please ask again from the start.\n\n${abilities}\n\n${signature}`,
  };
}
