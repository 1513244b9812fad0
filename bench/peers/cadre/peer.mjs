import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../../dist/cli.cjs", import.meta.url));
const needsSubAgents = "needs sub-agents, which cadre does not have yet";

export const peer = {
  name: "cadre",
  skips: { S3a: needsSubAgents, S3b: needsSubAgents, S5a: needsSubAgents, S5b: needsSubAgents },
  command: ({ prompt, baseURL }) => ({
    args: [cli, "-p", prompt, "--model", "mock"],
    env: { ANTHROPIC_BASE_URL: baseURL, ANTHROPIC_API_KEY: "fake" },
  }),
  startCommand: () => ({ args: [cli, "--version"], env: {} }),
};
