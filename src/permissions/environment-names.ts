/** Variables that can be set in front of a command without changing what it runs. */

const harmless = new Set(
  `CI NODE_ENV DEBUG VERBOSE LOG_LEVEL NO_COLOR FORCE_COLOR COLOR CLICOLOR LANG LANGUAGE TZ TERM COLUMNS LINES
  RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PORT GOOS GOARCH
  TEST_TIMEOUT VITEST JEST_WORKER_ID ENV_NAME APP_ENV RAILS_ENV RACK_ENV MIX_ENV`.split(/\s+/),
);

/** Lists what is known: programs bring new variables that name programs, options and addresses every day. */
export function isHarmlessVariable(name: string): boolean {
  if (harmless.has(name) || /^LC_[A-Z]+$/.test(name)) return true;
  // Names in small letters are the script's own, but for those of package managers and proxies.
  return /^[a-z_][a-z0-9_]*$/.test(name) && !/^(npm_|yarn_|pnpm_|pip_|.*_proxy$|_$)/.test(name);
}

/** `A=1`, `A+=1`, `A[0]=1`. */
export function variableOf(assignment: string): string {
  return /^[A-Za-z_]\w*/.exec(assignment)?.[0] ?? assignment;
}
