import { afterEach, beforeEach, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createAskUserQuestionTool, type Question } from "./ask-user-question.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const options = [
  { label: "Red", description: "warm" },
  { label: "Blue", description: "cold" },
];
const ask = (question: string) => ({ question, header: "Colour", options });

test("the answers come back by question, choices and own words alike", async () => {
  let asked: readonly Question[] = [];
  const tool = createAskUserQuestionTool({
    async ask(questions) {
      asked = questions;
      return { "Which?": "Blue", "Which ones?": ["Red", "Blue"], "Sure?": "", toString: "x" };
    },
  });
  const text = await scene.call(tool, {
    questions: [ask("Which?"), { ...ask("Which ones?"), multiSelect: true }, ask("Sure?"), ask("valueOf")],
  });
  expect(text).toBe(
    "Which?\nAnswer: Blue\n\nWhich ones?\nAnswer: Red, Blue\n\nSure?\n(not answered)\n\nvalueOf\n(not answered)",
  );
  expect(asked.map((question) => question.multiSelect)).toEqual([false, true, false, false]);
});

test("without a surface the model is told to decide on its own", async () => {
  const failure = await scene.fail(createAskUserQuestionTool(), { questions: [ask("Which?")] });
  expect(failure).toMatch(/Nobody can answer.*Decide on your own.*say/);
});

test("a person who does not answer is no failure", async () => {
  const tool = createAskUserQuestionTool({ ask: async () => undefined });
  expect(await scene.call(tool, { questions: [ask("Which?")] })).toContain("did not answer");
});

test("a cancelled question ends although the surface still waits", async () => {
  const controller = new AbortController();
  const tool = createAskUserQuestionTool({
    ask() {
      queueMicrotask(() => controller.abort(new CancelledError("interrupted")));
      return new Promise(() => {});
    },
  });
  await expect(
    scene.run(tool, { questions: [ask("Which?")] }, { signal: controller.signal }),
  ).rejects.toThrow(CancelledError);
});

test.each([
  ["no question", { questions: [] }],
  ["five questions", { questions: ["a", "b", "c", "d", "e"].map(ask) }],
  ["the same question twice", { questions: [ask("a"), ask("a")] }],
  ["one option", { questions: [{ ...ask("a"), options: options.slice(0, 1) }] }],
  ["the same option twice", { questions: [{ ...ask("a"), options: [options[0], options[0]] }] }],
])("%s does not fit", (_what, input) => {
  expect(createAskUserQuestionTool().bind(input).ok).toBe(false);
});
