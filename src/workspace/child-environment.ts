/**
 * The environment of the processes that tools start. It carries no secret of the runtime (PE-11), and nothing
 * in it makes a command wait for a person, or makes git run what a repository's configuration names.
 */
import { isRuntimeSecret } from "../base/secrets.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export function childEnvironment(
  env: Environment,
  options: {
    /** Names of further variables that hold keys, such as those that settings name for providers. */
    secretNames?: readonly string[];
  } = {},
): Environment {
  const secretNames = new Set(options.secretNames);
  const kept = Object.entries(env).filter(
    ([name, value]) =>
      value !== undefined && !secretNames.has(name) && !isRuntimeSecret(name) && !misleading.has(name),
  );
  return withGitConfig({ ...Object.fromEntries(kept), ...nobodyIsThere }, [
    // A program of the repository's choice that git runs to learn which files changed.
    ["core.fsmonitor", "false"],
    // Together with GIT_OPTIONAL_LOCKS: reading writes no index, so that agents beside each other do not
    // meet at its lock, and no hook is told of it.
    ["diff.autoRefreshIndex", "false"],
  ]);
}

/**
 * For commands that were judged to only read. Hooks stay on for all others, because people rely on theirs when
 * they commit; nothing that only reads needs one, or needs to fetch what a partial clone left out.
 */
export function readOnlyEnvironment(env: Environment): Environment {
  return withGitConfig({ ...env, GIT_NO_LAZY_FETCH: "1" }, [
    ["core.hooksPath", "/dev/null"],
    // A folder of the project may pose as a repository of its own, with a configuration that runs programs.
    ["safe.bareRepository", "explicit"],
  ]);
}

/** Variables that change what the shell, git or a search means. */
const misleading = new Set([
  "BASH_ENV",
  "ENV",
  "CDPATH",
  "SHELLOPTS",
  "BASHOPTS",
  "PROMPT_COMMAND",
  "PS4",
  "GLOBIGNORE",
  "OLDPWD",
  "GREP_OPTIONS",
  "RIPGREP_CONFIG_PATH",
  "FORCE_COLOR",
  "CLICOLOR_FORCE",
  "GIT_EXTERNAL_DIFF",
  // Set when the runtime was started from a git hook; they would point git at another repository.
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_PREFIX",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_NAMESPACE",
]);

/** `true` as an editor accepts the text as it is, so that a merge or a rebase goes on with its own message. */
const nobodyIsThere: Environment = {
  CADRE: "1",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GCM_INTERACTIVE: "never",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/** Adds to the configuration that is already in the environment; the last value of a key counts. */
function withGitConfig(env: Environment, entries: readonly (readonly [string, string])[]): Environment {
  const count = Number.parseInt(env.GIT_CONFIG_COUNT ?? "0", 10);
  const first = Number.isSafeInteger(count) && count > 0 ? count : 0;
  const added = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(first + entries.length) };
}
