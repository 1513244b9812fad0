import { createHash } from "node:crypto";
import { join } from "node:path";

/** Where a session's files are: `~/.cadre/projects/PROJECT/SESSION.jsonl` and a folder beside it (TA-22). */
export interface SessionFiles {
  readonly projectFolder: string;
  readonly transcript: string;
  /** Large results, sub-agents, notes: what belongs to the session and is not its transcript. */
  readonly folder: string;
  readonly results: string;
}

export function sessionFiles(options: { homeFolder: string; cwd: string; sessionId: string }): SessionFiles {
  const projectFolder = join(options.homeFolder, ".cadre", "projects", projectName(options.cwd));
  const folder = join(projectFolder, options.sessionId);
  return { projectFolder, transcript: `${folder}.jsonl`, folder, results: join(folder, "results") };
}

/** Readable, and different for different folders although the readable part may be the same. */
function projectName(cwd: string): string {
  const readable = cwd
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(-60);
  const digest = createHash("sha256").update(cwd).digest("hex").slice(0, 8);
  return readable === "" ? digest : `${readable}-${digest}`;
}
