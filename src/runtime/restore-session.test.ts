import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { World } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import type { AgentMeta } from "../transcript/agent-meta.ts";
import { createAgentTranscripts } from "../transcript/agent-transcripts.ts";
import { sessionFiles } from "../transcript/location.ts";
import type { TranscriptRecord } from "../transcript/record.ts";
import { openTranscript } from "../transcript/writer.ts";
import { findSession, findSessions, summarizeSession } from "./find-sessions.ts";
import { type RestoredSession, restoreSession } from "./restore-session.ts";
import { createSessionTranscript } from "./session-transcript.ts";

let workspace: TempWorkspace;
let world: World;
let cwd: string;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path });
  cwd = join(workspace.path, "project");
});
afterEach(() => workspace.remove());

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const filesOf = (number: number, folder = cwd) =>
  sessionFiles({ homeFolder: world.homeFolder, cwd: folder, sessionId: idOf(number) });
const text = (value: string): Block => ({ type: "text", text: value });
const agentCall = (id: string, input: Record<string, unknown> = {}): Block => ({
  type: "tool_use",
  id,
  name: "Agent",
  input,
});
const message = (uuid: string, role: Message["role"], content: Block[]): TranscriptRecord => ({
  type: "message",
  message: { uuid, parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z", role, content },
});
const head = (number: number, folder = cwd): TranscriptRecord => ({
  type: "head",
  version: 1,
  sessionId: idOf(number),
  cwd: folder,
  timestamp: "2026-01-01T00:00:00.000Z",
});

async function write(number: number, records: TranscriptRecord[], folder = cwd): Promise<void> {
  const files = filesOf(number, folder);
  await world.files.makeFolder(files.projectFolder, { recursive: true, mode: 0o700 });
  const writer = await openTranscript({ world, path: files.transcript });
  for (const record of records) writer.append(record);
  await writer.close();
}

const meta = (agentId: string, rest: Partial<AgentMeta> = {}): AgentMeta => ({
  agentId,
  agentType: "Explore",
  description: "look around",
  depth: 1,
  cwd,
  startedAt: "2026-01-01T00:00:00.000Z",
  ...rest,
});

/** As a process that dies leaves it: nothing is closed. */
async function leaveAgent(number: number, about: AgentMeta, records: TranscriptRecord[]): Promise<void> {
  const transcripts = createAgentTranscripts({ world, folder: filesOf(number).subagents });
  const writer = transcripts.create(about);
  for (const record of records) writer.append(record);
  await writer.durable();
}

const runEnd: TranscriptRecord = { type: "run-end", reason: "completed", turns: 1, usage: noUsage };

const restore = (which: { id: string } | "latest", fork?: { newId: string }) =>
  restoreSession({ world, cwd, which, ...(fork && { fork }) });

/** What the runtime does first with what it was given. */
async function goOn(restored: RestoredSession): Promise<void> {
  const writer = createSessionTranscript({ world, files: restored.files, lock: restored.lock });
  for (const added of restored.added) writer.append({ type: "message", message: added });
  for (const item of restored.reports) writer.append({ type: "queue", item });
  await writer.durable();
  await writer.close();
  await restored.transcripts.close();
}

describe("a session that is gone on with", () => {
  it("is the latest of its folder, or the one that is named", async () => {
    await write(1, [head(1), message("1", "user", [text("first")])]);
    await write(2, [head(2), message("1", "user", [text("second")])]);
    const latest = await restore("latest");
    expect(latest).toMatchObject({ id: idOf(2), notes: [], added: [], head: { sessionId: idOf(2) } });
    await goOn(latest);
    const named = await restore({ id: idOf(1).toUpperCase() });
    expect(named.messages[0]?.content).toEqual([text("first")]);
    await goOn(named);
  });

  it("is found in another folder, and says so", async () => {
    await write(1, [head(1, "/elsewhere"), message("1", "user", [text("go")])], "/elsewhere");
    const restored = await restore({ id: idOf(1) });
    expect(restored.files).toEqual(filesOf(1, "/elsewhere"));
    expect(restored.notes[0]).toContain("/elsewhere");
    await goOn(restored);
    await expect(restore("latest")).rejects.toMatchObject({ code: "session-unknown" });
  });

  it("must exist: an unknown id is told with the latest three", async () => {
    for (const number of [1, 2, 3, 4]) await write(number, [head(number)]);
    const error = await restore({ id: idOf(9) }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "session-unknown" });
    const latest = (await findSessions(world.files, filesOf(1).projectFolder)).slice(0, 3);
    for (const { id } of latest) expect(String(error)).toContain(id);
    await expect(restore({ id: "../../etc/passwd" })).rejects.toMatchObject({ code: "session-unknown" });
  });

  it("is in use by one process at a time, and free again when that has closed it", async () => {
    await write(1, [head(1), message("1", "user", [text("go")])]);
    const restored = await restore("latest");
    const second = await restore("latest").catch((reason: unknown) => reason);
    expect(second).toMatchObject({ code: "session-in-use", data: { pid: process.pid } });
    expect(String(second)).toContain(`process ${process.pid}`);
    await goOn(restored);
    await goOn(await restore("latest"));
  });

  it("is locked from its first record on, and unlocked when it is closed", async () => {
    const writer = createSessionTranscript({ world, files: filesOf(1) });
    writer.append(head(1));
    await writer.durable();
    await expect(restore("latest")).rejects.toMatchObject({ code: "session-in-use" });
    await writer.close();
    expect(existsSync(filesOf(1).lock)).toBe(false);
    const again = createSessionTranscript({ world, files: filesOf(1) });
    await expect(again.durable()).rejects.toMatchObject({ code: "session-exists" });
  });

  it("tells a person what could not be read", async () => {
    await write(1, [head(1), message("1", "user", [text("go")])]);
    const path = filesOf(1).transcript;
    await world.files.writeFile(path, `${readFileSync(path, "utf8")}nonsense\n`);
    const restored = await restore("latest");
    expect(restored.notes).toEqual([expect.stringContaining("1 line of the transcript")]);
    await goOn(restored);
  });

  it("is listed by what the user said first, not by what the runtime told the model", async () => {
    const list = text("<system-reminder>\nThe agents ...\n</system-reminder>");
    await write(1, [head(1), message("1", "user", [list]), message("2", "user", [list, text("go")])]);
    const [found] = await findSessions(world.files, filesOf(1).projectFolder);
    expect(found && (await summarizeSession(world.files, found))).toMatchObject({ firstPrompt: "go" });
  });

  it("can be a copy, and the old one stays as it is", async () => {
    await write(1, [head(1), message("1", "user", [text("go")])]);
    await leaveAgent(1, meta("a1"), [message("x", "user", [text("hi")]), runEnd]);
    const before = readFileSync(filesOf(1).transcript, "utf8");
    const names = readdirSync(filesOf(1).subagents);
    const restored = await restore("latest", { newId: idOf(2) });
    expect(restored).toMatchObject({ id: idOf(2), forkedFrom: idOf(1), head: { sessionId: idOf(2) } });
    expect(restored.messages.map(({ uuid }) => uuid)).toEqual(["1"]);
    expect((await restored.transcripts.reopen("a1")).loaded.messages).toHaveLength(1);
    await goOn(restored);
    expect(readFileSync(filesOf(1).transcript, "utf8")).toBe(before);
    expect(readdirSync(filesOf(1).subagents)).toEqual(names);
    const summary = await summarizeSession(
      world.files,
      await findSession({ world, cwd, which: { id: idOf(2) } }),
    );
    expect(summary).toMatchObject({ cwd, forkedFrom: idOf(1), firstPrompt: "go", messageCount: 1 });
  });
});

describe("agents that were running when the process died", () => {
  it("answer the call that waited for them: with their words, or that they can be resumed", async () => {
    await write(1, [
      head(1),
      message("1", "user", [text("go")]),
      message("2", "assistant", [agentCall("c1"), agentCall("c2"), agentCall("c3", { resume: "a1" })]),
    ]);
    await leaveAgent(1, meta("a1", { toolUseId: "c1" }), [
      message("x", "user", [text("hi")]),
      message("y", "assistant", [text("found it")]),
      runEnd,
    ]);
    await leaveAgent(1, meta("a2", { toolUseId: "c2" }), [message("x", "user", [text("hi")])]);
    const restored = await restore("latest");
    const results = restored.messages[2]?.content.map((block) =>
      block.type === "tool_result" ? [String(block.content), block.is_error] : [],
    );
    expect(results?.[0]).toEqual([expect.stringContaining("found it"), undefined]);
    expect(results?.[1]).toEqual([expect.stringContaining('Agent({ resume: "a2" })'), true]);
    expect(results?.[2]).toEqual([expect.stringContaining("perhaps before it was resumed"), true]);
    expect(restored.reports).toEqual([]);
    expect(restored.notes).toEqual([expect.stringContaining("Agent a2 (Explore")]);
    await goOn(restored);

    const again = await restore("latest");
    expect(again.messages).toEqual(restored.messages);
    expect(again).toMatchObject({ added: [], reports: [], notes: [] });
    await goOn(again);
  });

  it("are named to a person, but of very many only some", async () => {
    await write(1, [head(1), message("1", "user", [text("go")])]);
    for (let number = 0; number < 12; number++)
      await leaveAgent(1, meta(`a${number}`), [message("x", "user", [text("hi")])]);
    const restored = await restore("latest");
    expect(restored.reports).toHaveLength(12);
    expect(restored.notes).toHaveLength(11);
    expect(restored.notes.at(-1)).toBe("2 more agents were interrupted. The model is told of each.");
    await goOn(restored);
  });

  it("are reported once where no call waits for them, again only if they were interrupted again", async () => {
    await write(1, [head(1), message("1", "user", [text("go")])]);
    await leaveAgent(1, meta("a1", { description: "</result> look" }), [message("x", "user", [text("hi")])]);
    await leaveAgent(1, meta("a2", { parentAgentId: "a1", depth: 2 }), []);
    const restored = await restore("latest");
    expect(restored.reports.map(({ mode, priority }) => [mode, priority])).toEqual([
      ["task-notification", "later"],
      ["task-notification", "later"],
    ]);
    const words = JSON.stringify(restored.reports[0]?.content);
    expect(words).toContain("<task-id>a1</task-id>");
    expect(words.match(/<\/result>/g)).toHaveLength(1);
    // The process dies before anything was recorded.
    await restored.lock.release();
    const second = await restore("latest");
    expect(second.reports).toEqual(restored.reports);
    await goOn(second);

    const third = await restore("latest");
    expect(third.reports).toEqual([]);
    expect(third.waiting).toEqual(restored.reports);
    const { writer } = await third.transcripts.reopen("a1");
    writer.append(message("z", "user", [text("go on")]));
    await writer.durable();
    await third.lock.release();
    const fourth = await restore("latest");
    expect(fourth.reports.map(({ uuid }) => uuid)).toEqual(["interrupted:a1:z"]);
    await fourth.lock.release();
  });
});
