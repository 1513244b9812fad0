import { describe, expect, it } from "vitest";
import type { Surface } from "../../runtime/session.ts";
import { type Script, sitDown } from "../../testing/person-at-terminal.ts";
import { answerEvents, untilInterrupted } from "../../testing/scripted-session.ts";

function sitDownWithSuggestions(options: { terminal?: boolean; hangs?: boolean } = {}) {
  let surface: Surface = {};
  const script: Script = (given) => {
    surface = given;
    return async function* ({ content, interrupted }) {
      yield* answerEvents(`answer to ${String(content)}`);
      return options.hangs === true ? await untilInterrupted(interrupted) : {};
    };
  };
  const person = sitDown(script, options);
  return { ...person, suggest: (text: string) => surface.onSuggestion?.(text) };
}

describe("a suggestion", () => {
  it("is a line, and sent by /yes alone", async () => {
    const person = sitDownWithSuggestions();
    await person.sees("> ");
    person.suggest("run the tests");
    await person.sees("(next? run the tests - /yes sends it)\n> ");
    person.type("\n");
    await person.sees("> ");
    person.type("/model\n");
    await person.sees("scripted\n> ");
    person.type("/yes\n");
    await person.sees("answer to run the tests\n> ");
    person.type("/yes\n");
    await person.sees("(nothing is suggested)\n> ");
    person.end();
    await person.exit;
    expect(person.session()?.submitted).toEqual(["run the tests"]);
  });

  it("is gone when the conversation goes on", async () => {
    const person = sitDownWithSuggestions();
    await person.sees("> ");
    person.suggest("run the tests");
    await person.sees("- /yes sends it)\n> ");
    person.type("something else\n");
    await person.sees("answer to something else\n> ");
    person.type("/yes\n");
    await person.sees("(nothing is suggested)\n> ");
    person.end();
    await person.exit;
  });

  it("does not come between what is being typed, nor can it be sent unseen", async () => {
    const person = sitDownWithSuggestions({ terminal: true });
    await person.sees("> ");
    person.type("half a");
    await person.sees("half a");
    person.suggest("one");
    person.type(" line \\\r");
    await new Promise(setImmediate);
    person.suggest("two");
    person.type("whole\r");
    await person.sees("answer to half a line \nwhole");
    person.type("/yes\r");
    await person.sees("(nothing is suggested)");
    person.type("/exit\r");
    await person.exit;
    expect(person.shown()).not.toContain("next?");
  });

  it("is not shown while a question is open or a run goes on", async () => {
    const person = sitDownWithSuggestions({ hangs: true });
    await person.sees("> ");
    const request = { toolName: "Bash", toolUseId: "t", input: { command: "make" }, reason: "" };
    const verdict = person.session()?.ask(request);
    await person.sees("(or say why): ");
    person.suggest("one");
    person.type("y\n");
    await verdict;
    person.type("go\n");
    await person.sees("answer to go");
    person.suggest("two");
    person.type("/yes\n");
    await person.sees("(nothing is suggested)\n");
    person.session()?.interrupt();
    person.end();
    await person.exit;
    expect(person.shown()).not.toContain("next?");
    expect(person.session()?.submitted).toEqual(["go"]);
  });

  it("is sent as it was shown, and never is a command", async () => {
    const person = sitDownWithSuggestions();
    await person.sees("> ");
    for (const text of ["/exit", "  /compact", " "]) person.suggest(text);
    person.suggest("run\u202e it");
    await person.sees("(next? run<U+202E> it - /yes sends it)\n> ");
    person.type("/yes\n");
    await person.sees("answer to run<U+202E> it\n> ");
    person.end();
    await person.exit;
    expect(person.shown().match(/next\?/g)).toHaveLength(1);
    expect(person.session()?.submitted).toEqual(["run<U+202E> it"]);
  });
});
