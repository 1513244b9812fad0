import type { Dirent, Stats } from "node:fs";
import type { FileInfo } from "../world.ts";

export function infoOf(stats: Stats): FileInfo {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    mode: stats.mode & 0o7777,
    inode: stats.ino,
    links: stats.nlink,
  };
}

export function kindOf(entry: Dirent | Stats): FileInfo["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
