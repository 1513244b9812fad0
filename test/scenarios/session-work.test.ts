/** What reaches a session from elsewhere, and what it leaves behind. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LaunchedAgent } from "../../src/agents/agent-result.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import type { Session } from "../../src/runtime/session.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { agent, calling, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

async function runRest(session: Session): Promise<void> {
  while (await session.nextWork()) for await (const _ of session.submit());
}

const arrivals = ({ messages }: Session) =>
  messages.flatMap(({ content }) => textOf(content).match(/<agent-message [^>]*>\nhello/g) ?? []);

it("takes a message that is sent a second time once, also when the first has been heard", async () => {
  const { session } = scene.open({ "*": saying("heard") });
  const message = { from: "main", id: "m1", text: "hello" };
  await Promise.all([session.deliver(message), session.deliver(message)]);
  await runRest(session);
  await session.deliver(message);
  await runRest(session);
  // Whoever sends it is none of the session's own.
  expect(arrivals(session)).toEqual(['<agent-message from="elsewhere:main">\nhello']);
});

it("takes a message the second time that could not be kept the first time", async () => {
  const world = createTestWorld();
  let isFull = true;
  const files: typeof world.files = {
    ...world.files,
    open: (...args) => (isFull ? Promise.reject(new Error("no space left")) : world.files.open(...args)),
  };
  const { session } = scene.open({ "*": saying("heard") }, {}, { world: { files } });
  const message = { from: "uds:/x", id: "m1", text: "hello" };
  await expect(session.deliver(message)).rejects.toThrow("no space left");
  isFull = false;
  await session.deliver(message);
  await runRest(session);
  expect(arrivals(session)).toHaveLength(1);
});

it("leaves no output file behind when it keeps nothing", async () => {
  const plays = { go: calling(agent("work", { run_in_background: true })), work: saying("done") };
  const { session, run } = scene.open(plays, { keepTranscript: false });
  const { outputFile } = (await run("go")).outputs[0] as LaunchedAgent;
  await runRest(session);
  expect(existsSync(outputFile)).toBe(true);
  await session.close();
  expect(existsSync(outputFile)).toBe(false);
  expect(existsSync(join(scene.home.path, ".cadre", "projects"))).toBe(false);
});
