import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Two processes on two cores; tests that start real programs get their own time.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
  },
});
