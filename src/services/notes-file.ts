/** The running notes of a session, beside its transcript. */
import { join } from "node:path";
import { toOneLine } from "../base/one-line.ts";
import type { FileSystem } from "../base/world.ts";

export function notesPathOf(sessionFolder: string): string {
  return join(sessionFolder, "notes.md");
}

/** Undefined: there are none, or they cannot be read; nothing depends on them. */
export async function readNotes(files: FileSystem, sessionFolder: string): Promise<string | undefined> {
  const text = await files.readText(notesPathOf(sessionFolder)).catch(() => "");
  return text.trim() === "" ? undefined : text;
}

const longestTitle = 80;

/** Their first line, for lists of sessions. */
export function titleOfNotes(notes: string): string | undefined {
  const [line = ""] = notes.trim().split("\n");
  const title = line
    .replace(/^#+\s*/, "")
    .replaceAll("**", "")
    .trim();
  return title === "" ? undefined : toOneLine(title, longestTitle);
}
