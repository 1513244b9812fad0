/**
 * The files that control the agent or the machine: settings, hooks, agents, start-up files of shells, what
 * editors and package managers run by themselves, keys. Writing to one asks in every mode.
 */
import { resolve, sep } from "node:path";
import { wayInside } from "./locate-path.ts";
import { matchesPattern, parsePathPattern } from "./path-pattern.ts";

/** A folder of one of these names, and everything in it. */
const folderNames = new Set([
  ".cadre",
  ".claude",
  ".git",
  ".vscode",
  ".vscode-server",
  ".cursor",
  ".zed",
  ".idea",
  ".devcontainer",
  ".ssh",
  ".gnupg",
  ".aws",
  ".kube",
  ".husky",
  ".githooks",
  ".yarn",
]);

/** A file of one of these names, wherever it stands. */
const fileNames = new Set(
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
  .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession .xsessionrc
  .pam_environment .envrc .mcp.json .claude.json .cadre.json .gitconfig .gitmodules .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.js
  .pnpmfile.mjs bunfig.toml .pypirc .netrc .curlrc .wgetrc .vimrc .exrc .nvimrc .tmux.conf .screenrc .lessfilter
  .ripgreprc .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml
  .lesskey .gdbinit .lldbinit crontab config.fish managed-settings.json`.split(/\s+/),
);

/** Folders in this order, anywhere on the way. */
const folderChains = [
  [".config", "systemd"],
  [".config", "autostart"],
  [".config", "fish"],
  [".config", "git"],
  [".config", "cadre"],
  [".config", "nvim"],
  [".config", "pip"],
  [".config", "environment.d"],
  [".local", "bin"],
  [".local", "share", "systemd"],
  [".cargo", "bin"],
  [".cargo", "config.toml"],
  [".cargo", "config"],
  [".docker", "config.json"],
  ["library", "launchagents"],
  ["library", "launchdaemons"],
];

/** From the root of the file system. */
const machineFolders = [
  ["etc"],
  ["private", "etc"],
  ["proc"],
  ["sys"],
  ["boot"],
  ["var", "spool", "cron"],
  ["usr", "lib", "systemd"],
  ["lib", "systemd"],
  ["library", "launchagents"],
  ["library", "launchdaemons"],
];

/**
 * Whether writing to `path`, which is absolute, would change one of them. Below a working folder only the way
 * from there counts: a worktree may stand inside a folder of ours.
 */
export function isProtectedPath(path: string, roots: readonly string[]): boolean {
  const inside = roots.flatMap((root) => {
    const way = wayInside(root, path, true);
    return way === undefined || isProtectedName(resolve(root)) ? [] : [way];
  });
  const whole = partsOf(path);
  if (machineFolders.some((chain) => chain.every((name, index) => whole[index] === name))) return true;
  return inside.length === 0 ? holdsProtected(whole) : inside.every((way) => holdsProtected(partsOf(way)));
}

/** Paths to protected names that a pattern such as `.cad*` may stand for. */
export function protectedMatches(pattern: string): string[] {
  const parts = pattern.split("/");
  const at = parts.findIndex((part) => part.startsWith(".") && /[*?[]/.test(part));
  const parsed = at < 0 ? undefined : parsePathPattern(`./${parts[at]}`, { ignoreCase: true });
  if (parsed === undefined || typeof parsed === "string") return [];
  return [...folderNames, ...fileNames]
    .filter((name) => matchesPattern(parsed, name))
    .map((name) => parts.with(at, name).join("/"));
}

function isProtectedName(folder: string): boolean {
  return folderNames.has(partsOf(folder).at(-1) ?? "");
}

function holdsProtected(parts: readonly string[]): boolean {
  if (parts.some((part) => folderNames.has(part))) return true;
  if (fileNames.has(parts.at(-1) ?? "")) return true;
  return parts.some((_, from) =>
    folderChains.some((chain) => chain.every((name, index) => parts[from + index] === name)),
  );
}

/** Some file systems see no difference in case, in kinds of the same letter, or in dots and blanks at the end. */
function partsOf(path: string): string[] {
  return path
    .split(sep)
    .filter((part) => part !== "")
    .map((part) =>
      part
        .normalize("NFKC")
        .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
        .replace(/(?<=[^.\s])[.\s]+$/, "")
        .toLowerCase(),
    );
}
