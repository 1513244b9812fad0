import { everydayPlaybook, unsigned } from "../everyday-playbook.ts";
import type { KnownTask } from "../known-task.ts";
import { stillRunning } from "../known-tasks.ts";
import type { Asking, CallResult, Playbook, Task } from "../playbook.ts";
import { textsIn } from "../started-task.ts";
import { ask } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";
import { namesTasks, taskInWords, taskLines, tasksMeant } from "./which-tasks.ts";

interface LookRequest {
  /** Absent: all. */
  readonly which?: string;
  readonly waits: boolean;
}

/** Takes "what is running", "status of the tasks" and "wait for it". */
export const lookAtTasks: Playbook = {
  name: "look at tasks",
  start(task) {
    const known = () => task.known?.() ?? [];
    return everydayPlaybook({
      name: "look at tasks",
      needs: ["TaskOutput"],
      understand: (wording) => understandLook(wording, known),
      play: (_task: Task, request: LookRequest) => playLook(request, known()),
    }).start(task);
  },
};

const all: readonly RegExp[] = [
  /^what (?:is|are)(?: you)?(?: still| currently| now)? (?:running|going on|(?:at work|working|being done|happening)(?= in the background))(?: in the background| beside this)?$/i,
  /^what (?:still )?(?:runs|goes on|is there)(?: still)? in the background$/i,
  /^(?:what is )?(?:the )?(?:status|state|progress)(?: report)?$/i,
  /^(?:(?:list|show)(?: me)? |which |what )(?:are )?(?:all )?(?:the |my |your )?(?:(?:running|background|current) )*(?:background tasks|tasks|background agents|background commands|background jobs)(?: (?:are|is))?(?: (?:still )?running| there)?(?: in the background)?$/i,
  /^(?:is|are) (?:anything|something|there anything|any tasks?)(?: still)? running(?: in the background)?$/i,
  /^any (?:news|results?|progress)(?: yet)?$/i,
];
const one: readonly RegExp[] = [
  /^(?:what is )?(?:the )?(?:task )?(?:status|state|progress) (?:of|for|on) (.+)$/i,
  /^(?:how is|how are|how far is|how far are|how about) (.+?)(?: (?:going|doing|coming along|getting on|getting along))?$/i,
  /^(?:is|are|has|have) (.+?)(?: (?:still|already|been))* (?:done|finished|ready|complete|completed|over|running|ended|at work)(?: yet| already| now)?$/i,
  /^(?:look at|check(?: on)?|show(?: me)?) (?:the )?(?:output of )?((?:task|agent|command|job)s? .+|it|(?:the )?(?:background )?tasks?)$/i,
];
const waiting =
  /^(?:wait|hold on) (?:for|until|till) (.+?)(?: (?:is|are|has|have))?(?: (?:to )?(?:be )?(?:done|finished|ready|ended|end|finish))?$/i;

function understandLook({ text }: Wording, known: () => readonly KnownTask[]): LookRequest | undefined {
  if (all.some((form) => form.test(text))) return { waits: false };
  const awaited = waiting.exec(text)?.[1];
  if (awaited !== undefined && namesTasks(awaited, known())) return { which: awaited, waits: true };
  for (const form of one) {
    const which = form.exec(text)?.[1];
    if (which !== undefined && namesTasks(which, known())) return { which, waits: false };
  }
  return undefined;
}

const mostAsked = 12;
const longestWaitMs = 600_000;

function* playLook({ which, waits }: LookRequest, known: readonly KnownTask[]): Asking<string> {
  if (known.length === 0)
    return "In this conversation I have started nothing in the background. `cadre tasks` lists what other sessions have started.";
  const running = stillRunning(known);
  const meant = which === undefined ? allOf(running) : tasksMeant(which, running);
  const ended = endedLines(known);
  if (meant.kind === "unclear") {
    // What has ended already was told: it is said once more in a line.
    const before = which === undefined ? meant : tasksMeant(which, known);
    if (before.kind === "unclear") return meant.why;
    return taskLines(known.filter(({ id }) => before.ids.includes(id)));
  }
  if (meant.ids.length === 0) return `Nothing runs any more.\n\n${ended}`;
  const asked = meant.ids.slice(0, mostAsked);
  const results = yield* ask(
    asked.map((id) => ({
      name: "TaskOutput",
      input: { task_id: id, block: waits, ...(waits ? { timeout: longestWaitMs } : {}) },
    })),
    waits ? "I wait for it." : undefined,
  );
  const told = asked.map((id, index) =>
    tellOne(
      known.find((task) => task.id === id),
      id,
      results[index],
    ),
  );
  const more = meant.ids.length - asked.length;
  return [
    ...told,
    ...(more > 0 ? [`I did not look at ${more} more.`] : []),
    ...(which === undefined && ended !== "" ? [`Ended before:\n\n${ended}`] : []),
  ].join("\n\n");
}

function allOf(tasks: readonly KnownTask[]) {
  return { kind: "tasks", ids: tasks.map(({ id }) => id) } as const;
}

function endedLines(known: readonly KnownTask[]): string {
  return taskLines(known.filter(({ end }) => end !== undefined));
}

const shownLines = 8;

function tellOne(task: KnownTask | undefined, id: string, result: CallResult | undefined): string {
  const who = task === undefined ? id : taskInWords(task);
  if (result === undefined || result.isError) return `${who}: ${result?.text ?? "no answer came"}`;
  const { status, said } = readTaskOutput(result);
  if (said === "")
    return `${who}: ${status}. It has written nothing${/^running/.test(status) ? " yet" : ""}.`;
  // Of one that has ended nothing else will come: this is all that is told of it.
  if (!/^running/.test(status)) return `${who}: ${status}.\n\n${unsigned(said)}`;
  const lines = said.trimEnd().split("\n");
  const last = lines.slice(-shownLines).map((line) => `    ${line.slice(0, 160)}`.trimEnd());
  return [
    `${who}: ${status}. ${lines.length > shownLines ? "The last it has written" : "What it has written"}:`,
    "",
    ...last,
  ].join("\n");
}

const label = /^(?:Its (?:error|output|report)|The last part of its output, which has \d+ bytes):$/;

function readTaskOutput(result: CallResult): { status: string; said: string } {
  const [facts = "", ...rest] = textsIn(result);
  const said = rest.filter((text) => !label.test(text) && !text.startsWith("<task-receipt"));
  return {
    status: /^status: (.+)$/m.exec(facts)?.[1] ?? "ended",
    said: said.join("\n\n").trim(),
  };
}
