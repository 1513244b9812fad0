import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../../dist/cli.cjs", import.meta.url));

export const peer = {
  name: "cadre",
  command: ({ prompt, baseURL }) => ({
    args: [cli, "-p", prompt, "--model", "mock"],
    env: { ANTHROPIC_BASE_URL: baseURL, ANTHROPIC_API_KEY: "fake" },
  }),
  startCommand: () => ({ args: [cli, "--version"], env: {} }),
};
