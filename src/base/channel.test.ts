import { describe, expect, it } from "vitest";
import { createChannel } from "./channel.ts";

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

describe("channel", () => {
  it("hands out what was pushed before and during iteration, in order, then ends", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    const reading = collect(channel);
    channel.push(2);
    await Promise.resolve();
    channel.push(3);
    channel.close();
    expect(await reading).toEqual([1, 2, 3]);
  });

  it("delivers what came before the error, then fails with it", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    channel.close(new Error("cut"));
    const seen: number[] = [];
    const reading = (async () => {
      for await (const value of channel) seen.push(value);
    })();
    await expect(reading).rejects.toThrow("cut");
    expect(seen).toEqual([1]);
  });

  it("ignores what comes after the close", async () => {
    const channel = createChannel<number>();
    channel.close();
    channel.push(1);
    channel.close(new Error("late"));
    expect(await collect(channel)).toEqual([]);
  });

  it("is closed when its consumer leaves, so that producers can notice", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    channel.push(2);
    for await (const _ of channel) break;
    expect(channel.closed).toBe(true);
    channel.push(3);
    expect(await collect(channel)).toEqual([]);
  });

  it("keeps values that are pushed while a batch is being handed out", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    channel.push(2);
    const seen: number[] = [];
    for await (const value of channel) {
      seen.push(value);
      if (value === 1) channel.push(3);
      if (value === 3) channel.close();
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it("tells its producer when the consumer has taken everything and asks for more", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    let wanted = false;
    const waiting = channel.wanted()?.then(() => {
      wanted = true;
    });
    const reader = channel[Symbol.asyncIterator]();
    await reader.next();
    expect(wanted).toBe(false);
    const next = reader.next();
    await waiting;
    expect(wanted).toBe(true);
    expect(channel.wanted()).toBeUndefined();
    channel.push(2);
    expect(await next).toEqual({ done: false, value: 2 });
  });

  it("does not keep its producer waiting for a consumer that left", async () => {
    const channel = createChannel<number>();
    const waiting = channel.wanted();
    await channel[Symbol.asyncIterator]().return?.();
    await waiting;
    expect(channel.wanted()).toBeUndefined();
  });

  it("does not keep its producer waiting once it is closed", async () => {
    const channel = createChannel<number>();
    const waiting = channel.wanted();
    channel.close();
    await waiting;
    expect(channel.wanted()).toBeUndefined();
  });

  it("ends for a consumer that leaves while it waits, and stays ended", async () => {
    const channel = createChannel<number>();
    const reader = channel[Symbol.asyncIterator]();
    const waiting = reader.next();
    await reader.return?.();
    channel.push(1);
    const end = { done: true, value: undefined };
    expect([await waiting, await reader.next()]).toEqual([end, end]);
  });

  it("keeps neither values nor an error for a consumer that left", async () => {
    const channel = createChannel<number>();
    channel.push(1);
    channel.close(new Error("cut"));
    const reader = channel[Symbol.asyncIterator]();
    await reader.return?.();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});
