import { fileURLToPath } from "node:url";

const runner = fileURLToPath(new URL("../../lib-runner.mjs", import.meta.url));

export const peer = {
  name: "floor",
  command: ({ prompt, baseURL }) => ({ args: [runner, "floor", "run", prompt], env: { BASE_URL: baseURL } }),
  /** `cadre --version` is compared with Node doing nothing. */
  startCommand: () => ({ args: ["-e", "0"], env: {} }),
};
