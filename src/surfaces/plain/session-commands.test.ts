import { describe, expect, it } from "vitest";
import { CadreError } from "../../base/errors.ts";
import type { Message } from "../../contracts/message.ts";
import { noUsage } from "../../contracts/usage.ts";
import type { Session } from "../../runtime/session.ts";
import { type Script, sitDown } from "../../testing/person-at-terminal.ts";
import { answerEvents, type ScriptedSession, untilInterrupted } from "../../testing/scripted-session.ts";

const copyId = "22222222-2222-4222-8222-222222222222";
const firstId = "11111111-1111-4111-8111-111111111111";
const said: Message = {
  uuid: "1",
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  role: "user",
  content: [{ type: "text", text: "before" }],
};
const says: Script = () =>
  async function* ({ content }) {
    yield* answerEvents(`answer to ${String(content)}`);
    return {};
  };
const untilStopped: Script = () =>
  async function* ({ interrupted }) {
    yield* answerEvents("working");
    return await untilInterrupted(interrupted);
  };
const shell = { id: "b1", kind: "local_bash", description: "serve", isBackgrounded: true };

async function leave(person: ReturnType<typeof sitDown>): Promise<void> {
  person.end();
  await person.exit;
}

describe("/fork", () => {
  it("makes a copy, during a run as well, and tells how to go on in it", async () => {
    const person = sitDown(untilStopped);
    await person.sees("> ");
    person.type("/fork\n");
    await person.sees(
      `Branched: you go on here. To go on in the copy, from another terminal:\n  cadre --resume ${copyId}\n> `,
    );
    person.type("go\n");
    await person.sees("working");
    person.type("/fork\n");
    await person.sees(`cadre --resume ${copyId}\n`);
    expect(person.session()?.submitted).toEqual(["go"]);
    person.session()?.interrupt();
    await leave(person);
  });

  it("says what stays, and why it could not be", async () => {
    let attempts = 0;
    const person = sitDown(says, {
      session: () => ({
        async branch() {
          if (attempts++ > 0) throw new CadreError({ code: "x", message: "This conversation is not kept." });
          return { id: copyId };
        },
      }),
    });
    await person.sees("> ");
    const run = person.session()?.tasks.register(shell, { stop() {} });
    person.type("/fork\n");
    await person.sees("Branched: you go on here. What is at work stays here. To go on");
    person.type("/fork\n");
    await person.sees("cadre: not branched: This conversation is not kept.\n> ");
    person.type("/fork there\n");
    await person.sees("Either /fork, or /fork --go to go on in the copy.\n> ");
    run?.end({ status: "completed" });
    await leave(person);
  });

  it("goes on in the copy if so wished, and the other one is closed", async () => {
    const opened: ScriptedSession[] = [];
    const person = sitDown(says, { canGoOn: true, session: () => ({}) });
    await person.sees("> ");
    opened.push(person.session() as ScriptedSession);
    person.type("/fork --go\n");
    await person.sees(`You are in the copy now. To go on in the other one: cadre --resume ${firstId}\n> `);
    expect(person.session()?.id).toBe(copyId);
    person.type("hello\n");
    await person.sees("answer to hello\n> ");
    expect(person.session()?.submitted).toEqual(["hello"]);
    expect(opened[0]).toMatchObject({ closed: true, submitted: [] });
    const request = { toolName: "Bash", toolUseId: "t", input: { command: "make" }, reason: "" };
    const verdict = person.session()?.ask(request);
    await person.sees("(or say why): ");
    person.type("y\n");
    expect((await verdict)?.kind).toBe("allowed");
    await leave(person);
    expect(person.session()?.closed).toBe(true);
  });

  it("does not go while something is at work, which would have to stop, nor during a run", async () => {
    const person = sitDown(untilStopped, { canGoOn: true });
    await person.sees("> ");
    const run = person.session()?.tasks.register(shell, { stop() {} });
    person.type("/fork --go\n");
    await person.sees(
      "(1 task would have to stop here: /fork makes a copy to go on with from another terminal)\n> ",
    );
    run?.end({ status: "completed" });
    person.type("go\n");
    await person.sees("working");
    person.type("/fork --go\n");
    await person.sees("(a run goes on: /fork has to wait for its end)");
    expect(person.session()?.id).toBe(firstId);
    person.session()?.interrupt();
    await leave(person);
  });

  it("stays where it is if the copy cannot be opened", async () => {
    let opens = 0;
    const open = () => {
      if (opens++ > 0) throw new Error("no space left");
      return undefined as never;
    };
    const person = sitDown(says, { canGoOn: true, open });
    await person.sees("> ");
    person.type("/fork --go\n");
    await person.sees("cadre: you stay where you are: no space left\n> ");
    person.type("hello\n");
    await person.sees("answer to hello\n> ");
    expect(person.session()?.closed).toBe(false);
    await leave(person);
  });
});

describe("/compact", () => {
  const compacting = (wishes: unknown[], result: Partial<Awaited<ReturnType<Session["compact"]>>> = {}) => ({
    messages: [said],
    session: (): Partial<ScriptedSession> => ({
      async compact(instructions, onEvent) {
        wishes.push(instructions);
        onEvent?.({ type: "compaction-start", trigger: "manual" });
        return { ok: true, promptTokensBefore: 81_234, usage: noUsage, costUsd: 0, ...result };
      },
    }),
  });

  it("shortens the conversation with what the person says, and tells what it was", async () => {
    const wishes: unknown[] = [];
    const person = sitDown(says, compacting(wishes));
    await person.sees("> ");
    person.type("/compact\n");
    await person.sees("(summarising it)\n");
    await person.sees(
      "Compacted: from here on the model has a summary. It had 81,234 tokens. The transcript has everything.\n> ",
    );
    person.type("/compact keep the names of files\n");
    await person.sees("Compacted:");
    expect(wishes).toEqual([undefined, "keep the names of files"]);
    expect(person.session()?.submitted).toEqual([]);
    await leave(person);
  });

  it("tells why it could not be, and that nothing has changed", async () => {
    const person = sitDown(says, compacting([], { ok: false, problem: "The model gave no summary." }));
    await person.sees("> ");
    person.type("/compact\n");
    await person.sees("cadre: not compacted: The model gave no summary. The conversation is as it was.\n> ");
    await leave(person);
  });

  it("has nothing to do before anything was said, and waits for the end of a run", async () => {
    const person = sitDown(untilStopped);
    await person.sees("> ");
    person.type("/compact\n");
    await person.sees("There is nothing to compact yet.\n> ");
    person.type("go\n");
    await person.sees("working");
    person.type("/compact\n");
    await person.sees("(a run goes on: /compact has to wait for its end)");
    person.session()?.interrupt();
    await leave(person);
  });
});

describe("/btw", () => {
  it("is answered beside the conversation, also while a run goes on", async () => {
    const person = sitDown(untilStopped);
    await person.sees("> ");
    person.type("/btw what was the name?\n");
    await person.sees("(asking ...)\n> ");
    await person.sees(
      "an answer to: what was the name?\n(beside the conversation: nothing of this is part of it)\n> ",
    );
    person.type("go\n");
    await person.sees("working");
    person.type("/btw and why?\n");
    await person.sees("an answer to: and why?");
    expect(person.session()).toMatchObject({ submitted: ["go"], enqueued: [] });
    person.session()?.interrupt();
    await leave(person);
  });

  it("wants a question, and tells why there is no answer", async () => {
    const person = sitDown(says, {
      session: () => ({
        askAside: async () => {
          throw new CadreError({ code: "service-off", message: "Side questions are switched off." });
        },
      }),
    });
    await person.sees("> ");
    person.type("/btw\n");
    await person.sees("What is the question? /btw QUESTION\n> ");
    person.type("/btw who\n");
    await person.sees("cadre: not asked: Side questions are switched off.\n> ");
    await leave(person);
  });
});

describe("/cost", () => {
  it("shows what the prompt cache did, of several models each by itself", async () => {
    const big = { inputTokens: 1_000, outputTokens: 50, cacheWriteTokens: 2_000, cacheReadTokens: 97_000 };
    const small = { inputTokens: 100, outputTokens: 5, cacheWriteTokens: 0, cacheReadTokens: 0 };
    const usage = { inputTokens: 1_100, outputTokens: 55, cacheWriteTokens: 2_000, cacheReadTokens: 97_000 };
    const totals = { usage, usageByModel: { big, small }, costUsd: 0.1234 };
    const person = sitDown(says, { session: () => ({ totals }) });
    await person.sees("> ");
    person.type("/cost\n");
    await person.sees(`100,100 tokens read (97,000 from cache), 55 written, $0.1234
prompt cache: 97,000 tokens read from it (96.9% of what was read), 2,000 put into it, 1,100 neither
  big: 97,000 tokens read from it (97% of what was read), 2,000 put into it, 1,000 neither
  small: 0 tokens read from it (0% of what was read), 0 put into it, 100 neither
> `);
    await leave(person);
  });
});
