/** The command as people and scripts meet it: a real process, a real bundle, a provider on loopback. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type MockAnswer, type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { type BuiltCommand, buildCommand } from "../crash/built-command.ts";

const key = "sk-test-0123456789-secret";

let command: BuiltCommand;

let home: string;
let project: string;
let provider: MockProvider | undefined;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  command = await buildCommand();
});
afterAll(() => command.remove());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cadre-home-"));
  project = mkdtempSync(join(tmpdir(), "cadre-project-"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await provider?.close();
  provider = undefined;
  for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
});

async function connect(
  answer: MockAnswer | Parameters<typeof startMockProvider>[0]["answer"],
): Promise<Record<string, string>> {
  provider = await startMockProvider({ answer: typeof answer === "function" ? answer : () => answer });
  return { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: key };
}

interface Invocation {
  readonly env?: Record<string, string>;
  /** Absent: no input at all. */
  readonly input?: string;
}

function start(args: readonly string[], options: Invocation = {}) {
  const child = spawn(process.execPath, [command.program, ...args], {
    cwd: project,
    env: { HOME: home, PATH: process.env.PATH, ...options.env },
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  children.add(child);
  child.stdin?.end(options.input);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
  });
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended };
}

const cadre = (args: readonly string[], options?: Invocation) => start(args, options).ended;
const objects = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const promptSent = () => JSON.stringify(provider?.requests[0]?.body.messages?.[0]);

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Every transcript below the home folder. */
function transcripts(): string[] {
  return readdirSync(home, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));
}

describe("cadre", () => {
  it.each(["--version", "-v"])("%s prints the version and nothing else", async (flag) => {
    expect(await cadre([flag])).toEqual({ code: 0, stdout: "1.2.3 (Cadre)\n", stderr: "" });
  });

  it("shows its help, also of a command, without anything set up", async () => {
    const help = await cadre(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Exit codes:");
    expect((await cadre(["help"])).stdout).toBe(help.stdout);
    expect((await cadre(["help", "doctor"])).stdout).toBe((await cadre(["doctor", "--help"])).stdout);
    expect(await cadre(["help", "nothing"])).toMatchObject({ code: 2, stdout: "" });
  });

  it.each([
    [["--frobnicate"], "unknown option --frobnicate"],
    [["-p", "--modle", "x", "hi"], "did you mean --model?"],
    [["-p", "--max-turns", "none", "hi"], "--max-turns"],
    [["-p"], "no prompt"],
    [["-p", "two", "prompts"], "quotes"],
    [["-p", "--cwd", "/does/not/exist", "hi"], "/does/not/exist does not exist"],
    [["-p", "--add-dir", "/etc/hostname", "hi"], "--add-dir"],
    [["-p", "--session-id", "7", "hi"], "UUID"],
    [["-p", "--prompt-file", "none.txt"], "none.txt"],
    [["-p", "--json-schema", "{broken", "hi"], "--json-schema is not valid JSON"],
    [["-p", "--include-partial-messages", "hi"], "stream-json"],
    [["-p", "--input-format", "stream-json", "hi"], "--output-format stream-json"],
    [["doctor", "now"], "takes no argument"],
  ])("refuses %j with one clear line and exit code 2", async (args, complaint) => {
    const { code, stdout, stderr } = await cadre(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const [line, hint, rest] = stderr.split("\n");
    expect(line).toMatch(/^cadre: /);
    expect(line).toContain(complaint);
    expect(hint).toBe(args[0] === "doctor" ? 'Try "cadre doctor --help".' : 'Try "cadre --help".');
    expect(rest).toBe("");
  });

  it("warns of agents on the command line that it leaves out, and goes on with the others", async () => {
    const agents = { good: { description: "d", prompt: "p" }, bad: { prompt: "p" }, odd: 5 };
    const { code, stderr } = await cadre(["-p", "--agents", JSON.stringify(agents), "hello"]);
    expect(code).toBe(0);
    expect(stderr.trim().split("\n")).toEqual([
      expect.stringMatching(/^cadre: warning: --agents: agents\.bad: .*`description`.*; it is left out$/),
      expect.stringMatching(/^cadre: warning: --agents: agents\.odd: .*; it is left out$/),
    ]);
  });

  it("answers without a key, keeps a transcript, and says nothing on standard error", async () => {
    const { code, stdout, stderr } = await cadre(["-p", "hello"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("offline model");
    expect(transcripts()).toHaveLength(1);
  });

  it("treats a prompt without -p as one-shot when there is no terminal", async () => {
    expect((await cadre(["hello"])).stdout).toContain("offline model");
  });

  it("keeps no transcript when told so", async () => {
    expect((await cadre(["-p", "hello", "--no-session-persistence"])).code).toBe(0);
    expect(transcripts()).toEqual([]);
  });
});

describe("the prompt", () => {
  it("is the argument, then what was piped in", async () => {
    const env = await connect([{ type: "text", text: "ok" }]);
    const { stdout } = await cadre(["-p", "review this:"], { env, input: "+ line\n\n" });
    expect(stdout).toBe("ok\n");
    expect(promptSent()).toContain("review this:\\n\\n+ line");
  });

  it("can come from standard input alone, or from a file", async () => {
    const env = await connect([{ type: "text", text: "ok" }]);
    await cadre(["-p"], { env, input: "from the pipe, äöü\n" });
    expect(promptSent()).toContain("from the pipe, äöü");
    await provider?.close();
    const again = await connect([{ type: "text", text: "ok" }]);
    writeFileSync(join(project, "prompt.md"), "from the file");
    await cadre(["--prompt-file", "prompt.md"], { env: again });
    expect(promptSent()).toContain("from the file");
  });

  it("may begin with a dash after --", async () => {
    const env = await connect([{ type: "text", text: "ok" }]);
    await cadre(["-p", "--", "--what is this?"], { env });
    expect(promptSent()).toContain("--what is this?");
  });
});

describe("output formats", () => {
  it("json is one result object, with the session that was asked for", async () => {
    const env = await connect([{ type: "text", text: "done" }]);
    const id = "0b0e7a53-2f3c-4d7e-9a5c-111111111111";
    const { code, stdout } = await cadre(["-p", "--output-format", "json", "--session-id", id, "x"], { env });
    expect(code).toBe(0);
    expect(objects(stdout)).toMatchObject([
      { type: "result", subtype: "success", is_error: false, result: "done", session_id: id, num_turns: 1 },
    ]);
    expect(transcripts()[0]).toContain(id);
  });

  it("stream-json tells tools and answers as they happen, pieces included", async () => {
    writeFileSync(join(project, "a.txt"), "the content\n");
    const env = await connect((_request, index) =>
      index === 0
        ? [{ type: "tool_use", name: "Read", input: { file_path: "a.txt" } }]
        : [{ type: "text", text: "read\u2028it" }],
    );
    const args = ["-p", "--output-format=stream-json", "--verbose", "--include-partial-messages", "x"];
    const { code, stdout } = await cadre(args, { env });
    expect(code).toBe(0);
    const frames = objects(stdout);
    const types = frames.map((frame) => frame.type).filter((type) => type !== "stream_event");
    expect(types).toEqual(["system", "assistant", "user", "assistant", "result"]);
    expect(frames.find((frame) => frame.type === "user")).toMatchObject({
      message: { content: [{ type: "tool_result", content: expect.stringContaining("the content") }] },
    });
    expect(frames.at(-1)).toMatchObject({ result: "read\u2028it", num_turns: 2 });
    expect(frames.filter((frame) => frame.type === "stream_event").length).toBeGreaterThan(5);
  });

  it("stream-json in both directions: bad lines are named, good ones run", async () => {
    const env = await connect((_request, index) => [{ type: "text", text: `answer ${index}` }]);
    const input = [
      '{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}',
      '{"type":"user","message":{"role":"user","content":"one"}}',
      "{oops",
      '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"two"}]}}',
    ].join("\n");
    const { code, stdout, stderr } = await cadre(
      ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"],
      { env, input },
    );
    expect(code).toBe(2);
    expect(stderr).toContain("standard input, line 3: not valid JSON");
    const results = objects(stdout).filter((frame) => frame.type === "result");
    expect(results.map((frame) => frame.result ?? frame.is_error)).toEqual(["answer 0", true, "answer 1"]);
    expect(objects(stdout)[0]).toMatchObject({ type: "control_response", response: { request_id: "r1" } });
  });

  it("a large answer is not cut, however slowly it is read", async () => {
    const text = "0123456789abcde\n".repeat(200_000);
    const env = await connect([{ type: "text", text }]);
    const { child, ended } = start(["-p", "x"], { env });
    child.stdout?.pause();
    await new Promise<void>((resolve) => {
      child.stdout?.once("readable", resolve);
    });
    child.stdout?.resume();
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.length).toBe(text.length);
  });

  it("ends quietly when the reader of its output leaves", async () => {
    const { opened: left, open: leave } = createGate();
    let events = 0;
    const env = await connect({
      blocks: Array.from({ length: 20 }, () => ({ type: "text", text: "word" }) as const),
      pace: async () => {
        if (++events > 3) await left;
      },
      // Only the reader's leaving can end this run.
      silentAfter: 40,
    });
    const { child, ended } = start(["-p", "--output-format=stream-json", "--include-partial-messages", "x"], {
      env,
    });
    child.stdout?.once("data", () => child.stdout?.destroy());
    child.stdout?.once("close", leave);
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 141, stderr: "" });
  });

  it("a schema makes the answer an object", async () => {
    const env = await connect((_request, index) =>
      index === 0
        ? [{ type: "tool_use", name: "StructuredOutput", input: { n: 4 } }]
        : [{ type: "text", text: "there" }],
    );
    const schema = '{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}';
    const { code, stdout } = await cadre(["-p", "--output-format=json", "--json-schema", schema, "x"], {
      env,
    });
    expect(code).toBe(0);
    expect(objects(stdout)[0]).toMatchObject({ structured_output: { n: 4 } });
  });
});

describe("what goes wrong", () => {
  it("settings that are not JSON: the file, the place, exit code 2", async () => {
    mkdirSync(join(home, ".cadre"));
    writeFileSync(join(home, ".cadre", "settings.json"), '{\n  "model": "offline"\n  "env": {}\n}');
    const { code, stderr } = await cadre(["-p", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${join(home, ".cadre", "settings.json")} is not valid JSON (line 3, column 3`);
  });

  it("settings with a stray key: a warning, and it runs", async () => {
    const { code, stderr } = await cadre(["-p", "--settings", '{"modle":"x"}', "hi"]);
    expect(code).toBe(0);
    expect(stderr).toBe('cadre: warning: --settings: unknown key "modle" is ignored (misspelt?)\n');
  });

  it("a model without a key: what to export, exit code 3, an object for scripts", async () => {
    const { code, stdout, stderr } = await cadre(["-p", "--model", "sonnet", "--output-format=json", "hi"]);
    expect(code).toBe(3);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(objects(stdout)).toMatchObject([{ type: "result", is_error: true }]);
  });

  it("a key that is refused: exit code 3, and the key is not shown", async () => {
    const body = { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } };
    const env = await connect({ status: 401, body });
    const { code, stdout, stderr } = await cadre(["-p", "--debug", "hi"], { env });
    expect(code).toBe(3);
    expect(stdout + stderr).not.toContain(key);
  });

  it("a provider that is not there: exit code 3", async () => {
    const env = await connect([]);
    await provider?.close();
    const { code, stderr } = await cadre(["-p", "hi"], { env });
    expect(code).toBe(3);
    expect(stderr).toContain("ECONNREFUSED");
  });

  it("a limit of turns: exit code 1", async () => {
    const env = await connect([{ type: "tool_use", name: "Glob", input: { pattern: "*" } }]);
    const { code, stdout } = await cadre(["-p", "--max-turns=2", "--output-format=json", "x"], { env });
    expect(code).toBe(1);
    expect(objects(stdout)[0]).toMatchObject({ subtype: "error_max_turns", is_error: true, num_turns: 2 });
  });

  it.each([
    ["--max-tokens=1", "The token budget of the session is used up"],
    ["--max-minutes=0.005", "The time budget of the session is used up"],
  ])("%s: exit code 1, and which limit it was", async (limit, message) => {
    const env = await connect([{ type: "tool_use", name: "Glob", input: { pattern: "*" } }]);
    const { code, stderr } = await cadre(["-p", limit, "x"], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it("a call that nobody allowed: it is denied and told, the run goes on", async () => {
    const env = await connect((_request, index) =>
      index === 0
        ? [{ type: "tool_use", name: "Bash", input: { command: "touch made" } }]
        : [{ type: "text", text: "could not" }],
    );
    const { code, stdout } = await cadre(["-p", "--output-format=json", "x"], { env });
    expect(code).toBe(0);
    expect(objects(stdout)[0]).toMatchObject({
      result: "could not",
      permission_denials: [{ tool_name: "Bash", tool_input: { command: "touch made" } }],
    });
    expect(existsSync(join(project, "made"))).toBe(false);
  });

  it("a home folder that cannot be written: a clear error, or no transcript when told so", async () => {
    const file = join(home, "not-a-folder");
    writeFileSync(file, "");
    const refused = await cadre(["-p", "hello"], { env: { HOME: file } });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("--no-session-persistence");
    expect(refused.stderr.trimEnd().split("\n")).toHaveLength(1);
    const unkept = await cadre(["-p", "hello", "--no-session-persistence"], { env: { HOME: file } });
    expect(unkept).toMatchObject({ code: 0, stderr: "" });
  });

  it("a machine without git or anything else: it still answers, and doctor says so", async () => {
    const env = { PATH: join(home, "nothing") };
    expect((await cadre(["-p", "hello"], { env })).code).toBe(0);
    const { code, stdout } = await cadre(["doctor"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warn {2}git {7}not found$/m);
  });
});

describe("Ctrl+C", () => {
  it("ends the run with 130 and keeps what was said", async () => {
    const { opened: arrived, open: asked } = createGate();
    const env = await connect(() => {
      asked();
      return { fault: "silence" };
    });
    const { child, ended } = start(["-p", "--output-format=json", "remember me"], { env });
    await arrived;
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(objects(stdout)[0]).toMatchObject({ is_error: true, terminal_reason: "aborted" });
    const [path = ""] = transcripts();
    expect(readFileSync(join(home, path), "utf8")).toContain("remember me");
  });

  it("a termination ends it with 143", async () => {
    const { opened: arrived, open: asked } = createGate();
    const env = await connect(() => {
      asked();
      return { fault: "silence" };
    });
    const { child, ended } = start(["-p", "x"], { env });
    await arrived;
    child.kill("SIGTERM");
    expect((await ended).code).toBe(143);
  });
});

describe("cadre doctor", () => {
  it("says which model would answer, and never shows a key", async () => {
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: "http://user:hidden@127.0.0.1:9/base" };
    const { code, stdout, stderr } = await cadre(["doctor"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ok {4}model {5}claude-\S+ at http:\/\/127\.0\.0\.1:9\/base, the default; key from ANTHROPIC_API_KEY$/m,
    );
    expect(stdout + stderr).not.toMatch(/hidden|sk-test/);
  });

  it("prints JSON, and fails when something needed is missing", async () => {
    const fine = await cadre(["doctor", "--json"]);
    expect(fine.code).toBe(0);
    expect(JSON.parse(fine.stdout)).toMatchObject({ version: "1.2.3", ok: true });
    const search = { name: "search", state: "ok", message: expect.stringContaining("came with Cadre") };
    expect(JSON.parse(fine.stdout).findings).toContainEqual(search);
    const broken = await cadre(["doctor", "--json", "--settings", "{"]);
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false });
    const homeless = await cadre(["doctor"], { env: { HOME: join(home, "gone") } });
    expect(homeless.code).toBe(1);
    expect(homeless.stdout).toMatch(/^fail {2}home {6}/m);
  });
});

describe("--debug", () => {
  it("logs requests and decisions without keys or what was said", async () => {
    const env = await connect((_request, index) =>
      index === 0
        ? [{ type: "tool_use", name: "Bash", input: { command: "touch secret-name" } }]
        : [{ type: "text", text: "no" }],
    );
    const { stdout, stderr } = await cadre(["-p", "--debug", "a private prompt"], { env });
    expect(stdout).toBe("no\n");
    expect(stderr).toMatch(/debug: http POST http:\/\/127\.0\.0\.1:\d+\/v1\/messages: 200 after \d+ ms/);
    expect(stderr).toMatch(/debug: call \S+ Bash denied/);
    expect(stderr).not.toMatch(/sk-test|private prompt/);
  });
});
