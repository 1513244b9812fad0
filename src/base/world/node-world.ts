import { homedir, tmpdir } from "node:os";
import type { World } from "../world.ts";
import { createNodeClock } from "./node-clock.ts";
import { createNodeFiles } from "./node-files.ts";
import { createNodeNetwork } from "./node-network.ts";
import { createNodeProcesses } from "./node-processes.ts";
import { createNodeRandom } from "./node-random.ts";

/** The real world. `env` replaces the environment as a whole, proxy and certificate settings included. */
export function createNodeWorld(options: { env?: World["env"] } = {}): World {
  const env = options.env ?? { ...process.env };
  return {
    clock: createNodeClock(),
    random: createNodeRandom(),
    files: createNodeFiles(),
    processes: createNodeProcesses(),
    network: createNodeNetwork({ env }),
    env,
    platform: process.platform,
    homeFolder: env.HOME || homedir(),
    tempFolder: env.TMPDIR || tmpdir(),
  };
}
