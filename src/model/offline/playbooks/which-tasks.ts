/** Which of the tasks of a conversation are meant by a few words. */
import type { KnownTask } from "../known-task.ts";
import { bareName, withoutArticle } from "../wording.ts";

export type MeantTasks =
  | { readonly kind: "tasks"; readonly ids: readonly string[] }
  /** Words for the person: none fits, or several do. */
  | { readonly kind: "unclear"; readonly why: string };

const anyOfThem =
  /^(?:it|that|this|one|(?:the |that |this |my )?(?:(?:background|running|current|last|latest) )*(?:task|job|process|work))$/i;
const allOfThem =
  /^(?:all|everything|them|they|those|these|(?:all )?(?:of )?(?:the |my |your |these |those )?(?:(?:background|running|current) )*(?:tasks|jobs|agents|commands|shells|processes)|all of (?:it|them)|(?:the )?background)$/i;
const kinds: readonly { readonly words: RegExp; readonly kind: KnownTask["kind"] }[] = [
  { words: /^(?:sub-?)?agent$/i, kind: "agent" },
  { words: /^(?:command|shell)$/i, kind: "command" },
];

/** `among`: those that come into question, the latest last. */
export function tasksMeant(words: string, among: readonly KnownTask[]): MeantTasks {
  const said = words.trim();
  const plain = plainWords(said);
  const called = among.filter((task) => isCalled(task, plain));
  if (called.length > 0) return oneOf(newestOfName(called), among);
  if (isTaskId(plain)) return { kind: "tasks", ids: [plain] };
  if (allOfThem.test(said)) return { kind: "tasks", ids: among.map(({ id }) => id) };
  if (anyOfThem.test(said)) return oneOf(among, among);
  const kind = kinds.find((each) => each.words.test(withoutArticle(said)))?.kind;
  if (kind !== undefined)
    return oneOf(
      among.filter((task) => task.kind === kind),
      among,
    );
  return oneOf(
    among.filter((task) => isDescribed(task, plain)),
    among,
  );
}

/** Whether these words could mean a task at all, so that a request is about tasks and not about something else. */
export function namesTasks(words: string, known: readonly KnownTask[]): boolean {
  const said = words.trim();
  if (/^(?:this|that|these|those|one)$/i.test(said)) return known.length > 0;
  if (anyOfThem.test(said) || allOfThem.test(said)) return true;
  const plain = plainWords(said);
  const isKind = kinds.some((kind) => kind.words.test(withoutArticle(said)));
  return (
    isKind || looksLikeId(plain) || known.some((task) => isCalled(task, plain) || isDescribed(task, plain))
  );
}

/** Without "the task" before it. */
function plainWords(said: string): string {
  const kind = /^(?:(?:background|running) )?(?:task|job|agent|command|shell)s? (?=\S)/i;
  return bareName(withoutArticle(said).replace(kind, ""));
}

/** A word with a digit, such as a person may have copied from a list: not a word of a language. */
function looksLikeId(word: string): boolean {
  return /^[a-z](?=[a-z]*\d)[0-9a-z]{3,}$/.test(word);
}

/** The form of the runtime's own ids: a letter for the kind, then digits and letters. */
function isTaskId(word: string): boolean {
  return /^[a-z][0-9a-v]{16}$/.test(word);
}

const shortestBeginning = 4;

/** By its name, its id, or the beginning of that. */
function isCalled({ id, name }: KnownTask, word: string): boolean {
  return (
    name?.toLowerCase() === word.toLowerCase() || (word.length >= shortestBeginning && id.startsWith(word))
  );
}

/** A name means the last that was given it. */
function newestOfName(tasks: readonly KnownTask[]): readonly KnownTask[] {
  const [first] = tasks;
  return tasks.every(({ name }) => name !== undefined && name === first?.name) ? tasks.slice(-1) : tasks;
}

/** `tests` and `explore agent` describe one; a word such as `the` does not. */
function isDescribed({ description, agentType }: KnownTask, words: string): boolean {
  const wanted = words.toLowerCase().replace(/ (?:agent|task|command|job|run)$/, "");
  if (wanted.length < 3) return false;
  const own = `${description} ${agentType ?? ""}`.toLowerCase().split(/[^\p{L}\p{N}_-]+/u);
  return wanted.split(/\s+/).every((word) => own.includes(word));
}

function oneOf(found: readonly KnownTask[], among: readonly KnownTask[]): MeantTasks {
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return { kind: "tasks", ids: [first.id] };
  if (first !== undefined)
    return { kind: "unclear", why: `Several are meant by that:\n\n${taskLines(found)}` };
  const why =
    among.length === 0
      ? "There is none that I know of."
      : `None is meant by that. I know of:\n\n${taskLines(among)}`;
  return { kind: "unclear", why };
}

export function taskLines(tasks: readonly KnownTask[]): string {
  return tasks
    .map((task) => `- ${taskInWords(task)}${task.end === undefined ? "" : `: ${task.end}`}`)
    .join("\n");
}

export function taskInWords({ id, kind, description, agentType, name }: KnownTask): string {
  const who = kind === "command" ? "command" : `${agentType ?? ""} agent`.trim();
  return `${who} "${description}" (${name === undefined ? id : `${name}, ${id}`})`;
}
