import { expect, test } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { promptSilenceMs, watchForPrompt } from "./watch-for-prompt.ts";

function createWatch() {
  const clock = createManualClock();
  const prompts: string[] = [];
  const watch = watchForPrompt({ clock, onPrompt: (lastLine) => prompts.push(lastLine) });
  return { clock, prompts, watch, say: (text: string) => watch.add(Buffer.from(text)) };
}

test.each([
  [["Go on? [y/N] "], "Go on? [y/N] "],
  [["one\ntwo\r\nPass", "word: "], "Password: "],
  [["a\n", "> "], "> "],
  [["x".repeat(5_000), "é?"], `${"x".repeat(997)}é?`],
])("%j and then silence is a question", async (said, lastLine) => {
  const { clock, prompts, say } = createWatch();
  for (const text of said) say(text);
  await clock.advance(promptSilenceMs);
  expect(prompts).toEqual([lastLine]);
});

test.each([
  [["done\n"]],
  [["50%\r"]],
  [["  "]],
  [["question? ", "\n"]],
  [["question? ", "answer\nend\n"]],
  [[]],
])("%j and then silence is none", async (said) => {
  const { clock, prompts, say } = createWatch();
  for (const text of said) say(text);
  await clock.advance(10 * promptSilenceMs);
  expect(prompts).toEqual([]);
});

test("the silence begins with the last word, however slowly they come", async () => {
  const { clock, prompts, say } = createWatch();
  for (let i = 0; i < 10; i++) {
    say(".");
    await clock.advance(promptSilenceMs - 1);
  }
  expect(prompts).toEqual([]);
  await clock.advance(1);
  expect(prompts).toEqual([".........."]);
});

test("it is told once, and not at all after the end", async () => {
  const { clock, prompts, say, watch } = createWatch();
  say("first? ");
  await clock.advance(promptSilenceMs);
  say("second? ");
  await clock.advance(promptSilenceMs);
  expect(prompts).toEqual(["first? "]);
  const other = createWatch();
  other.say("third? ");
  other.watch.stop();
  watch.stop();
  await other.clock.advance(promptSilenceMs);
  expect([other.prompts, other.clock.pendingMs()]).toEqual([[], []]);
});
