import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { sessionFiles } from "../transcript/location.ts";
import { openTranscript } from "../transcript/writer.ts";
import { chooseSession } from "./choose-session.ts";

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

const sessionId = "00000000-0000-4000-8000-000000000001";

async function choose(typed: string) {
  const world = createTestWorld({ homeFolder: workspace.path });
  const cwd = join(workspace.path, "project");
  const files = sessionFiles({ homeFolder: world.homeFolder, cwd, sessionId });
  await world.files.makeFolder(files.projectFolder, { recursive: true, mode: 0o700 });
  const writer = await openTranscript({ world, path: files.transcript });
  const content = [{ type: "text" as const, text: "map this" }];
  writer.append({
    type: "message",
    message: { uuid: "1", parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z", role: "user", content },
  });
  await writer.close();
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  output.on("data", (piece: Buffer) => {
    shown += piece.toString();
    // Each line is typed as an answer to a question, as a person would.
    if (shown.endsWith("Which one? [1] ")) input.write(lines.shift() ?? "1\n");
  });
  const lines = typed.split(/(?<=\n)/);
  // Only what the function uses of a terminal.
  const terminal = <T extends object>(stream: T) => Object.assign(stream, { isTTY: true }) as never;
  const id = await chooseSession({ world, cwd, input: terminal(input), output: terminal(output) });
  return { id, shown };
}

describe("chooseSession", () => {
  it("shows when a session was used, how long it is and how it began", async () => {
    const { id, shown } = await choose("1\n");
    expect(id).toBe(sessionId);
    expect(shown).toMatch(/^ {2}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {6}1 messages {2}map this\n/);
  });

  it("asks again after an answer that is none of them", async () => {
    const { id, shown } = await choose("x\n7\n0\n\n");
    expect(id).toBe(sessionId);
    expect(shown.match(/A number from 1 to 1, or Ctrl\+C to leave/g)).toHaveLength(3);
  });
});
