// Programs outside npm that some tests need: found, or installed where that is possible, or reported.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { say } from "./setup.mjs";

/** `apt` is the Debian package that holds it. */
const tools = [
  { name: "git", check: ["git", "--version"], apt: "git", neededBy: "worktree and repository tests" },
  { name: "tmux", check: ["tmux", "-V"], apt: "tmux", neededBy: "tests in a terminal" },
  { name: "time", check: ["/usr/bin/time", "--version"], apt: "time", neededBy: "tests of memory use" },
];

export function prepareSystemTools() {
  const missing = tools.filter(isMissing);
  if (missing.length === 0) return;
  if (canInstall()) installWithApt(missing.map((tool) => tool.apt));
  for (const tool of missing.filter(isMissing)) {
    say(`${tool.name} is missing: ${tool.neededBy} are skipped. On Debian: apt-get install ${tool.apt}`);
  }
}

function isMissing({ check: [command, ...args] }) {
  return spawnSync(command, args, { stdio: "ignore" }).error !== undefined;
}

function canInstall() {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version");
}

function installWithApt(packages) {
  say(`installing ${packages.join(", ")} ...`);
  const apt = (...args) =>
    spawnSync("apt-get", ["-qq", ...args], {
      stdio: ["ignore", "ignore", 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    }).status === 0;
  const install = () => apt("install", "-y", "--no-install-recommends", ...packages);
  // A fresh image has no package lists.
  return install() || (apt("update") && install());
}
