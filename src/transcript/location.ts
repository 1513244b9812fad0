import { createHash } from "node:crypto";
import { join } from "node:path";

/** Where a session's files are: `~/.cadre/projects/PROJECT/SESSION.jsonl` and a folder beside it (TA-22). */
export interface SessionFiles {
  readonly projectFolder: string;
  readonly transcript: string;
  /** Large results, sub-agents, notes: what belongs to the session and is not its transcript. */
  readonly folder: string;
  readonly results: string;
  /** The transcripts of its other agents. */
  readonly subagents: string;
  /** What tasks in the background have written. */
  readonly tasks: string;
  /** Held by the one process that may write. */
  readonly lock: string;
}

export function projectsFolder(homeFolder: string): string {
  return join(homeFolder, ".cadre", "projects");
}

export function projectFolderOf(options: { homeFolder: string; cwd: string }): string {
  return join(projectsFolder(options.homeFolder), projectName(options.cwd));
}

export function sessionFiles(options: { homeFolder: string; cwd: string; sessionId: string }): SessionFiles {
  return sessionFilesIn(projectFolderOf(options), options.sessionId);
}

export function sessionFilesIn(projectFolder: string, sessionId: string): SessionFiles {
  const folder = join(projectFolder, sessionId);
  return {
    projectFolder,
    transcript: `${folder}.jsonl`,
    folder,
    results: join(folder, "results"),
    subagents: join(folder, "subagents"),
    tasks: join(folder, "tasks"),
    lock: `${folder}.lock`,
  };
}

/** As `--session-id` wants it. Nothing else becomes part of a path. */
export function isSessionId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
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
