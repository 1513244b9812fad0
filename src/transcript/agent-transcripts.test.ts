import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { FileSystem } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { createFaultyFiles } from "../testing/faulty-files.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createVolatileFiles } from "../testing/volatile-files.ts";
import type { AgentMeta } from "./agent-meta.ts";
import {
  type AgentTranscripts,
  type AgentTranscriptsOptions,
  createAgentTranscripts,
} from "./agent-transcripts.ts";
import type { TranscriptRecord } from "./record.ts";

const nodeWorld = createNodeWorld();
let workspace: TempWorkspace;
let folder: string;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  folder = join(workspace.path, "session", "subagents");
});
afterEach(() => workspace.remove());

type Settings = Partial<AgentTranscriptsOptions> & { files?: FileSystem };
function open({ files, ...options }: Settings = {}): AgentTranscripts {
  const world = { ...nodeWorld, clock: createManualClock(), ...(files && { files }) };
  return createAgentTranscripts({ world, folder, ...options });
}

const meta = (agentId: string, rest: Partial<AgentMeta> = {}): AgentMeta => ({
  agentId,
  agentType: "Explore",
  description: "look around",
  depth: 1,
  cwd: "/work",
  startedAt: "2026-01-01T00:00:00.000Z",
  ...rest,
});
const text = (value: string): Block => ({ type: "text", text: value });
const message = (uuid: string, role: Message["role"] = "user", content?: Block[]): TranscriptRecord => ({
  type: "message",
  message: {
    uuid,
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    role,
    content: content ?? [text(`${uuid} é 漢`)],
  },
});
const runEnd = (reason = "completed"): TranscriptRecord => ({
  type: "run-end",
  reason,
  turns: 1,
  usage: noUsage,
});
const tools = [{ name: "Read", description: "reads", inputSchema: { type: "object" } }];
const prefix = (system: string, ofTools = tools): TranscriptRecord => ({
  type: "prefix",
  model: "m",
  system,
  tools: ofTools,
  reason: "start",
});
const uuidsOf = (messages: readonly Message[]) => messages.map(({ uuid }) => uuid);
const namesIn = (...parts: string[]) => readdirSync(join(workspace.path, "session", ...parts)).sort();

async function uuidsAfter(agentId: string, transcripts = open()): Promise<string[]> {
  return uuidsOf((await transcripts.reopen(agentId)).loaded.messages);
}

describe("the transcripts of agents", () => {
  it("touch the disk with the first record that must be durable, not before", async () => {
    const transcripts = open();
    const writer = transcripts.create(meta("a1"));
    writer.append(message("1"));
    expect(readdirSync(workspace.path)).toEqual([]);
    await writer.durable();
    expect(namesIn("subagents")).toEqual(["journal-1.jsonl"]);
  });

  it("leave a file and its metadata for each agent, private, and no journal", async () => {
    const transcripts = open();
    for (const id of ["a1", "a2"]) {
      const writer = transcripts.create(meta(id, { toolUseId: `call ${id}` }));
      writer.append(message(`${id}-1`));
      await writer.durable();
      writer.append(runEnd());
      await writer.close();
    }
    await transcripts.close();
    expect(namesIn("subagents")).toEqual([
      "agent-a1.jsonl",
      "agent-a1.meta.json",
      "agent-a2.jsonl",
      "agent-a2.meta.json",
    ]);
    expect(JSON.parse(await workspace.read("session/subagents/agent-a2.meta.json"))).toEqual(
      meta("a2", { toolUseId: "call a2" }),
    );
    const info = await nodeWorld.files.stat(join(folder, "agent-a1.jsonl"));
    expect(info.mode & 0o777).toBe(0o600);
    const lines = readFileSync(join(folder, "agent-a1.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      "agent",
      "message",
      "run-end",
    ]);
  });

  it("are written one sync for all who wait, and hold no file open", async () => {
    const files = createFaultyFiles(nodeWorld.files, []);
    const transcripts = open({ files });
    const writers = Array.from({ length: 50 }, (_, index) => transcripts.create(meta(`a${index}`)));
    await Promise.all(
      writers.map((writer) => {
        writer.append(message("1"));
        return writer.durable();
      }),
    );
    expect(files.count("sync")).toBeLessThan(4);
    expect(files.count("open")).toBe(1);
  });

  it("store what siblings begin with once", async () => {
    const transcripts = open();
    for (const id of ["a1", "a2", "a3"]) {
      const writer = transcripts.create(meta(id));
      writer.append(prefix("be good"));
      if (id === "a3") writer.append(prefix("be better", [...tools]));
      writer.append(message("1"));
      await writer.durable();
      await writer.close();
    }
    expect(namesIn("prefixes")).toHaveLength(2);
    const first = await transcripts.reopen("a1");
    expect(first.loaded.prefix).toEqual(prefix("be good"));
    expect((await transcripts.reopen("a3")).loaded.prefix).toEqual(prefix("be better"));
    await transcripts.close();
    for (const name of namesIn("prefixes"))
      await nodeWorld.files.remove(join(folder, "..", "prefixes", name));
    const without = await open().reopen("a2");
    expect(without.loaded.prefix).toBeUndefined();
    expect(without.loaded.problems[0]?.problem).toContain("are gone");
    expect(uuidsOf(without.loaded.messages)).toEqual(["1"]);
  });

  it("are read with what has not reached the file yet, and go on where they ended", async () => {
    const transcripts = open();
    const writer = transcripts.create(meta("a1"));
    writer.append(message("1"));
    await writer.close();
    const again = await transcripts.reopen("a1");
    expect(again.meta).toEqual(meta("a1"));
    expect(uuidsOf(again.loaded.messages)).toEqual(["1"]);
    again.writer.append(message("2"));
    await again.writer.close();
    await transcripts.close();
    expect(await uuidsAfter("a1")).toEqual(["1", "2"]);
  });

  it("refuse what is not there, what is no id, and what is running", async () => {
    const transcripts = open();
    await transcripts.create(meta("a1")).durable();
    for (const id of ["a2", "../a1", "", "x".repeat(500)])
      await expect(transcripts.reopen(id)).rejects.toMatchObject({ code: "agent-unknown" });
    await expect(transcripts.reopen("a1")).rejects.toMatchObject({ code: "agent-running" });
    expect(() => transcripts.create(meta("../a1"))).toThrow(TypeError);
  });

  it("let one go on of two who ask for the same agent at once", async () => {
    const transcripts = open();
    const writer = transcripts.create(meta("a1"));
    writer.append(message("1"));
    await writer.close();
    const asked = await Promise.allSettled([transcripts.reopen("a1"), transcripts.reopen("a1")]);
    expect(asked.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("say how each agent stands: running, ended and with which words, or interrupted", async () => {
    const first = open();
    const done = first.create(meta("a1"));
    done.append(message("1"));
    done.append(message("2", "assistant", [text("found it")]));
    done.append(runEnd());
    await done.close();
    const failed = first.create(meta("a2", { startedAt: "2026-01-02T00:00:00.000Z" }));
    failed.append(message("1"));
    failed.append(runEnd("model_error"));
    await failed.close();
    const cut = first.create(meta("a3", { startedAt: "2026-01-03T00:00:00.000Z" }));
    cut.append(message("1"));
    cut.append(message("2", "assistant", [text("looking")]));
    await cut.durable();
    expect((await first.list()).map(({ status }) => status)).toEqual(["completed", "failed", "running"]);
    // The process dies here: nobody closes.
    const standings = await open().list();
    expect(standings.map(({ meta: { agentId }, status, text: words }) => [agentId, status, words])).toEqual([
      ["a1", "completed", "found it"],
      ["a2", "failed", ""],
      ["a3", "interrupted", "looking"],
    ]);
    expect(standings[2]?.lastMessageUuid).toBe("2");
  });

  it("count an agent as interrupted again whose second run was", async () => {
    const first = open();
    const writer = first.create(meta("a1"));
    writer.append(message("1"));
    writer.append(runEnd());
    await writer.close();
    const again = await first.reopen("a1");
    again.writer.append(message("2"));
    await again.writer.durable();
    expect((await open().list())[0]?.status).toBe("interrupted");
  });

  it("answer calls that a crash left without a result, and record the answer", async () => {
    const first = open();
    const writer = first.create(meta("a1"));
    writer.append(message("1"));
    const call: Block = { type: "tool_use", id: "c", name: "Agent", input: {} };
    writer.append(message("2", "assistant", [call]));
    await writer.durable();
    const child = first.create(meta("a2", { parentAgentId: "a1", toolUseId: "c" }));
    child.append(message("3"));
    await child.durable();

    const second = open();
    const { loaded, writer: goesOn } = await second.reopen("a1");
    const result = loaded.messages[2]?.content[0];
    expect(result).toMatchObject({ tool_use_id: "c", is_error: true });
    expect(JSON.stringify(result)).toContain('Agent({ resume: \\"a2\\" })');
    await goesOn.close();
    await second.close();
    const third = (await open().reopen("a1")).loaded;
    expect(third.messages).toEqual(loaded.messages);
  });

  it("take a cut last line for what it is, and go on behind it", async () => {
    const first = open();
    const writer = first.create(meta("a1"));
    writer.append(message("1"));
    await writer.close();
    await first.close();
    const path = join(folder, "agent-a1.jsonl");
    await nodeWorld.files.writeFile(path, `${readFileSync(path, "utf8")}{"type":"mess`);
    const second = open();
    const again = await second.reopen("a1");
    again.writer.append(message("2"));
    await again.writer.durable();
    // Once with a journal, once without.
    expect(await uuidsAfter("a1")).toEqual(["1", "2"]);
    expect(await uuidsAfter("a1")).toEqual(["1", "2"]);
  });

  it("begin a line of their own behind a cut one", async () => {
    const first = open();
    await first.create(meta("a1")).close();
    await first.close();
    const path = join(folder, "agent-a1.jsonl");
    await nodeWorld.files.writeFile(path, `${readFileSync(path, "utf8")}{"type":"mess`);
    const second = open();
    const { writer } = await second.reopen("a1");
    writer.append(message("2"));
    await writer.close();
    await second.close();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.slice(1)).toEqual(['{"type":"mess', JSON.stringify(message("2")), ""]);
  });

  it("are put right when the system has kept the length of a file and not what was in it", async () => {
    const first = open();
    const writer = first.create(meta("a1"));
    writer.append(message("1"));
    await writer.close();
    await first.list();
    await nodeWorld.files.writeFile(join(folder, "agent-a1.jsonl"), Buffer.alloc(10_000));
    const { loaded } = await open().reopen("a1");
    expect(uuidsOf(loaded.messages)).toEqual(["1"]);
    expect(loaded.problems).toEqual([]);
  });

  it("acknowledge nothing that is still queued in a full journal while a new one is taken into use", async () => {
    let letOpen = () => {};
    const mayOpen = new Promise<void>((resolve) => {
      letOpen = resolve;
    });
    let isFull = false;
    let failedWrites = 0;
    const files: FileSystem = {
      ...nodeWorld.files,
      async open(path, mode, options) {
        if (path.endsWith("journal-2.jsonl")) await mayOpen;
        const handle = await nodeWorld.files.open(path, mode, options);
        if (!path.endsWith("journal-1.jsonl")) return handle;
        return {
          ...handle,
          async write(data, position) {
            if (isFull) {
              failedWrites++;
              throw Object.assign(new Error("no space"), { code: "ENOSPC" });
            }
            await handle.write(data, position);
          },
        };
      },
    };
    const transcripts = open({ files, maxBytes: 1 });
    const writer = transcripts.create(meta("a1"));
    await writer.durable();
    writer.append(message("1"));
    isFull = true;
    letOpen();
    // The old one is written to its end when the new one is in use.
    await expect.poll(() => failedWrites).toBeGreaterThan(0);
    await expect(writer.durable()).rejects.toMatchObject({ code: "journal-unwritable" });
    isFull = false;
    writer.append(message("2"));
    await writer.durable();
    expect(await uuidsAfter("a1")).toEqual(["1", "2"]);
  });

  it("start a journal anew when it is full, also while agents write", async () => {
    const transcripts = open({ maxBytes: 2_000 });
    const writers = ["a1", "a2", "a3"].map((id) => transcripts.create(meta(id)));
    for (let index = 0; index < 60; index++)
      await Promise.all(
        writers.map((writer) => {
          writer.append(message(String(index)));
          return writer.durable();
        }),
      );
    const journals = namesIn("subagents").filter((name) => name.startsWith("journal-"));
    expect(journals.length).toBeLessThan(4);
    expect(journals[0]).not.toBe("journal-1.jsonl");
    const expected = Array.from({ length: 60 }, (_, index) => String(index));
    await transcripts.close();
    for (const id of ["a1", "a2", "a3"]) expect(await uuidsAfter(id)).toEqual(expected);
  });

  it("do not hold up the end of the process when there are many: the journal stays for the next one", async () => {
    const files = createFaultyFiles(nodeWorld.files, []);
    const transcripts = open({ files, maxFilesAtClose: 2 });
    for (const id of ["a1", "a2", "a3"]) {
      const writer = transcripts.create(meta(id));
      writer.append(message("1"));
      await writer.close();
    }
    const before = files.count("sync");
    await transcripts.close();
    expect(files.count("sync")).toBe(before);
    expect(namesIn("subagents")).toContain("journal-1.jsonl");
    expect(await uuidsAfter("a3")).toEqual(["1"]);
    expect(namesIn("subagents")).not.toContain("journal-1.jsonl");
  });

  it("forget an agent that has ended, and write files behind by a clock that all share", async () => {
    const clock = createManualClock();
    const transcripts = createAgentTranscripts({ world: { ...nodeWorld, clock }, folder });
    const writers = ["a1", "a2"].map((id) => transcripts.create(meta(id)));
    for (const writer of writers) await writer.durable();
    expect(namesIn("subagents")).toEqual(["journal-1.jsonl"]);
    await clock.advance(1_000);
    await expect.poll(() => namesIn("subagents")).toContain("agent-a2.meta.json");
    await transcripts.close();
  });

  it("keep what was appended when the disk was full, and lose nothing when there is space again", async () => {
    const files = createFaultyFiles(nodeWorld.files, [
      { operation: "write", at: 2, code: "ENOSPC", times: Number.POSITIVE_INFINITY, tornBytes: 7 },
    ]);
    const transcripts = open({ files });
    const writer = transcripts.create(meta("a1"));
    await writer.durable();
    writer.append(message("1"));
    await expect(writer.durable()).rejects.toMatchObject({ code: "journal-unwritable" });
    files.heal();
    writer.append(message("2"));
    await writer.durable();
    await transcripts.close();
    expect(await uuidsAfter("a1")).toEqual(["1", "2"]);
  });
});

describe("a crash of process or machine at any operation", () => {
  const stride = runs({ sample: 5, full: 1 });

  /** Three agents at once, one that is resumed, a journal that is exchanged: what was acknowledged by then. */
  async function play(files: FileSystem): Promise<Map<string, string[]>> {
    const acknowledged = new Map<string, string[]>();
    const say = async (writer: ReturnType<AgentTranscripts["create"]>, id: string, uuid: string) => {
      writer.append(message(uuid));
      await writer.durable();
      acknowledged.set(id, [...(acknowledged.get(id) ?? []), uuid]);
    };
    const transcripts = open({ files, maxBytes: 3_000 });
    const life = async (id: string) => {
      const writer = transcripts.create(meta(id));
      writer.append(prefix(id === "a3" ? "three" : "be good"));
      for (let index = 0; index < 6; index++) await say(writer, id, `${id}-${index}`);
      await writer.close();
      if (id !== "a2") return;
      const again = await transcripts.reopen(id);
      for (let index = 6; index < 9; index++) await say(again.writer, id, `${id}-${index}`);
    };
    const lives = await Promise.allSettled(["a1", "a2", "a3"].map(life));
    await transcripts.close().catch(() => {});
    for (const ended of lives)
      if (ended.status === "rejected" && !/EIO/.test(String(ended.reason))) throw ended.reason as Error;
    return acknowledged;
  }

  async function expectAllThere(acknowledged: Map<string, string[]>): Promise<void> {
    const transcripts = open();
    for (const [id, uuids] of acknowledged) {
      const { loaded } = await transcripts.reopen(id);
      const found = uuidsOf(loaded.messages);
      expect(found.slice(0, uuids.length), id).toEqual(uuids);
      expect(new Set(found).size, `${id} has nothing twice`).toBe(found.length);
      expect(loaded.prefix?.system).toBe(id === "a3" ? "three" : "be good");
    }
    await transcripts.close();
  }

  for (const kind of ["process", "machine"] as const)
    it(`of the ${kind} loses nothing that was acknowledged`, { timeout: 120_000 }, async () => {
      let crashes = 0;
      for (let diesAt = 1; ; diesAt += stride) {
        await nodeWorld.files.remove(join(folder, ".."), { recursive: true, force: true });
        const files = createVolatileFiles(nodeWorld.files, { diesAt });
        const acknowledged = await play(files);
        if (kind === "machine") await files.losePower();
        await expectAllThere(acknowledged);
        if (!files.isDead) break;
        crashes++;
      }
      expect(crashes * stride).toBeGreaterThan(40);
    });

  it("while files are made from a journal loses nothing either", async () => {
    for (let diesAt = 1; ; diesAt += 1) {
      await nodeWorld.files.remove(join(folder, ".."), { recursive: true, force: true });
      const transcripts = open();
      const writers = ["a1", "a2"].map((id) => transcripts.create(meta(id)));
      for (const writer of writers) {
        writer.append(prefix("be good"));
        writer.append(message("1"));
        await writer.durable();
      }
      const files = createVolatileFiles(nodeWorld.files, { diesAt });
      await open({ files })
        .list()
        .catch(() => {});
      await files.losePower();
      await expectAllThere(new Map(["a1", "a2"].map((id) => [id, ["1"]])));
      if (!files.isDead) break;
    }
  });

  it("while what an earlier crash left is put right loses nothing either", async () => {
    for (let diesAt = 1; ; diesAt += stride) {
      await nodeWorld.files.remove(join(folder, ".."), { recursive: true, force: true });
      const acknowledged = await play(createVolatileFiles(nodeWorld.files, { diesAt: 60 }));
      const files = createVolatileFiles(nodeWorld.files, { diesAt });
      await open({ files })
        .list()
        .catch(() => {});
      await files.losePower();
      await expectAllThere(acknowledged);
      if (!files.isDead) break;
    }
  });
});
