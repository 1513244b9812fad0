/** What the tests of the whole command stand on: a bundle per file, and a place and a provider per test. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type MockAnswer, type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { type LoadedTranscript, loadTranscript } from "../../src/transcript/reader.ts";
import {
  type BuiltCommand,
  buildCommand,
  type Ended,
  makePlace,
  type Place,
  type Running,
  secretKey,
  startCommand,
  transcriptsIn,
} from "./built-command.ts";

export interface RunOptions {
  readonly env?: Record<string, string | undefined>;
  readonly input?: string | Uint8Array | "pipe";
  readonly program?: string;
}

export interface Stage {
  readonly place: Place;
  readonly program: string;
  readonly provider: MockProvider | undefined;
  /** Starts the provider; answers with the environment that leads there. */
  connect(answers: MockAnswer | ((index: number) => MockAnswer)): Promise<Record<string, string>>;
  start(args: readonly string[], options?: RunOptions): Running;
  /** Runs to the end, and checks what holds for every run. */
  cadre(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** What the provider was told last. */
  lastSent(): string | undefined;
  loaded(): Promise<LoadedTranscript>;
}

/** Must be called once per file, at its top. */
export function setStage(): Stage {
  let built: BuiltCommand;
  let place: Place;
  let provider: MockProvider | undefined;
  const running = new Set<Running>();
  beforeAll(async () => {
    built = await buildCommand();
  }, 60_000);
  afterAll(() => built.remove());
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    for (const { child } of running) child.kill("SIGKILL");
    running.clear();
    await provider?.close();
    provider = undefined;
    place.remove();
  });

  const stage: Stage = {
    get place() {
      return place;
    },
    get program() {
      return built.program;
    },
    get provider() {
      return provider;
    },
    async connect(answers) {
      provider = await startMockProvider({
        answer: (_request, index) => (typeof answers === "function" ? answers(index) : answers),
      });
      return { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: secretKey };
    },
    start(args, options = {}) {
      const started = startCommand({
        program: options.program ?? built.program,
        args,
        cwd: place.project,
        env: { HOME: place.home, ...options.env },
        ...(options.input !== undefined && { input: options.input }),
      });
      running.add(started);
      return started;
    },
    async cadre(args, options) {
      const ended = await stage.start(args, options).ended;
      expectDecent(ended, place);
      return ended;
    },
    lastSent: () => JSON.stringify(provider?.requests.at(-1)?.body.messages.at(-1)?.content),
    async loaded() {
      const [path = ""] = transcriptsIn(place.home);
      return await loadTranscript({ world: createTestWorld(), path });
    },
  };
  return stage;
}

/** No stack trace, no key, no signal of its own. */
export function expectDecent({ stdout, stderr, signal }: Ended, { home }: Place): void {
  expect(signal).toBeNull();
  expect(stderr).not.toMatch(/^\s+at .+:\d+/m);
  expect(stderr).not.toContain("unexpected error");
  expect(stdout + stderr).not.toContain(secretKey);
  if (!existsSync(home)) return;
  for (const path of transcriptsIn(home)) expect(readFileSync(path, "utf8")).not.toContain(secretKey);
}

export const text = (words: string): MockAnswer => [{ type: "text", text: words }];
export const call = (name: string, input: Record<string, unknown>): MockAnswer => [
  { type: "tool_use", name, input },
];
export const bash = (command: string) => call("Bash", { command });
/** One answer after the other, then that it is done. */
export const script =
  (...answers: MockAnswer[]) =>
  (index: number) =>
    answers[index] ?? text("done");
export const allowed = ["-p", "go", "--allowed-tools", "Bash,Write,Edit"];
