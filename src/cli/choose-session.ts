/** `--resume` without an id: the sessions of this folder, of which a person names one by its number. */
import { createInterface } from "node:readline/promises";
import { forTerminal } from "../base/markup.ts";
import type { World } from "../base/world.ts";
import { findSessions, type SessionSummary, summarizeSession } from "../runtime/find-sessions.ts";
import { projectFolderOf } from "../transcript/location.ts";
import { UsageError } from "./arguments.ts";

const mostShown = 15;

export async function chooseSession(options: {
  world: World;
  cwd: string;
  input?: NodeJS.ReadStream;
  output?: NodeJS.WriteStream;
}): Promise<string> {
  const { world, cwd } = options;
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stderr;
  if (input.isTTY !== true || output.isTTY !== true)
    throw new UsageError("--resume needs the id of a session when there is no terminal to choose one in");
  const folder = projectFolderOf({ homeFolder: world.homeFolder, cwd });
  const found = (await findSessions(world.files, folder)).slice(0, mostShown);
  if (found.length === 0) throw new UsageError(`there is no session to go on with in ${cwd}`);
  const summaries = await Promise.all(found.map((session) => summarizeSession(world.files, session)));
  output.write(summaries.map((summary, index) => `${lineOf(summary, index + 1)}\n`).join(""));
  const lines = createInterface({ input, output });
  const left = new Promise<never>((_, reject) => {
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => reject(new UsageError("no session was chosen")));
  });
  try {
    for (;;) {
      const answer = (await Promise.race([lines.question("Which one? [1] "), left])).trim();
      const chosen = found[Number(answer === "" ? "1" : answer) - 1];
      if (chosen !== undefined) return chosen.id;
      output.write(`A number from 1 to ${found.length}, or Ctrl+C to leave.\n`);
    }
  } finally {
    left.catch(() => {});
    lines.close();
  }
}

function lineOf({ modifiedMs, title, firstPrompt, messageCount }: SessionSummary, number: number): string {
  const when = new Date(modifiedMs).toISOString().slice(0, 16).replace("T", " ");
  const about = forTerminal(title ?? firstPrompt)
    .replaceAll(/\s+/g, " ")
    .slice(0, 50);
  return `${String(number).padStart(3)}  ${when}  ${String(messageCount).padStart(5)} messages  ${about}`;
}
