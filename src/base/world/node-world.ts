import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import type { World } from "../world.ts";
import { createNodeClock } from "./node-clock.ts";
import { createNodeFiles } from "./node-files.ts";
import { createNodeNetwork } from "./node-network.ts";
import { createNodeProcesses } from "./node-processes.ts";
import { createNodeRandom } from "./node-random.ts";
import { createNodeSockets } from "./node-sockets.ts";

/** The real world. `env` replaces the environment as a whole, proxy and certificate settings included. */
export function createNodeWorld(options: { env?: World["env"] } = {}): World {
  const env = options.env ?? { ...process.env };
  return {
    clock: createNodeClock(),
    random: createNodeRandom(),
    files: createNodeFiles(),
    processes: createNodeProcesses(),
    network: createNodeNetwork({ env }),
    sockets: createNodeSockets(),
    env,
    platform: process.platform,
    homeFolder: homeFolderOf(env),
    tempFolder: firstAbsolute([() => env.TMPDIR, tmpdir]) ?? "/tmp",
  };
}

/** An empty or relative HOME would put private files into whatever folder the program was started in. */
function homeFolderOf(env: World["env"]): string {
  return firstAbsolute([() => env.HOME, homedir, () => userInfo().homedir]) ?? "/";
}

function firstAbsolute(sources: readonly (() => string | undefined)[]): string | undefined {
  for (const source of sources) {
    try {
      const path = source();
      if (path !== undefined && isAbsolute(path)) return path;
    } catch {
      // The system does not know this user.
    }
  }
  return undefined;
}
