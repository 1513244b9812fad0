/**
 * Ends what this process has started and left behind, whatever ended this process: also a SIGKILL, of which it
 * learns nothing itself. The reaper is a small shell that waits at the other end of a pipe. It is told which process
 * groups there are, and when the pipe closes it ends them, and everything else that carries our mark in its
 * environment: a daemon that left its group and its parent still has that.
 */
import type { ChildProcess, Processes, World } from "../base/world.ts";
import type { Environment } from "./child-environment.ts";

export interface Reaper {
  /** To be in the environment of everything that must not outlive this process. */
  readonly mark: Environment;
  /** Does nothing if it runs. Before that nothing is ended by it; from then on also what it has only marked. */
  start(onProblem?: (message: string) => void): void;
  /** The leader of this group is a child of ours that runs. Starts the reaper if need be. */
  add(groupId: number, onProblem?: (message: string) => void): void;
  /** Nobody of this group is alive any more. */
  remove(groupId: number): void;
}

type ReaperWorld = Pick<World, "processes" | "random" | "platform" | "env">;

/** One for all sessions of a process. Nothing is started by asking for it. */
export function reaperOf(world: ReaperWorld): Reaper {
  let reaper = reapers.get(world.processes);
  if (reaper === undefined) {
    reaper = createReaper(world);
    reapers.set(world.processes, reaper);
  }
  return reaper;
}

const reapers = new WeakMap<Processes, Reaper>();

export function createReaper({ processes, random, platform, env }: ReaperWorld): Reaper {
  // With our own id, so that no two that live have the same, however random numbers are made.
  const owner = `${processes.pid}-${Buffer.from(random.bytes(16)).toString("hex")}`;
  const groups = new Set<number>();
  let running: ChildProcess | undefined;
  let isImpossible = platform === "win32";

  function start(onProblem?: (message: string) => void): void {
    if (running !== undefined || isImpossible) return;
    const child = processes.spawn("/bin/sh", ["-c", reaperScript, "cadre-reaper", owner], {
      cwd: "/",
      env: { PATH: `/usr/bin:/bin:${env.PATH ?? ""}`, LC_ALL: "C" },
      input: "pipe",
      outlives: true,
    });
    running = child;
    for (const groupId of groups) say(`add ${groupId}`);
    child.exited.then(
      // Somebody has killed it: the next group brings another one.
      () => {
        running = undefined;
      },
      (error: unknown) => {
        isImpossible = true;
        onProblem?.(
          `The shell that ends commands after a crash could not be started (${String(error)}): commands that run when this program is killed may go on.`,
        );
      },
    );
  }

  /** The system takes a line at once, so that it arrives even if we are killed now. */
  function say(line: string): void {
    running?.write(`${line}\n`).catch(() => {});
  }

  return {
    mark: { [variable]: owner },
    start,
    add(groupId, onProblem) {
      if (groups.has(groupId)) return;
      start(onProblem);
      groups.add(groupId);
      say(`add ${groupId}`);
    },
    remove(groupId) {
      if (groups.delete(groupId)) say(`del ${groupId}`);
    },
  };
}

const variable = "CADRE_OWNER";

/**
 * A group is known by its leader and the time at which that one began. As long as somebody of a group is alive, the
 * system gives its id to nobody else, so there are three cases: the leader is the one that was registered, or a
 * stranger with the same id leads another group by now, or there is no leader, and then a member shows by its mark
 * whose group it is. Only in the second case there is nothing of ours.
 *
 * Without /proc only groups with their leader are found. Arguments: our mark, and where /proc is.
 */
export const reaperScript = `
trap '' HUP INT QUIT TERM PIPE TSTP TTIN TTOU
set -f
mark=${variable}=$1
proc=\${2:-/proc}
groups=

look_at() {
  began= group=
  if [ -d "$proc" ]; then
    read -r stat < "$proc/$1/stat" || return 1
    set -- \${stat##*) }
    group=$3 began=\${20}
  else
    began=$(ps -o lstart= -p "$1")
  fi
  [ -n "$began" ]
}

is_known() {
  case " $groups " in *" $1 "*) return 0 ;; esac
  return 1
}

while read -r verb id; do
  case $verb in
    add) if look_at "$id"; then eval "began_$id=\\$began"; groups="$groups $id"; fi ;;
    del)
      others=
      for each in $groups; do [ "$each" = "$id" ] || others="$others $each"; done
      groups=$others ;;
  esac
done

marked() {
  [ -d "$proc" ] || return 0
  set +f
  grep -lsF "$mark" "$proc"/[0-9]*/environ
  set -f
}

signal_marked() {
  for path in $(marked); do
    pid=\${path#"$proc"/} pid=\${pid%/environ}
    look_at "$pid" || continue
    kill -s "$1" "$pid"
    if is_known "$group"; then kill -s "$1" -- "-$group"; fi
  done
}

signal_groups() {
  for id in $groups; do
    if look_at "$id"; then
      eval "known=\\$began_$id"
      [ "$began" = "$known" ] || continue
    else
      case " $asked " in *" $id "*) ;; *) continue ;; esac
    fi
    kill -s "$1" -- "-$id" && asked="$asked $id"
  done
}

anybody() {
  for id in $asked; do kill -s 0 -- "-$id" && return 0; done
  [ -n "$(marked)" ]
}

asked=
signal_groups TERM
signal_marked TERM
tries=0
while [ $tries -lt 10 ] && anybody; do
  sleep 0.1 || { sleep 1; tries=10; }
  tries=$((tries + 1))
done
signal_groups KILL
tries=0
while [ $tries -lt 20 ] && [ -n "$(marked)" ]; do
  signal_marked KILL
  sleep 0.05 || sleep 1
  tries=$((tries + 1))
done
`;
