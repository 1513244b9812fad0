/**
 * Which git commands only read.
 *
 * Git runs programs that the repository's configuration names: a file system monitor, hooks, external diff
 * and textconv drivers, clean filters, a pager, gpg. `workspace/child-environment.ts` turns off the monitor,
 * hooks and pagers by environment; drivers and filters have no such switch. So reading is only known to be
 * harmless in the repository the agent was started in, which a person has trusted, and never in one that the
 * command itself chooses (`-C`, `--git-dir`, `cd elsewhere && git ...`).
 */
import { type Options, optionRule, type SortedWords, sortWords } from "./option-rule.ts";
import type { ShellWord } from "./shell-words.ts";

export function judgeGit(
  words: readonly ShellWord[],
  isInside: (path: ShellWord) => boolean,
): string | undefined {
  const rest = skipGlobalOptions(words, isInside);
  if (typeof rest === "string") return rest;
  const [subcommand, ...args] = rest;
  if (subcommand === undefined) return undefined;
  if (subcommand.kind !== "literal") return "the git command is not known";
  if (subcommand.text === "--version" && args.length === 0) return undefined;
  const rule = subcommands.get(subcommand.text);
  if (rule === undefined) return `git ${subcommand.text} is not known to be read-only`;
  // These placeholders make git run gpg.
  if (args.some((word) => /%G|%\(signature/.test(word.text))) return "checking signatures runs gpg";
  if (rule.actions !== undefined && !isAction(args[0], rule.actions))
    return `of git ${subcommand.text} only listing is known to be read-only`;
  if (rule.options === "any") return undefined;
  const sorted = sortWords(args, rule.options);
  if (typeof sorted === "string") return `git ${subcommand.text}: ${sorted}`;
  return rule.judge?.(sorted);
}

const globalFlags = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--no-replace-objects",
]);

function skipGlobalOptions(
  words: readonly ShellWord[],
  isInside: (path: ShellWord) => boolean,
): readonly ShellWord[] | string {
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined || !word.mayBeOption || word.text === "--version") return words.slice(index);
    if (word.kind !== "literal") return `${word.source} could become an option of git`;
    if (globalFlags.has(word.text)) continue;
    const folder = words[index + 1];
    if (word.text !== "-C" || folder === undefined)
      return `the git option ${word.text} is not known to be read-only`;
    if (!isInside(folder)) return `git would read the repository in ${folder.source}`;
    index += 1;
  }
  return [];
}

interface GitRule {
  readonly options: Options;
  readonly judge?: (words: SortedWords) => string | undefined;
  /** The first word must be one of these; undefined stands for no words at all. */
  readonly actions?: readonly (string | undefined)[];
}

const diffLong = `stat numstat shortstat dirstat summary compact-summary name-only name-status patch no-patch
  raw patch-with-stat patch-with-raw unified color no-color color-words word-diff color-moved no-renames
  find-renames find-copies find-copies-harder minimal patience histogram ignore-all-space
  ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol function-context full-index
  binary abbrev no-abbrev check exit-code quiet text relative no-relative no-prefix no-ext-diff no-textconv
  cached staged merge-base no-index ignore-submodules pickaxe-all pickaxe-regex cc`;
const diffLongValued = `word-diff-regex diff-filter diff-algorithm inter-hunk-context src-prefix dst-prefix
  stat-width stat-name-width stat-count find-object`;
const logLong = `oneline graph decorate no-decorate all branches tags remotes all-match invert-grep
  regexp-ignore-case extended-regexp fixed-strings perl-regexp merges no-merges first-parent follow reverse
  date-order topo-order author-date-order pretty abbrev-commit no-abbrev-commit relative-date full-history
  simplify-merges ancestry-path left-right left-only right-only cherry-pick cherry-mark cherry boundary not
  parents children source no-notes notes walk-reflogs count no-walk show-pulls clear-decorations`;
const logLongValued = `author committer grep since after until before max-count skip date format glob exclude
  decorate-refs min-parents max-parents`;
// Here a value that is not one would hide a name to make, so only options that always take one stand here.
const listLong = "column no-column color no-color ignore-case omit-empty abbrev no-abbrev";
const listLongValued = "contains no-contains merged no-merged points-at sort format";

const diffOptions = optionRule({
  flags: "pusawbzWDRct0123456789",
  valued: "UGSlMCB",
  long: diffLong,
  longValued: diffLongValued,
});
const logOptions = optionRule({
  flags: "pusawbzWDRctgiEFPm0123456789",
  valued: "UGSlnLMCB",
  long: `${diffLong} ${logLong}`,
  longValued: `${diffLongValued} ${logLongValued}`,
});

const subcommands = new Map<string, GitRule>([
  ["log", { options: logOptions }],
  ["show", { options: logOptions }],
  ["whatchanged", { options: logOptions }],
  ["rev-list", { options: logOptions }],
  ["diff", { options: diffOptions }],
  [
    "shortlog",
    {
      options: optionRule({
        flags: "snec",
        long: `${logLong} numbered summary email`,
        longValued: `${logLongValued} group`,
      }),
    },
  ],
  [
    "status",
    {
      options: optionRule({
        flags: "sbvz",
        valued: "u",
        long: `short branch porcelain long verbose untracked-files ignored ignore-submodules renames no-renames
          column no-column ahead-behind no-ahead-behind show-stash`,
      }),
    },
  ],
  [
    "blame",
    {
      options: optionRule({
        flags: "ltwsepfnbMCc",
        valued: "L",
        long: "root porcelain line-porcelain show-name show-number show-email show-stats",
        longValued: "date since abbrev",
      }),
    },
  ],
  [
    "grep",
    {
      options: optionRule({
        flags: "aiInlLcwvhHoqEFPGrzpW0123456789",
        valued: "eABCm",
        long: `ignore-case line-number files-with-matches name-only files-without-match count word-regexp
          invert-match only-matching quiet extended-regexp fixed-strings perl-regexp basic-regexp recursive
          no-recursive cached untracked no-index show-function function-context heading break column color
          no-color and or not all-match text full-name null`,
        longValued: "after-context before-context context max-depth max-count threads",
      }),
    },
  ],
  [
    "cat-file",
    { options: optionRule({ flags: "tspe", long: "batch batch-check batch-all-objects unordered" }) },
  ],
  [
    "describe",
    {
      options: optionRule({
        long: "tags all always exact-match long first-parent contains dirty debug",
        longValued: "abbrev match exclude candidates",
      }),
    },
  ],
  ["ls-files", { options: "any" }],
  ["ls-tree", { options: "any" }],
  ["rev-parse", { options: "any" }],
  ["merge-base", { options: "any" }],
  ["name-rev", { options: "any" }],
  ["show-ref", { options: "any" }],
  ["for-each-ref", { options: "any" }],
  ["count-objects", { options: "any" }],
  ["check-ignore", { options: "any" }],
  ["cherry", { options: "any" }],
  [
    "branch",
    {
      options: optionRule({
        flags: "arvi",
        long: `list all remotes verbose show-current ${listLong}`,
        longValued: listLongValued,
      }),
      judge: (words) => judgeListing(words, "git branch with a name makes a branch"),
    },
  ],
  [
    "tag",
    {
      options: optionRule({ flags: "lni0123456789", long: `list ${listLong}`, longValued: listLongValued }),
      judge: (words) => judgeListing(words, "git tag with a name makes a tag"),
    },
  ],
  ["remote", { options: optionRule({ flags: "v", long: "verbose" }), judge: judgeRemote }],
  ["stash", { options: logOptions, actions: ["list"] }],
  ["reflog", { options: logOptions, actions: [undefined, "show"] }],
  ["worktree", { options: optionRule({ flags: "vz", long: "porcelain verbose" }), actions: ["list"] }],
]);

function isAction(word: ShellWord | undefined, actions: readonly (string | undefined)[]): boolean {
  return (word === undefined || word.kind === "literal") && actions.includes(word?.text);
}

/** Without one of these, a name is not a pattern to list but something to make. */
const listingOptions = [
  "--list",
  "-l",
  "-n",
  "--contains",
  "--no-contains",
  "--merged",
  "--no-merged",
  "--points-at",
];

function judgeListing(words: SortedWords, problem: string): string | undefined {
  const lists = words.options.some((option) => listingOptions.includes(option));
  return words.operands.length > 0 && !lists ? problem : undefined;
}

function judgeRemote(words: SortedWords): string | undefined {
  const [action, name] = words.operands;
  if (action === undefined) return undefined;
  const asksForUrl = action.kind === "literal" && action.text === "get-url" && name?.kind === "literal";
  return asksForUrl && words.operands.length === 2 ? undefined : "git remote may change the remotes";
}
