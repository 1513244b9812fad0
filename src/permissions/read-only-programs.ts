/** The programs that are known to only read, and with which words. What is not here is not known. */
import { type OptionRule, optionRule, sortWords } from "./option-rule.ts";
import type { ShellWord } from "./shell-words.ts";

/** Answers with the reason why these words are not known to only read, or undefined. */
export type JudgeWords = (words: readonly ShellWord[]) => string | undefined;

export function findProgramJudge(program: string): JudgeWords | undefined {
  if (harmless.has(program)) return () => undefined;
  const rule = byOptions.get(program);
  if (rule !== undefined) return (words) => problemOf(sortWords(words, rule));
  return special.get(program) ?? judgeVersion(program);
}

/** None of their options writes or runs anything, so that even words nobody knows beforehand are fine. */
const harmless = new Set(
  `ls pwd cat head wc echo : true false cut tr nl cmp comm stat du df basename dirname
  realpath readlink which whereis type uname whoami groups arch nproc tac rev seq expr paste fold expand
  unexpand join od hexdump md5sum sha1sum sha256sum sha512sum cksum exit break continue`.split(/\s+/),
);

const byOptions = new Map<string, OptionRule>([
  [
    "tail",
    optionRule({
      flags: "qvzr0123456789",
      valued: "nc",
      long: "quiet silent verbose",
      longValued: "lines bytes",
    }),
  ],
  [
    "sort",
    optionRule({
      flags: "bdfghiMnRrVcCmuzs",
      valued: "kt",
      long: `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort
        numeric-sort reverse version-sort check unique stable zero-terminated month-sort`,
      longValued: "key field-separator",
    }),
  ],
  [
    "diff",
    optionRule({
      flags: "abBcdeiNqrsTtuwyEZpn0123456789",
      valued: "CIUWxXF",
      long: `brief report-identical-files side-by-side ignore-case ignore-all-space ignore-space-change
        ignore-blank-lines ignore-tab-expansion ignore-trailing-space strip-trailing-cr text recursive
        new-file minimal suppress-common-lines color unified context no-dereference left-column rcs ed
        expand-tabs initial-tab show-c-function`,
      longValued: "exclude label width ignore-matching-lines",
    }),
  ],
  [
    "tree",
    optionRule({
      flags: "adfilpshugDFCnxvtrcUqNQ",
      valued: "LIP",
      long: "noreport dirsfirst gitignore du si prune",
    }),
  ],
  [
    "file",
    optionRule({
      flags: "biLhk",
      long: "brief mime mime-type mime-encoding dereference no-dereference keep-going",
    }),
  ],
  [
    "rg",
    optionRule({
      flags: "aciFHIlnNopPqsSuUvVwx0.",
      valued: "ABCEMTdefgjmrt",
      long: `files files-with-matches files-without-match count count-matches ignore-case smart-case
        case-sensitive fixed-strings word-regexp line-regexp invert-match line-number no-line-number
        column no-column heading no-heading hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent
        no-ignore-global no-ignore-dot json only-matching quiet null multiline multiline-dotall
        pcre2 with-filename no-filename no-messages trim vimgrep stats text unrestricted type-list pretty
        passthru byte-offset crlf glob-case-insensitive no-config one-file-system sort sortr color version`,
      longValued: `after-context before-context context regexp file glob iglob max-count max-columns
        max-depth max-filesize type type-not type-add replace threads encoding engine context-separator`,
    }),
  ],
]);

const special = new Map<string, JudgeWords>([
  ["grep", judgeGrep],
  ["egrep", judgeGrep],
  ["fgrep", judgeGrep],
  ["jq", judgeJq],
  ["find", judgeFind],
  ["sed", judgeSed],
  ["uniq", judgeUniq],
  ["date", judgeDate],
  ["hostname", judgeHostname],
  ["printf", judgePrintf],
  ["test", judgeTest],
  ["[", judgeTest],
  ["command", judgeCommandLookup],
  ["ps", judgePs],
]);

/** Only programs that print their version without looking at the project they stand in, and how to ask them. */
const versionWords = new Map<string, readonly string[]>([
  ["node", ["--version", "-v"]],
  ["npm", ["--version", "-v"]],
  ["python", ["--version", "-V"]],
  ["python3", ["--version", "-V"]],
  ["java", ["--version", "-version"]],
  ...["bash", "gcc", "g++", "clang", "ruby", "perl", "php", "make", "deno", "bun", "docker"].map(
    (program) => [program, ["--version"]] as const,
  ),
]);

function judgeVersion(program: string): JudgeWords | undefined {
  const asking = versionWords.get(program);
  if (asking === undefined) return undefined;
  return ([word, ...rest]) =>
    word?.kind === "literal" && asking.includes(word.text) && rest.length === 0
      ? undefined
      : `${program} is only known to be harmless when asked for its version`;
}

function problemOf(sorted: ReturnType<typeof sortWords>): string | undefined {
  return typeof sorted === "string" ? sorted : undefined;
}

/** Links that stand in a folder may lead out of it. */
function judgeGrep(words: readonly ShellWord[]): string | undefined {
  const follows = words.some((word) =>
    /^(-[^-ABCDdefm]*[RS]|--deref)/.test(word.kind === "literal" ? word.text : (word.likely ?? "")),
  );
  return follows ? "grep would follow links out of the folder" : undefined;
}

/** A program for jq can begin with files to read, from any folder. */
function judgeJq(words: readonly ShellWord[]): string | undefined {
  for (const word of words) {
    if (word.mayBeOption && word.kind !== "literal") return `${word.source} could become an option of jq`;
    if (/^(-[a-zA-Z]*[fL]|--(from|lib))/.test(word.text)) return "jq would read its program from files";
    if (/\b(import|include|modulemeta)\b/.test(word.text)) return "this program for jq may read other files";
  }
  return undefined;
}

const findWords = new Set(
  `-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth
  -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -newerct -empty
  -user -group -uid -gid -nouser -nogroup -perm -readable -writable -executable -links -inum -samefile
  -lname -ilname -print -print0 -printf -ls -prune -quit -depth -xdev -mount -follow -not -and -or -a -o
  -true -false -daystart -noleaf -fstype -H -L -P --`.split(/\s+/),
);

function judgeFind(words: readonly ShellWord[]): string | undefined {
  for (const word of words) {
    if (!word.mayBeOption) continue;
    if (word.kind !== "literal") return `${word.source} could become an action of find`;
    // Numbers such as `-mtime -7` and modes such as `-perm -u+x` start with a dash too.
    if (
      findWords.has(word.text) ||
      /^-\d+[a-zA-Z]?$/.test(word.text) ||
      /^-[ugoa]+[=+][rwxst]+$/.test(word.text)
    )
      continue;
    return `find ${word.text} is not known to be read-only`;
  }
  return undefined;
}

/** sed can write files and run commands from its script, so only the printing of lines is known. */
function judgeSed(words: readonly ShellWord[]): string | undefined {
  const [quiet, script, ...files] = words;
  const printsLines = /^(\d+|\$)(,(\d+|\$|\+\d+))?p(;\s*(\d+|\$)(,(\d+|\$|\+\d+))?p)*$/;
  if (quiet?.kind !== "literal" || !/^(-n|--quiet|--silent)$/.test(quiet.text)) return "sed can write files";
  if (script?.kind !== "literal" || !printsLines.test(script.text)) return "this sed script may write or run";
  const option = files.find((word) => word.mayBeOption);
  return option === undefined ? undefined : `the option ${option.source} of sed is not known to be read-only`;
}

const uniqRule = optionRule({
  flags: "cdDiuz",
  valued: "fsw",
  long: "count repeated unique ignore-case zero-terminated",
  longValued: "skip-fields skip-chars check-chars",
});

/** The second operand of uniq is the file it writes. */
function judgeUniq(words: readonly ShellWord[]): string | undefined {
  const sorted = sortWords(words, uniqRule);
  if (typeof sorted === "string") return sorted;
  const { operands } = sorted;
  return operands.length > 1 || operands.some((word) => !word.single)
    ? "uniq may write its second file"
    : undefined;
}

const dateRule = optionRule({
  flags: "uRI",
  valued: "dr",
  long: "utc universal rfc-email iso-8601 rfc-3339",
  longValued: "date reference",
});

function judgeDate(words: readonly ShellWord[]): string | undefined {
  const sorted = sortWords(
    // `-Iseconds` carries its value in the word.
    words.filter((word) => word.kind !== "literal" || !/^-I(date|hours|minutes|seconds|ns)$/.test(word.text)),
    dateRule,
  );
  if (typeof sorted === "string") return sorted;
  const sets = sorted.operands.some((word) => !word.single || !word.text.startsWith("+"));
  return sets ? "date may set the clock" : undefined;
}

function judgeHostname(words: readonly ShellWord[]): string | undefined {
  const sorted = sortWords(words, optionRule({ flags: "fsiIdA", long: "fqdn long short" }));
  if (typeof sorted === "string") return sorted;
  return sorted.operands.length > 0 ? "hostname may set the name" : undefined;
}

/** `-v` and `%n` set variables, PATH among them. */
function judgePrintf(words: readonly ShellWord[]): string | undefined {
  const format = words[0]?.kind === "literal" && words[0].text === "--" ? words[1] : words[0];
  if (format === undefined) return undefined;
  if (format.kind !== "literal") return "the format of printf is not known";
  if (format.text.startsWith("-")) return "printf may set a variable";
  return /%[-+ #0-9.*']*[hljztL]*n/.test(format.text.replaceAll("%%", ""))
    ? "printf %n sets a variable"
    : undefined;
}

const unaryTest = /^-[abcdefghknoprstuwxzGLNOS]$/;
const binaryTest = /^(=|==|!=|<|>|-(eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** `test -v 'a[$(command)]'` runs the command: so operators must be known, and `-v` and `-R` are not. */
function judgeTest(words: readonly ShellWord[]): string | undefined {
  const risky = words.some((word) => word.kind === "literal" && /^-[vR]$/.test(word.text));
  if (risky) return "test -v evaluates its operand";
  if (words.every((word) => word.kind === "literal")) return undefined;
  const body = words.at(-1)?.text === "]" ? words.slice(0, -1) : words;
  const [first, second] = body[0]?.text === "!" && body[0].kind === "literal" ? body.slice(1) : body;
  const count = body[0]?.text === "!" && body[0].kind === "literal" ? body.length - 1 : body.length;
  const known =
    body.every((word) => word.single) &&
    ((count === 2 && first?.kind === "literal" && unaryTest.test(first.text)) ||
      (count === 3 && second?.kind === "literal" && binaryTest.test(second.text)));
  return known ? undefined : "the operators of this test are not known";
}

function judgeCommandLookup(words: readonly ShellWord[]): string | undefined {
  const [option] = words;
  const looksUp = option?.kind === "literal" && /^-[vV]$/.test(option.text);
  return looksUp ? undefined : "command runs its operand";
}

/** Some letters of ps show the environment of other processes, and with it their secrets. */
function judgePs(words: readonly ShellWord[]): string | undefined {
  const shown = words.map((word) => (word.kind === "literal" ? word.text : "?")).join(" ");
  return ["", "aux", "ax", "-ef", "-e", "-A", "-f", "-aux"].includes(shown)
    ? undefined
    : "ps may show the environment of other processes";
}
