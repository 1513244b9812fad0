import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { ChildProcess } from "../world.ts";
import { createNodeProcesses } from "./node-processes.ts";

const processes = createNodeProcesses();
const env = { PATH: process.env.PATH };

const shell = (script: string, options: { input?: string | "pipe"; ownGroup?: boolean } = {}) =>
  processes.spawn("sh", ["-c", script], { cwd: "/", env, ...options });

async function text(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function firstLine(child: ChildProcess): Promise<string> {
  let seen = "";
  for await (const chunk of child.stdout) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes("\n")) break;
  }
  return seen.split("\n")[0] ?? "";
}

async function untilGone(pid: number): Promise<void> {
  while ((await processes.identityOf(pid)) !== undefined)
    await new Promise((resolve) => setImmediate(resolve));
}

describe("spawn", () => {
  it("gives output, errors and the exit code", async () => {
    const child = shell("echo out; echo err >&2; exit 3");
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect([out, err, await child.exited]).toEqual(["out\n", "err\n", { code: 3, signal: null }]);
  });

  it("keeps what was written for those who read after the end", async () => {
    const child = shell("echo late; exit 0");
    await child.exited;
    expect(await text(child.stdout)).toBe("late\n");
  });

  it("passes on exactly the environment it was given", async () => {
    const child = processes.spawn("env", [], { cwd: "/", env: { ...env, A: "1", B: undefined } });
    const names = (await text(child.stdout))
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names.sort()).toEqual(["A", "PATH"]);
  });

  it("feeds text, then the end of the input; without input there is none", async () => {
    expect(await text(shell("cat", { input: "é\n" }).stdout)).toBe("é\n");
    expect(await text(shell("cat; echo end").stdout)).toBe("end\n");
  });

  it("feeds what is written to it until the input is closed", async () => {
    const child = shell("cat", { input: "pipe" });
    await child.write("one ");
    await child.write(Buffer.from("two"));
    child.closeInput();
    expect(await text(child.stdout)).toBe("one two");
  });

  it("survives a child that does not read its input", async () => {
    const child = shell("exec 0<&-; exit 0", { input: "x".repeat(1_000_000) });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    const piped = shell("exit 0", { input: "pipe" });
    await piped.exited;
    await expect(piped.write("x".repeat(1_000_000))).rejects.toThrow();
  });

  it("reports a missing program and a missing folder, each by its name", async () => {
    const noProgram = processes.spawn("/no/such/program", [], { cwd: "/", env });
    await expect(noProgram.exited).rejects.toMatchObject({
      code: "ENOENT",
      message: expect.stringContaining("/no/such/program was not found") as string,
    });
    expect([await text(noProgram.stdout), noProgram.pid]).toEqual(["", undefined]);
    const noFolder = processes.spawn("sh", [], { cwd: "/no/such/folder", env });
    await expect(noFolder.exited).rejects.toThrow("The folder /no/such/folder");
  });

  it("reports arguments that the system cannot take, without throwing", async () => {
    const child = processes.spawn("echo", ["a\0b"], { cwd: "/", env });
    await expect(child.exited).rejects.toThrow();
    const long = processes.spawn("echo", ["x".repeat(4_000_000)], { cwd: "/", env });
    await expect(long.exited).rejects.toMatchObject({ code: "E2BIG" });
    long.kill("SIGKILL");
  });

  it("does not fail the program when nobody looks at a failed start", async () => {
    processes.spawn("/no/such/program", [], { cwd: "/", env });
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("kills everything the process has started", async () => {
    const child = shell("sleep 1000 & echo $!; wait");
    const grandchild = Number(await firstLine(child));
    expect(processes.isAlive(grandchild)).toBe(true);
    child.kill("SIGKILL");
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    await untilGone(grandchild);
  });

  it("still reaches what a process has left behind after its own end", async () => {
    const child = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
    const grandchild = Number(await firstLine(child));
    await child.exited;
    child.kill("SIGKILL");
    await untilGone(grandchild);
    child.kill("SIGKILL");
  });

  it("knows whether anybody is left of a group", async () => {
    const child = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
    const grandchild = Number(await firstLine(child));
    await child.exited;
    expect(child.isAlive()).toBe(true);
    child.kill("SIGKILL");
    await untilGone(grandchild);
    await expect.poll(() => child.isAlive(), { timeout: 10_000 }).toBe(false);
    expect(processes.spawn("/no/such/program", [], { cwd: "/", env }).isAlive()).toBe(false);
  });

  it("leaves alone what is to outlive it, and does not stay for it", async () => {
    const source = fileURLToPath(new URL("./node-processes.ts", import.meta.url));
    const { outputFiles } = await build({
      stdin: {
        contents: `import { createNodeProcesses } from ${JSON.stringify(source)};
          const start = (outlives) => createNodeProcesses().spawn("sh", ["-c", "read -r _; exec sleep 1000"],
            { cwd: "/", env: { PATH: process.env.PATH }, input: "pipe", outlives });
          const [stays, goes] = [start(true), start(false)];
          console.log(stays.pid, goes.pid);
          goes.closeInput();
          process.argv.includes("exit") && process.exit();
          goes.kill("SIGKILL");`,
        resolveDir: "/",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      write: false,
    });
    for (const mode of ["exit", "end"]) {
      const owner = processes.spawn(process.execPath, ["--input-type=module", "-", mode], {
        cwd: "/",
        env,
        input: outputFiles[0]?.text ?? "",
      });
      const [stays = 0, goes = 0] = (await text(owner.stdout)).trim().split(" ").map(Number);
      expect(await owner.exited).toEqual({ code: 0, signal: null });
      await untilGone(goes);
      expect(processes.isAlive(stays)).toBe(true);
      process.kill(stays, "SIGKILL");
      await untilGone(stays);
    }
  });

  it("does not wait for a grandchild that keeps the pipes, silent or talking", async () => {
    for (const script of [
      "sleep 1000 & echo started",
      "(while sleep 0.05; do echo x; done) & echo started",
    ]) {
      const child = shell(script);
      const out = text(child.stdout);
      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect((await out).startsWith("started\n")).toBe(true);
      child.kill("SIGKILL");
    }
  });

  it("delivers large output whole to a reader who takes his time after the process has ended", async () => {
    const clock = createManualClock();
    const child = createNodeProcesses(clock).spawn("head", ["-c", "3000000", "/dev/zero"], { cwd: "/", env });
    let bytes = 0;
    for await (const chunk of child.stdout) {
      bytes += chunk.length;
      await clock.advance(10_000);
    }
    expect(bytes).toBe(3_000_000);
  });

  it("does not hang on an output that nobody reads, and never hides that some of it is missing", async () => {
    const child = shell("head -c 3000000 /dev/zero >&2; echo done");
    expect(await text(child.stdout)).toBe("done\n");
    await child.exited;
    await expect(text(child.stderr)).rejects.toThrow("dropped");
  });

  it("lets the process go on when its reader leaves", async () => {
    const child = shell("yes | head -c 3000000; echo end >&2");
    for await (const _ of child.stdout) break;
    expect(await text(child.stderr)).toBe("end\n");
    expect((await child.exited).code).toBe(0);
  });
});

describe("telling processes apart", () => {
  it("knows who is alive", async () => {
    expect(processes.isAlive(process.pid)).toBe(true);
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 22 + 1]) expect(processes.isAlive(pid)).toBe(false);
    const child = shell("exit 0");
    await child.exited;
    expect(await processes.identityOf(child.pid ?? 0)).toBeUndefined();
  });

  it("gives one process one identity and two processes two", async () => {
    const child = shell("sleep 1000");
    const mine = await processes.identityOf(process.pid);
    expect(mine).toBe(await processes.identityOf(process.pid));
    expect(await processes.identityOf(child.pid ?? 0)).not.toBe(mine);
    child.kill("SIGKILL");
    await child.exited;
  });
});
