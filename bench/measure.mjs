// Runs one program to its end and says what it cost.
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

// CPU time comes from bash's `time`: the kernel's account of the process and the children it waited for, in
// milliseconds. /usr/bin/time shows the same account in steps of 10 ms.
const timed = '{ time "$@" 2>&3 3>&-; } 3>&2 2>"$BENCH_TIME"';

/** Under `env -i`: variables of the user, such as extra certificates, would cost time of their own. */
export function measure({ args, env, cwd, scratch, timeoutS }) {
  const timeFile = join(scratch, "time.txt");
  rmSync(timeFile, { force: true });
  const wrapped = { ...env, TIMEFORMAT: "%3U %3S", LC_ALL: "C", BENCH_TIME: timeFile };
  const pairs = Object.entries(wrapped).map(([name, value]) => `${name}=${value}`);
  const command = ["-i", ...pairs, "bash", "-c", timed, "bash", process.execPath, ...args];
  return new Promise((resolve, reject) => {
    const busyBefore = busyMs();
    const startedAt = performance.timeOrigin + performance.now();
    const child = spawn("env", command, { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => {
        output[name] += text;
      });
    }
    let peakRssMB = 0;
    const poll = setInterval(() => {
      peakRssMB = Math.max(peakRssMB, memoryOfTreeMB(child.pid));
    }, 20);
    let timedOut = false;
    const killer = setTimeout(() => {
      timedOut = true;
      process.kill(-child.pid, "SIGKILL");
    }, timeoutS * 1000);
    child.once("error", reject);
    child.once("close", (code) => {
      clearInterval(poll);
      clearTimeout(killer);
      const wallMs = performance.timeOrigin + performance.now() - startedAt;
      const cpuMs = timedOut ? Number.NaN : readCpuMs(timeFile);
      const othersCores = Math.max(0, busyMs() - busyBefore - cpuMs) / wallMs;
      resolve({ code, timedOut, startedAt, wallMs, cpuMs, peakRssMB, othersCores, ...output });
    });
  });
}

function readCpuMs(path) {
  const [user, system] = readFileSync(path, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
  return Math.round((user + system) * 1000);
}

function memoryOfTreeMB(pid) {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return children.reduce((sum, child) => sum + memoryOfTreeMB(child), (pages * 4096) / 2 ** 20);
  } catch {
    return 0;
  }
}

/** Busy time of the whole machine, to tell how much others did meanwhile. Linux only. */
function busyMs() {
  try {
    const [user, nice, system, , , irq, softIrq] = readFileSync("/proc/stat", "utf8")
      .split("\n")[0]
      .trim()
      .split(/\s+/)
      .slice(1)
      .map(Number);
    return (user + nice + system + irq + softIrq) * 10;
  } catch {
    return 0;
  }
}
