import { describe, expect, it } from "vitest";
import { createChannel } from "../base/channel.ts";
import { CancelledError } from "../base/errors.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { noUsage } from "../contracts/usage.ts";
import { requestOf } from "../testing/ask-model.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { AnswerStream } from "./answer-stream.ts";
import { ModelError } from "./model-error.ts";
import type { AnswerReader, Exchange, WireClient } from "./provider-exchange.ts";
import { MalformedStream } from "./wire-fields.ts";

const end = { done: true, value: undefined };
const started: ModelEvent = { type: "message-start", id: "m", model: "c", usage: noUsage };
const blockStop = (index: number): ModelEvent => ({ type: "block-stop", index });
const stopped: ModelEvent = { type: "message-stop", stopReason: "end_turn", usage: noUsage };

/** `start`, a number for a block, `complete`, `finish`, `refuse`; anything else makes no sense. */
function createTestReader(): AnswerReader {
  let complete = false;
  let finished = false;
  return {
    read({ data }) {
      if (data === "start") return [started];
      if (/^\d+$/.test(data)) return [blockStop(Number(data))];
      if (data === "refuse") throw new ModelError({ kind: "overloaded", message: "too much" });
      if (data !== "complete" && data !== "finish") throw new MalformedStream(data);
      complete = true;
      finished = data === "finish";
      return [blockStop(99)];
    },
    get complete() {
      return complete;
    },
    get finished() {
      return finished;
    },
    end: () => [stopped],
  };
}

const eventsText = (...data: string[]) => data.map((each) => `data: ${each}\n\n`).join("");

/** A server whose answer comes when the test sends it. It does not heed cancellation: nothing may depend on that. */
function setUp(more: Partial<WireClient & Pick<Exchange, "connect">> = {}) {
  const clock = createManualClock();
  const { scope, held } = createWatchedScope();
  const body = createChannel<Uint8Array>();
  const posted: { cancelled: boolean }[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const client: WireClient = {
    async post(_, requestScope) {
      posted.push(requestScope);
      await answered;
      // Nothing else of a response is looked at.
      return { headers: new Headers(), body } as unknown as Response;
    },
    refusalIn: () => undefined,
    isConnectionError: () => false,
    ...more,
  };
  const exchange: Exchange = {
    connect: more.connect ?? (async () => client),
    serialize: () => "{}",
    createReader: createTestReader,
    context: {
      clock,
      address: "http://server",
      modelId: "c",
      credentialName: undefined,
      addressName: "BASE_URL",
      secrets: [],
    },
    stallMs: 1_000,
    onStall: (stallMs) => new ModelError({ kind: "cut", message: `silent for ${stallMs} ms` }),
  };
  const stream = new AnswerStream(exchange, requestOf({ scope }));
  const send = (...data: string[]) => body.push(new TextEncoder().encode(eventsText(...data)));
  return { clock, scope, held, body, posted, client, answer, send, stream };
}

async function collect(stream: AnswerStream): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const eventOf = async (step: Promise<IteratorResult<ModelEvent, undefined>>) => (await step).value;

describe("an answer", () => {
  it("is handed out event by event, its end when the body has ended", async () => {
    const { clock, held, answer, send, body, posted, stream } = setUp();
    answer();
    send("start", "1", "2");
    expect(await eventOf(stream.next())).toEqual(started);
    expect(await eventOf(stream.next())).toEqual(blockStop(1));
    expect(await eventOf(stream.next())).toEqual(blockStop(2));
    const last = stream.next();
    send("3", "finish");
    expect(await eventOf(last)).toEqual(blockStop(3));
    const ending = stream.next();
    let isThere = false;
    void ending.then(() => {
      isThere = true;
    });
    await settle();
    expect(isThere).toBe(false);
    body.close();
    expect(await eventOf(ending)).toEqual(blockStop(99));
    expect(await eventOf(stream.next())).toEqual(stopped);
    expect(await stream.next()).toEqual(end);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([false]);
    expect([held(), ...clock.pendingMs()]).toEqual([0]);
  });

  it("that does not end its last line is whole all the same", async () => {
    const { answer, body, stream } = setUp();
    answer();
    body.push(new TextEncoder().encode("data: start\n\ndata: finish"));
    body.close();
    expect(await collect(stream)).toEqual([started, blockStop(99), stopped]);
  });

  it.each([
    ["keeps the connection open", 250, ["start", "finish"]],
    ["does not tell the usage", 2_000, ["start", "complete"]],
  ])("whose server %s is handed out after a while, and the connection given up", async (_, ms, data) => {
    const { clock, held, answer, send, posted, stream } = setUp();
    answer();
    send(...data);
    const reading = collect(stream);
    await clock.advance(ms);
    expect(await reading).toEqual([started, blockStop(99), stopped]);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect([held(), ...clock.pendingMs()]).toEqual([0]);
  });

  it("that is followed by nonsense is whole, but its connection is given up", async () => {
    const { held, answer, send, posted, stream } = setUp();
    answer();
    send("start", "complete", "nonsense");
    expect(await collect(stream)).toEqual([started, blockStop(99), stopped]);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect(held()).toBe(0);
  });

  it.each([
    ["nonsense", "cut"],
    ["refuse", "overloaded"],
  ])("that goes on with %s fails once, after what came before it", async (data, kind) => {
    const { held, answer, send, posted, stream } = setUp();
    answer();
    send("start", "1", data, "2", "finish");
    expect([await eventOf(stream.next()), await eventOf(stream.next())]).toEqual([started, blockStop(1)]);
    await expect(stream.next()).rejects.toMatchObject({ name: "ModelError", kind });
    expect(await stream.next()).toEqual(end);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect(held()).toBe(0);
  });

  it("that ends before the message does is cut", async () => {
    const { answer, send, body, stream } = setUp();
    answer();
    send("start");
    body.close();
    await expect(collect(stream)).rejects.toMatchObject({ kind: "cut" });
  });

  it("whose body fails is cut", async () => {
    const { answer, send, body, stream } = setUp();
    answer();
    send("start");
    body.close(new Error("reset"));
    await expect(collect(stream)).rejects.toMatchObject({
      kind: "cut",
      message: expect.stringMatching(/broke off: reset/),
    });
  });
});

describe("silence", () => {
  it.each(["before the answer", "in the middle of it"])("%s ends the request", async (when) => {
    const { clock, held, answer, send, posted, stream } = setUp();
    if (when !== "before the answer") {
      answer();
      send("start");
    }
    const reading = expect(collect(stream)).rejects.toMatchObject({ message: "silent for 1000 ms" });
    await clock.advance(1_000);
    await reading;
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect([held(), ...clock.pendingMs()]).toEqual([0]);
  });
});

describe("a reader that leaves", () => {
  it("before the first event has sent nothing", async () => {
    const { posted, stream } = setUp();
    expect(await stream.return()).toEqual(end);
    expect(await stream.next()).toEqual(end);
    expect(posted).toEqual([]);
  });

  it("while the client is made has sent nothing", async () => {
    let connect = (_: WireClient) => {};
    const connected = new Promise<WireClient>((resolve) => {
      connect = resolve;
    });
    const { client, posted, held, stream } = setUp({ connect: () => connected });
    const waiting = stream.next();
    await stream.return();
    connect(client);
    expect(await waiting).toEqual(end);
    expect(posted).toEqual([]);
    expect(held()).toBe(0);
  });

  it("while the answer is awaited ends the wait and the request", async () => {
    const { clock, held, posted, stream } = setUp();
    const waiting = stream.next();
    await settle();
    await stream.return();
    expect(await waiting).toEqual(end);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect([held(), ...clock.pendingMs()]).toEqual([0]);
  });

  it("between two events gets nothing more, though it is there", async () => {
    const { held, answer, send, posted, stream } = setUp();
    answer();
    send("start", "1", "refuse");
    await stream.next();
    await stream.return();
    expect(await stream.next()).toEqual(end);
    expect(posted.map(({ cancelled }) => cancelled)).toEqual([true]);
    expect(held()).toBe(0);
  });

  it.each(["a piece", "nothing"])(
    "while it waits for more ends the wait, when there comes %s",
    async (what) => {
      const { clock, held, answer, send, stream } = setUp();
      answer();
      send("start");
      await stream.next();
      const waiting = stream.next();
      await settle();
      if (what === "a piece") send("1", "finish");
      await stream.return();
      expect(await waiting).toEqual(end);
      expect(await stream.next()).toEqual(end);
      expect([held(), ...clock.pendingMs()]).toEqual([0]);
    },
  );
});

describe("cancelling", () => {
  it("while the client is made gives its reason", async () => {
    const { client, scope, held, stream } = setUp({
      connect: async () => {
        scope.cancel("enough");
        return client;
      },
    });
    await expect(stream.next()).rejects.toEqual(new CancelledError("enough"));
    expect(held()).toBe(0);
  });

  it("fails with its reason, and leaves nothing behind", async () => {
    const { clock, scope, held, answer, send, stream } = setUp();
    answer();
    send("start");
    await stream.next();
    const waiting = stream.next();
    scope.cancel("enough");
    await expect(waiting).rejects.toEqual(new CancelledError("enough"));
    expect([held(), ...clock.pendingMs()]).toEqual([0]);
  });

  it("after the message was complete loses nothing of it", async () => {
    const { scope, answer, send, stream } = setUp();
    answer();
    send("start", "finish");
    const reading = collect(stream);
    await settle();
    scope.cancel("enough");
    expect(await reading).toEqual([started, blockStop(99), stopped]);
  });
});
