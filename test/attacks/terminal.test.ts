/**
 * Rows 66 and 67: nothing but text reaches a terminal. Whatever model, tool, file name, rule, agent or error
 * says, no escape sequence, no bell, no control of direction and no invisible letter comes out.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CadreError } from "../../src/base/errors.ts";
import { createNodeClock } from "../../src/base/world/node-clock.ts";
import type { PermissionRequest } from "../../src/contracts/permission.ts";
import { createReporter } from "../../src/surfaces/headless/reporter.ts";
import { runHeadless } from "../../src/surfaces/headless/run-headless.ts";
import { createSink } from "../../src/surfaces/headless/sink.ts";
import { runPlain } from "../../src/surfaces/plain/run-plain.ts";
import { createScriptedAgent } from "../../src/testing/scripted-agent.ts";
import { answerEvents, createScriptedSession, type ScriptedRun } from "../../src/testing/scripted-session.ts";

/** What a terminal obeys, hides or reorders. Line feed and tab are text. */
const forbidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u;

/** Each says "PWNED" in its own way: title, clipboard, link, colour, cursor, C1, bell, bidi, tags. */
const attacks = [
  "\u001b]0;PWNED\u0007",
  "\u001b]52;c;UFdORUQ=\u0007",
  "\u001b]8;;https://evil.example\u001b\\PWNED\u001b]8;;\u001b\\",
  "\u001b[2J\u001b[HPWNED",
  "\u009b31mPWNED",
  "\u009d0;PWNED\u009c",
  "\u0090PWNED\u009c",
  "PWNED\r\u001b[KAllow Bash: ls?",
  "PW\b\bNED",
  "\u202eDENWP\u202c",
  "\u2066PWNED\u2069",
  "PWNED\u{e0050}\u{e0057}\u{e004e}",
  "P\u200bW\u2060N\ufeffED",
];
const everything = attacks.join(" ");

const anyText = fc
  .array(fc.oneof(fc.constantFrom(...attacks), fc.string({ unit: "binary" })), { maxLength: 6 })
  .map((parts) => parts.join(""));

function capture(isTTY: boolean) {
  const pieces: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk.toString());
      done();
    },
  });
  return { sink: createSink(Object.assign(stream, { isTTY })), text: () => pieces.join("") };
}

/** A run in which everything that can say something says `text`. */
const speaking = (text: string): ScriptedRun =>
  async function* () {
    const call = { type: "tool_use" as const, id: "t", name: `Bash${text}`, input: { command: text } };
    const result = { type: "tool_result" as const, tool_use_id: "t", content: text };
    yield { type: "call-start", call: { ...call, name: "Bash" } };
    yield { type: "call-end", call, result: { ...result, is_error: true }, durationMs: 1 };
    yield { type: "call-denied", call, reason: text };
    yield { type: "model-retry", attempt: 1, delayMs: 1, reason: text };
    yield { type: "response-discard", reason: text };
    const agent = createScriptedAgent("a", { type: text, description: text });
    yield agent.start;
    yield agent.event({ type: "call-denied", call, reason: text });
    yield agent.end();
    yield agent.callEnd(text, { isError: true });
    yield* answerEvents(text);
    return { text, end: { reason: "aborted", during: "tools", why: text } };
  };

async function headless(text: string, terminals: { stdout: boolean; stderr: boolean }, failing = false) {
  const stdout = capture(terminals.stdout);
  const stderr = capture(terminals.stderr);
  await runHeadless({
    async open() {
      if (failing) throw new CadreError({ code: "settings-invalid", message: text });
      return createScriptedSession(speaking(text));
    },
    prompt: text,
    reporter: createReporter({
      format: "text",
      stdout: stdout.sink,
      stderr: stderr.sink,
      verbose: true,
      context: { sessionId: "s", uuid: () => "u", now: () => 0, includePartialMessages: false },
      clock: createNodeClock(),
      version: "1",
      apiKeySource: () => "none",
    }),
    interruption: { signal: new AbortController().signal, exitCode: () => 130 },
    wantsStructuredOutput: false,
    patience: { noWait: false, clock: createNodeClock(), timeLimit: () => undefined },
  });
  return { stdout: stdout.text(), stderr: stderr.text() };
}

/** A conversation in which everything, also the question for permission, says `text`. */
async function conversation(text: string): Promise<string> {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  let wake = () => {};
  output.on("data", (piece: Buffer) => {
    shown += piece.toString();
    wake();
  });
  const request: PermissionRequest = {
    toolName: `Bash${text}`,
    toolUseId: "t",
    input: { command: text, file_path: text },
    reason: text,
    suggestions: [`Bash(${text})`],
    agent: { id: text, name: text, type: text },
  };
  const run = runPlain({
    async open() {
      const session = createScriptedSession(
        async function* (options) {
          const verdict = session.ask(request);
          const written = session.ask({ ...request, input: { file_path: text, content: text } });
          const other = session.ask({ ...request, input: { [text]: text } });
          await Promise.all([verdict, written, other]);
          return yield* speaking(text)(options);
        },
        { transcriptPath: text },
      );
      return Object.assign(session, { modelId: text, cwd: text });
    },
    firstPrompt: "go",
    input,
    output,
    terminal: false,
    interruption: { signal: new AbortController().signal, exitCode: () => 130 },
    clock: createNodeClock(),
    version: "1",
  });
  let seen = 0;
  for (let count = 0; count < 3; count++) {
    for (;;) {
      const at = shown.indexOf("(or say why)", seen);
      if (at >= 0) {
        seen = at + 1;
        break;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    input.write("n\n");
  }
  input.end();
  await run;
  return shown;
}

describe("rows 66 and 67: a terminal", () => {
  it("as standard output and error gets text only", async () => {
    const shown = await headless(everything, { stdout: true, stderr: true });
    expect(shown.stdout + shown.stderr).not.toMatch(forbidden);
    expect(shown.stdout).toContain("PWNED");
    expect(shown.stderr).toContain("PWNED");
  });

  it("as standard error gets text only, while a pipe gets the answer as it is", async () => {
    const shown = await headless(everything, { stdout: false, stderr: true });
    expect(shown.stdout).toBe(`${everything}\n`);
    expect(shown.stderr).not.toMatch(forbidden);
  });

  it("gets text only from errors", async () => {
    const shown = await headless(everything, { stdout: false, stderr: true }, true);
    expect(shown.stderr).toContain("PWNED");
    expect(shown.stderr).not.toMatch(forbidden);
  });

  it("gets text only in a conversation: answer, calls, errors, names and the question for permission", async () => {
    const shown = await conversation(everything);
    expect(shown).toContain("PWNED");
    expect(shown).not.toMatch(forbidden);
  });

  it("shows what is hidden instead of dropping it, so that a rule or a path is seen for what it is", async () => {
    const shown = await conversation("a\u202eb\u{e0041}\u001b[31m");
    expect(shown).toContain("a<U+202E>b<U+E0041>^[[31m");
  });

  it("gets text only, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const { stdout, stderr } = await headless(text, { stdout: true, stderr: true });
        expect(stdout + stderr).not.toMatch(forbidden);
      }),
      { numRuns: 100 },
    );
  });

  it("is written to by nothing but the sinks and the console", () => {
    const root = fileURLToPath(new URL("../../src", import.meta.url));
    const writers = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .filter((path) =>
        /process\.(stdout|stderr)\.write\(|\bconsole\.(log|error|warn|info|debug|table)\(/.test(
          readFileSync(join(root, path), "utf8"),
        ),
      );
    // The version is ours.
    expect(writers).toEqual([join("cli", "main.ts")]);
  });
});
