import { dirname, join } from "node:path";
import { createNodeWorld } from "../base/world/node-world.ts";

/** A real folder that a test can fill and that is gone afterwards. Paths are relative to it. */
export interface TempWorkspace {
  readonly path: string;
  /** Creates the folders on the way, and returns the absolute path. */
  write(relative: string, text: string | Uint8Array): Promise<string>;
  read(relative: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createTempWorkspace(): Promise<TempWorkspace> {
  const { files, random, tempFolder } = createNodeWorld();
  // Some systems reach their temporary folder through a link; tests compare resolved paths.
  const path = join(await files.realPath(tempFolder), `cadre-${random.uuid()}`);
  await files.makeFolder(path, { mode: 0o700 });
  return {
    path,
    async write(relative, text) {
      const target = join(path, relative);
      await files.makeFolder(dirname(target), { recursive: true });
      await files.writeFile(target, text);
      return target;
    },
    read: (relative) => files.readText(join(path, relative)),
    remove: () => files.remove(path, { recursive: true, force: true }),
  };
}
