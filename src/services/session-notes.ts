/** Session memory: notes of what a session is about and how it stands, kept up to date while nobody is waiting. */
import { ensurePrivateFolder, replaceFile } from "../base/files.ts";
import { neutralizeTags } from "../base/markup.ts";
import { cutAtCharacter } from "../base/one-line.ts";
import type { Redactor } from "../base/secrets.ts";
import type { World } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import { notesPathOf, readNotes } from "./notes-file.ts";
import { createProgressMark } from "./progress-mark.ts";
import type { IdleService } from "./service-host.ts";
import { isNone, servicePrompt, whatIsData } from "./service-prompt.ts";

const everyAnswers = 8;
/** About 10,000 tokens. */
const everyChars = 40_000;
const longestNotes = 12_000;

export function createSessionNotes(options: {
  world: World;
  /** Of the session. */
  folder: string;
  redactor: Redactor;
  messages: () => readonly Message[];
}): IdleService {
  const { world, folder, redactor, messages } = options;
  const mark = createProgressMark();
  return {
    name: "sessionMemory",
    idleMs: 3_000,
    keeps: true,
    isDue() {
      const unseen = mark.unseen(messages());
      return unseen.filter(({ role }) => role === "assistant").length >= everyAnswers || isLong(unseen);
    },
    async run({ ask }) {
      const before = await readNotes(world.files, folder);
      const seen = messages().slice();
      const answer = await ask({ prompt: notesPrompt(before), maxOutputTokens: 2_000 });
      mark.set(seen);
      if (answer === undefined || isNone(answer)) return;
      const notes = neutralizeTags(redactor.redactLog(cutAtCharacter(answer, longestNotes)));
      await ensurePrivateFolder(world, folder);
      await replaceFile({ ...world, path: notesPathOf(folder), data: `${notes}\n` });
    },
  };
}

/** Without looking further than it must: a conversation can be large. */
function isLong(messages: readonly Message[]): boolean {
  let chars = 0;
  for (const { content } of messages)
    for (const block of content) {
      chars += charsOf(block);
      if (chars >= everyChars) return true;
    }
  return false;
}

function charsOf(block: Block): number {
  if (block.type === "text") return block.text.length;
  if (block.type !== "tool_result") return 0;
  if (typeof block.content === "string") return block.content.length;
  return block.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}

function notesPrompt(before: string | undefined): string {
  const earlier =
    before === undefined
      ? "There are none so far."
      : `These are the notes so far. Keep what still holds, mend what has changed:\n\n${cutAtCharacter(before, longestNotes)}`;
  return servicePrompt(
    "sessionMemory",
    `Write the notes of this session, for whoever goes on with it and for a list of sessions. Answer with the notes alone, in at most 400 words:
- first line: a title of at most eight words, no markup
- what the user wants, and what they have asked to be done in general
- decisions, and why
- how the work stands, with the paths of files that matter
- errors, and how they were solved
- what comes next

${whatIsData} Say of such things where they stand. Write down no keys, passwords or other secrets.

${earlier}`,
  );
}
