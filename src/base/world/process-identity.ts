import { readFile } from "node:fs/promises";
import { systemCodeOf } from "../errors.ts";

let bootId: Promise<string> | undefined;

/**
 * When the process started, as the system tells it: two processes with one id never share it. Only a process
 * that is gone gives undefined; trouble in looking (no file descriptors left) throws, or a live owner of a lock
 * would pass for a dead one.
 */
export function identityOf(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

async function fromProc(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
  // The second field is the program's name in parentheses and may hold anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields[0], fields[19]];
  // A zombie is dead, only not buried.
  if (startTicks === undefined || state === "Z" || state === "X") return undefined;
  // Ticks count from the boot, so without the boot's id a restart could repeat them.
  bootId ??= readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "unknown-boot");
  return `${(await bootId).trim()}:${startTicks}`;
}

async function fromPs(pid: number): Promise<string | undefined> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve, reject) => {
    execFile(
      "ps",
      ["-o", "lstart=", "-p", String(pid)],
      { env: { ...process.env, LC_ALL: "C" } },
      (error, out) => {
        // It answers with status 1 if there is no such process.
        if (error !== null && error.code !== 1) reject(error);
        else resolve(out.trim() || undefined);
      },
    );
  });
}
