/** `cadre sessions`: what can be gone on with. */
import { resolve } from "node:path";
import { createNodeWorld } from "../../base/world/node-world.ts";
import type { FileSystem } from "../../base/world.ts";
import {
  type FoundSession,
  findProjectFolders,
  findSessions,
  type SessionSummary,
  summarizeSession,
} from "../../runtime/find-sessions.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { projectFolderOf } from "../../transcript/location.ts";
import { type OptionValues, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import type { sessionsOptions } from "../options.ts";
import { currentFolder } from "../run-request.ts";
import { layoutTable } from "../text-table.ts";

const shownByDefault = 20;

export async function runSessions(options: {
  values: OptionValues<typeof sessionsOptions>;
  positionals: readonly string[];
  io: CommandIo;
}): Promise<number> {
  const { values, positionals, io } = options;
  if (positionals.length > 0) throw new UsageError(`sessions takes no argument, but got "${positionals[0]}"`);
  const world = createNodeWorld();
  const cwd = resolve(currentFolder(), values.cwd ?? "");
  const folders = values.all
    ? await findProjectFolders(world)
    : [projectFolderOf({ homeFolder: world.homeFolder, cwd })];
  const found = (await Promise.all(folders.map((folder) => findSessions(world.files, folder))))
    .flat()
    .sort((a, b) => b.modifiedMs - a.modifiedMs)
    .slice(0, values.limit ?? shownByDefault);
  const summaries = await summarizeAll(world.files, found);
  await io.stdout.write(values.json ? asJson(summaries) : asTable(summaries, values.all ? "" : ` in ${cwd}`));
  return exitCodes.success;
}

/** One after the other: each is read to its end. One that goes meanwhile is left out. */
async function summarizeAll(files: FileSystem, found: readonly FoundSession[]): Promise<SessionSummary[]> {
  const summaries: SessionSummary[] = [];
  for (const session of found) {
    const summary = await summarizeSession(files, session).catch(() => undefined);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries;
}

function asJson(summaries: readonly SessionSummary[]): string {
  const list = summaries.map(({ modifiedMs, ...rest }) => ({
    ...rest,
    modifiedAt: new Date(modifiedMs).toISOString(),
  }));
  return `${JSON.stringify(list, undefined, 2)}\n`;
}

function asTable(summaries: readonly SessionSummary[], where: string): string {
  if (summaries.length === 0) return `There are no sessions${where}.\n`;
  return layoutTable({
    header: ["ID", "LAST USED", "MESSAGES", "FIRST PROMPT"],
    rows: summaries.map(({ id, modifiedMs, messageCount, firstPrompt }) => [
      id,
      new Date(modifiedMs).toISOString().slice(0, 16).replace("T", " "),
      String(messageCount),
      firstPrompt.slice(0, 200),
    ]),
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
  });
}
