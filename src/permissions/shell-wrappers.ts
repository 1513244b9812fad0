/** Programs that run another program, and which one: `timeout 5 rm x` runs `rm x`. */
import { type OptionRule, optionRule, sortWords } from "./option-rule.ts";
import type { ShellWord } from "./shell-words.ts";

export interface Carried {
  /** The words of the command that is run, its name first. */
  readonly words: readonly ShellWord[];
  /** Where it begins among the words of the carrier; the carrier's name is number 0. */
  readonly start: number;
  readonly assignments: readonly ShellWord[];
  /** `env -C`: where it runs. */
  readonly folder?: ShellWord;
}

export type Carrying =
  /** `adds`: the carrier does something besides, and must be allowed on its own account. */
  | { readonly kind: "commands"; readonly carried: readonly Carried[]; readonly adds: boolean }
  /** `sh -c`: the script is known. */
  | { readonly kind: "script"; readonly script: ShellWord; readonly start: number }
  /** It runs something, and what that is can not be known. */
  | { readonly kind: "unknown"; readonly why: string };

/** What `words` run besides themselves; undefined when they are no carrier. */
export function findCarried(program: string, words: readonly ShellWord[]): Carrying | undefined {
  if (shells.has(program)) return readShell(program, words);
  if (program === "find" || program === "fd" || program === "fdfind") return readFind(words);
  if (program === "command" && /^-[vV]+$/.test(words[1]?.text ?? "")) return undefined;
  const spec = carriers.get(program);
  if (spec !== undefined) return readCarrier(program, words, spec);
  if (hiders.has(program)) return { kind: "unknown", why: `${program} hides what it runs` };
  if (isOtherCarrier(program)) return { kind: "unknown", why: `${program} runs another command` };
  return undefined;
}

/** Where a denied command could begin among the words of a carrier, however its options are read. */
export function suspectStarts(program: string, words: readonly ShellWord[]): number[] {
  if (program === "find" || program === "fd" || program === "fdfind")
    return words.flatMap((word, index) => (isExecWord(word.text) ? [index + 1] : []));
  const carries =
    carriers.has(program) || isOtherCarrier(program) || hiders.has(program) || shells.has(program);
  const first = carries || plainRunners.has(program) ? 1 : runnerStart(program, words);
  return words.map((_, index) => index).slice(first);
}

/** Run a program that other words name. A rule for them is meant for what they run, so nothing is hidden. */
const plainRunners = new Set(
  "npx bunx pnpx uvx pipx sg catchsegv dotenv cross-env nix-shell mapfile readarray".split(" "),
);

const runningWords = new Map<string, RegExp>([
  ...["npm", "pnpm", "yarn", "bun"].map((name) => [name, /^(exec|x|dlx)$/] as const),
  ...["bundle", "direnv", "mise", "asdf", "rbenv", "pyenv"].map((name) => [name, /^(exec|x)$/] as const),
  ...["docker", "podman", "kubectl", "poetry", "uv", "pipenv", "conda", "pdm", "hatch", "rye"].map(
    (name) => [name, /^(exec|run)$/] as const,
  ),
]);

/** Behind the last word when it runs nothing. */
function runnerStart(program: string, words: readonly ShellWord[]): number {
  const running = runningWords.get(program);
  const at =
    running === undefined ? -1 : words.findIndex((word, index) => index > 0 && running.test(word.text));
  return at < 0 ? words.length : at + 1;
}

/** Whether its words may be a script: `eval 'rm x'`, `trap 'rm x' EXIT`, `su -c 'rm x'`. */
export function mayRunText(program: string): boolean {
  const carries = hiders.has(program) || isOtherCarrier(program) || shells.has(program);
  return carries || program === "env" || plainRunners.has(program) || runningWords.has(program);
}

export const shells = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"]);

/** Their words are not what is run, or what is run later. */
const hiders = new Set(["eval", "source", ".", "trap", "alias", "bind", "complete", "enable", "hash", "fc"]);

const otherCarriers = new Set(
  `sudo doas su runuser pkexec chroot nsenter unshare setpriv watch script strace ltrace perf gdb flock
  parallel taskset chrt numactl prlimit unbuffer caffeinate rlwrap systemd-run dbus-run-session xvfb-run ssh
  expect at batch crontab ld.so busybox toybox coproc builtin start-stop-daemon daemonize tmux screen
  chronic ifne torsocks proxychains proxychains4 gosu su-exec tini dumb-init eatmydata faketime nodemon concurrently
  linux32 linux64 setarch firejail bwrap proot fakeroot choom uclampset cpulimit entr when-changed`.split(
    /\s+/,
  ),
);

function isOtherCarrier(program: string): boolean {
  return otherCarriers.has(program) || /^ld(-linux.*)?\.so/.test(program);
}

interface CarrierSpec {
  readonly options: OptionRule;
  /** Operands before the command, such as the duration of `timeout`. */
  readonly operands: number;
  readonly assigns?: true;
  /** More words follow that nobody knows beforehand. */
  readonly appends?: true;
  readonly adds?: true;
  readonly folder?: readonly string[];
}

const carriers = new Map<string, CarrierSpec>([
  [
    "timeout",
    {
      options: optionRule({
        flags: "v",
        valued: "ks",
        long: "foreground preserve-status verbose",
        longValued: "kill-after signal",
      }),
      operands: 1,
    },
  ],
  [
    "nice",
    { options: optionRule({ flags: "0123456789", valued: "n", longValued: "adjustment" }), operands: 0 },
  ],
  ["nohup", { options: optionRule({}), operands: 0 }],
  ["time", { options: optionRule({ flags: "pv", valued: "f", longValued: "format" }), operands: 0 }],
  ["stdbuf", { options: optionRule({ valued: "ioe", longValued: "input output error" }), operands: 0 }],
  ["setsid", { options: optionRule({ flags: "cfw", long: "ctty fork wait" }), operands: 0 }],
  [
    "ionice",
    {
      options: optionRule({ flags: "t", valued: "cn", long: "ignore", longValued: "class classdata" }),
      operands: 0,
    },
  ],
  ["command", { options: optionRule({ flags: "p" }), operands: 0 }],
  ["exec", { options: optionRule({ flags: "cl", valued: "a" }), operands: 0 }],
  [
    "env",
    {
      options: optionRule({
        flags: "i0v",
        valued: "uC",
        long: "ignore-environment null debug",
        longValued: "unset chdir",
      }),
      operands: 0,
      assigns: true,
      folder: ["-C", "--chdir"],
    },
  ],
  [
    "xargs",
    {
      options: optionRule({
        flags: "0rtx",
        valued: "InPLsdE",
        long: "null no-run-if-empty verbose exit",
        longValued: "max-args max-procs max-lines max-chars delimiter eof replace",
      }),
      operands: 0,
      appends: true,
    },
  ],
  [
    "sudo",
    {
      options: optionRule({
        flags: "nEHSkb",
        valued: "ugp",
        long: "non-interactive preserve-env set-home stdin reset-timestamp background",
        longValued: "user group prompt",
      }),
      operands: 0,
      assigns: true,
      adds: true,
    },
  ],
  ["doas", { options: optionRule({ flags: "nL", valued: "u" }), operands: 0, adds: true }],
]);

function readCarrier(program: string, words: readonly ShellWord[], spec: CarrierSpec): Carrying {
  const unknown = (why: string): Carrying => ({ kind: "unknown", why });
  let at = 1;
  let operands = 0;
  let folder: ShellWord | undefined;
  const assignments: ShellWord[] = [];
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (word.mayBeOption && word.text !== "-") {
      if (word.kind !== "literal") return unknown(`${word.source} could become an option of ${program}`);
      if (word.text === "--") continue;
      const sorted = sortWords([word, valueStandIn], spec.options);
      if (typeof sorted === "string") return unknown(`the option ${word.text} of ${program} is not known`);
      const takesNext = sorted.operands.length === 0;
      if (spec.folder?.includes(word.text) === true) folder = words[at + 1];
      else if (spec.folder?.some((name) => holdsOption(word.text, name)) === true)
        return unknown(`${program} ${word.text} runs in another folder`);
      if (takesNext) at += 1;
    } else if (spec.assigns && /^[A-Za-z_]\w*=/.test(word.source)) assignments.push(word);
    else if (operands < spec.operands) operands += 1;
    else break;
  }
  const inner = words.slice(at);
  if (inner.length === 0) return { kind: "commands", carried: [], adds: true };
  const carried: Carried = {
    words: spec.appends ? [...inner, anyWords] : inner,
    start: at,
    assignments,
    ...(folder !== undefined && { folder }),
  };
  return { kind: "commands", carried: [carried], adds: spec.adds ?? false };
}

/** With its value in the same word, or among other letters. */
function holdsOption(text: string, name: string): boolean {
  if (text.startsWith(name)) return true;
  return name.length === 2 && !text.startsWith("--") && text.includes(name.charAt(1));
}

/** Follows an option to see whether it would be its value. */
const valueStandIn: ShellWord = {
  text: "value",
  source: "value",
  kind: "literal",
  single: true,
  mayBeOption: false,
};

const anyWords: ShellWord = { text: "", source: "...", kind: "computed", single: false, mayBeOption: true };

function isExecWord(text: string): boolean {
  return /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(text);
}

function readFind(words: readonly ShellWord[]): Carrying | undefined {
  const carried: Carried[] = [];
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (word.kind !== "literal" && word.mayBeOption)
      return { kind: "unknown", why: `${word.source} could become an action of find` };
    if (/^-(delete|fprint|fprint0|fprintf|fls)$/.test(word.text))
      return { kind: "unknown", why: `find ${word.text} changes files` };
    if (/^(--exec|--exec-batch)=/.test(word.text))
      return { kind: "unknown", why: `${word.text} runs another command` };
    if (!isExecWord(word.text)) continue;
    const end = words.findIndex((each, at) => at > index && (each.text === ";" || each.text === "+"));
    const inner = words.slice(index + 1, end < 0 ? undefined : end);
    carried.push({ words: [...inner, anyWords], start: index + 1, assignments: [] });
  }
  return carried.length === 0 ? undefined : { kind: "commands", carried, adds: true };
}

/** `sh script.sh` is a program like others; without one it reads commands from its input. */
function readShell(program: string, words: readonly ShellWord[]): Carrying | undefined {
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (word.kind !== "literal") return { kind: "unknown", why: `${word.source} hides what ${program} runs` };
    if (/^-[a-z]*c[a-z]*$/.test(word.text)) {
      const script = words[at + 1];
      if (script === undefined || script.kind !== "literal" || !/^-[ceuxf]+$/.test(word.text))
        return { kind: "unknown", why: `${program} ${word.text} hides what it runs` };
      return { kind: "script", script, start: at + 1 };
    }
    if (word.text === "--version") return undefined;
    if (/^[-+]o$/.test(word.text)) at += 1;
    else if (!/^-[eux]+$/.test(word.text))
      return /^[-+]/.test(word.text)
        ? { kind: "unknown", why: `the option ${word.text} of ${program} is not known` }
        : undefined;
  }
  return { kind: "unknown", why: `${program} runs what it reads from its input` };
}
