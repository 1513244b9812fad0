import { dirname, join } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";

/**
 * A new file appears whole or not at all, never in place of one that came first (`EEXIST`), and with the
 * permissions that the user's umask gives to new files.
 */
export async function createFile(options: { world: World; path: string; data: Uint8Array }): Promise<void> {
  const { world, path, data } = options;
  const { files, random } = world;
  const folder = dirname(path);
  const temporary = join(folder, `.new-${Buffer.from(random.bytes(8)).toString("hex")}.tmp`);
  const handle = await files.open(temporary, "create");
  try {
    try {
      await handle.write(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await files.link(temporary, path).catch((error: unknown) => {
      // Not every file system has hard links.
      if (!withoutLinks.has(systemCodeOf(error) ?? "")) throw error;
      return files.rename(temporary, path);
    });
  } finally {
    await files.remove(temporary, { force: true });
  }
  await files.syncFolder(folder);
}

const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);
