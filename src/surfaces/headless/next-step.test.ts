import { describe, expect, it } from "vitest";
import { createChannel } from "../../base/channel.ts";
import { createScriptedSession } from "../../testing/scripted-session.ts";
import { createSteps } from "./next-step.ts";

const shell = { id: "b1", kind: "local_bash", description: "serve", isBackgrounded: true };
const handle = { stop() {} };
const idle = () =>
  createScriptedSession(async function* () {
    yield { type: "turn-start", turn: 1 };
    return {};
  });
const nextTick = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("the next step", () => {
  it("is an item before work, and work before the end", async () => {
    const session = idle();
    const items = createChannel<string>();
    const steps = createSteps(items);
    session.wake();
    items.push("a");
    expect(await steps.next(session)).toEqual({ type: "item", item: "a" });
    expect(await steps.next(session)).toEqual({ type: "work" });
    items.close();
    expect(await steps.next(session)).toEqual({ type: "end" });
  });

  it("loses no item that was waited for while work came", async () => {
    const session = idle();
    let give = (_: string) => {};
    async function* once() {
      yield await new Promise<string>((resolve) => {
        give = resolve;
      });
    }
    const steps = createSteps(once());
    session.wake();
    expect(await steps.next(session)).toEqual({ type: "work" });
    for await (const _ of session.submit());
    const next = steps.next(session);
    give("typed meanwhile");
    expect(await next).toEqual({ type: "item", item: "typed meanwhile" });
    expect(await steps.next(session)).toEqual({ type: "end" });
  });

  it("comes also when something goes on only later, and listens no longer than it waits", async () => {
    const session = idle();
    const items = createChannel<string>();
    const steps = createSteps(items);
    let came = false;
    const next = steps.next(session).then((step) => {
      came = true;
      return step;
    });
    await nextTick();
    expect(came).toBe(false);
    session.tasks.register(shell, handle);
    await nextTick();
    session.wake();
    expect(await next).toEqual({ type: "work" });
  });

  it("is work also when somebody writes while nothing goes on", async () => {
    const session = idle();
    const steps = createSteps(createChannel<string>());
    const next = steps.next(session);
    // It has looked, and found nothing that could bring something.
    await nextTick();
    session.wake();
    expect(await next).toEqual({ type: "work" });
  });

  it("is only what comes from outside where there is no session", async () => {
    const items = createChannel<string>();
    const steps = createSteps(items);
    items.push("a");
    expect(await steps.next(undefined)).toEqual({ type: "item", item: "a" });
  });
});
