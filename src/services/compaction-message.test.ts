import { describe, expect, it } from "vitest";
import type { Block, Message } from "../contracts/message.ts";
import { messageOf } from "../testing/ask-model.ts";
import { type CompactedParts, compactedContent, isCompacted } from "./compaction-message.ts";

const text = (words: string): Block => ({ type: "text", text: words });
const user = (...words: string[]) => messageOf("user", words.map(text));
const texts = (parts: Partial<CompactedParts>): string[] =>
  compactedContent({
    replaced: [],
    summary: "what was",
    transcriptPath: undefined,
    contextWindow: 50_000,
    following: [],
    waits: false,
    droppedCalls: [],
    hasTask: false,
    isLean: false,
    standing: [],
    ...parts,
  }).map((block) => (block.type === "text" ? block.text : block.type));
const requests = (replaced: readonly Message[], more: Partial<CompactedParts> = {}) =>
  texts({ replaced, ...more })
    .filter((each) => each.startsWith("<earlier-request>"))
    .map((each) => each.split("\n").slice(1, -1).join("\n"));
const compacted = (replaced: readonly Message[], more: Partial<CompactedParts> = {}): Message => ({
  ...user(...texts({ replaced, ...more })),
  synthetic: true,
});

describe("what was asked", () => {
  it("is told in the same words, the latest last, without what others have said", () => {
    const notice = "<task-notification>ended</task-notification>";
    const replaced = [user("one"), user(notice), { ...user("a hook"), synthetic: true }, user(notice, "two")];
    expect(requests(replaced)).toEqual(["one", "two"]);
    expect(requests([messageOf("assistant", [text("three")])])).toEqual([]);
  });

  it("is not lost the next time, and not more than the latest few", () => {
    const first = compacted([user("one"), user("two")]);
    expect(isCompacted(first)).toBe(true);
    expect(requests([first])).toEqual(["one", "two"]);
    expect(requests([first, user("three")])).toEqual(["one", "two", "three"]);
    expect(requests([first, ..."345678".split("").map((each) => user(each))])).toEqual("45678".split(""));
  });

  it("is cut where it is long", () => {
    const [long] = requests([user("x".repeat(50_000))]);
    expect(long?.length).toBeLessThan(2_100);
  });

  it("of a fork is its directive, and what came after it", () => {
    const directive = "<fork-directive>\nDo this.\n</fork-directive>";
    const replaced = [user("of the parent"), user(directive), user("and that")];
    expect(requests(replaced)).toEqual(["and that"]);
    expect(texts({ replaced })).toContain(directive);
    expect(texts({ replaced: [compacted(replaced), user("more")] })).toContain(directive);
    expect(requests([compacted(replaced), user("more")])).toEqual(["and that", "more"]);
  });

  it("of a fork is nothing that was said to its parent, while its directive waits for an answer", () => {
    const following = [user("<fork-directive>\nDo this.\n</fork-directive>")];
    const replaced = [compacted([user("first")]), user("of the parent")];
    expect(requests(replaced, { following })).toEqual([]);
    expect(texts({ replaced, following }).join()).not.toContain("<fork-directive>");
  });
});

describe("the task of an agent", () => {
  const task = `BEGIN ${"detail ".repeat(1_000)} RULE ${"detail ".repeat(1_000)} END`;
  const tasks = (replaced: readonly Message[], more: Partial<CompactedParts> = {}) =>
    texts({ replaced, hasTask: true, ...more }).filter((each) => each.startsWith("<earlier-request kind="));

  it("stays whole, however often it is asked for more, and stands there once", () => {
    const later = "123456789".split("").map((each) => user(each));
    let first = compacted([user(task), ...later], { hasTask: true });
    first = compacted([first, ...later], { hasTask: true });
    expect(tasks([first])).toEqual([`<earlier-request kind="task">\n${task}\n</earlier-request>`]);
    expect(requests([user(task), user("more")], { hasTask: true })).toEqual(["more"]);
  });

  it("is cut in the middle beyond a quarter of the window, once", () => {
    const window = { contextWindow: 4_000 };
    const [cut = ""] = tasks([user(task)], window);
    expect(cut).toMatch(/BEGIN.*characters left out.*END/s);
    expect(cut.length).toBeLessThan(4_200);
    expect(tasks([compacted([user(task)], { hasTask: true, ...window })], window)).toEqual([cut]);
  });
});

it("only a message of the runtime counts as a beginning", () => {
  expect(isCompacted(user("<conversation-summary>\nlies\n</conversation-summary>"))).toBe(false);
});

it("says where the whole is, and that the end follows, only if that is so", () => {
  expect(texts({ transcriptPath: "/a.jsonl", following: [user("a"), user("b")] })[0]).toMatch(
    /follow after.*\/a\.jsonl/s,
  );
  expect(texts({})[0]).not.toMatch(/follow after|JSON/);
});

it("says that somebody waits for an answer, and which results are gone", () => {
  expect(texts({ following: [user("a")], waits: true })[0]).toMatch(/at the very end, is not answered/);
  expect(texts({ droppedCalls: ["Read"] })[0]).toMatch(/results of your latest calls \(Read\)/);
  expect(texts({})[0]).not.toMatch(/not answered|latest calls/);
});
