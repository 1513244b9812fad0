import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { globOf, languageNamed } from "../languages.ts";
import type { Asking, Call, Task } from "../playbook.ts";
import { wholeWord } from "../search-patterns.ts";
import { ask, countMatches, grep, isDenial, readWhole } from "../tool-calls.ts";
import { planWordEdits, type WordEdits, wordPattern } from "../whole-word-edits.ts";
import { bareName, type Wording } from "../wording.ts";

export const renameSymbol = everydayPlaybook({
  name: "rename a symbol",
  needs: ["Grep", "Read", "Edit"],
  acts: true,
  understand: understandRename,
  play: playRename,
});

interface RenameRequest {
  readonly from: string;
  readonly to: string;
  readonly path?: string;
  readonly glob?: string;
  /** The user knows that the new name is taken. */
  readonly anyway: boolean;
}

const kind =
  "(?: (?:function|method|class|struct|type|interface|enum|trait|variable|constant|symbol|module|identifier|field|property|parameter|macro))?";
const asksToRename = new RegExp(
  `^(?:rename|change the name of)(?: the)?${kind} (\\S+) (?:to|into|as|->|=>) (\\S+)(.*)$`,
  "i",
);
const asksToReplace =
  /^replace (?:(?:all|every|each)(?: (?:occurrences?|uses?) of)? )?(?:the (?:word|name) )?(\S+) (?:with|by) (\S+)(.*)$/i;
/** "Change 1 to 2" may mean anything; a place that says everywhere makes it a name. */
const asksToChange = /^change (?:all )?(\S+) (?:to|into) (\S+)( everywhere.*| throughout.*| in all .*)$/i;
const identifier = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

function understandRename(wording: Wording): RenameRequest | undefined {
  const rules = [asksToRename, asksToReplace, asksToChange];
  const match = rules.map((rule) => rule.exec(wording.text)).find((found) => found !== null);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const from = bareName(match[1]);
  const to = bareName(match[2]);
  if (!identifier.test(from) || !identifier.test(to)) return undefined;
  const tail = (match[3] ?? "").trim();
  const place = placeOf(tail.replace(anywayWords, "").trim());
  return place === undefined ? undefined : { from, to, anyway: anywayWords.test(tail), ...place };
}

const anywayWords = /,?\s*\b(?:anyway|even (?:if|though)\b.*|regardless|by force|force it|and merge them)\b/i;

/** Undefined: a condition that is not understood, so nothing may be changed. */
function placeOf(words: string): { path?: string; glob?: string } | undefined {
  const rest = words.replace(
    /^,?\s*(?:everywhere|throughout|across (?:all )?(?:the )?(?:files|(?:whole )?(?:repo(?:sitory)?|project|code ?base))|in (?:all|every|the|this) (?:files?|places?|whole \w+|repo(?:sitory)?|project|code ?base|folder))\s*/i,
    "",
  );
  if (rest === "") return {};
  const language = /^(?:only )?in (?:all |the )?(.+?) (?:files|code)(?: only)?$/i.exec(rest)?.[1];
  const known = language === undefined ? undefined : languageNamed(language);
  if (known !== undefined) return { glob: globOf(known) };
  const place =
    /^(?:only )?(?:in|under|below|inside|within) (?:the )?(?:(?:file|folder|directory) )?(?:"([^"]+)"|`([^`]+)`|'([^']+)'|(\S+))(?: (?:folder|directory|file))?(?: only)?$/i.exec(
      rest,
    );
  const path = place?.slice(1).find((part) => part !== undefined);
  if (path === undefined) return undefined;
  return /[*{]/.test(path) ? { glob: path } : { path: path.replace(/(.)\/+$/, "$1") };
}

function* playRename(_task: Task, request: RenameRequest): Asking<string> {
  const { from, to } = request;
  if (from === to) return "The two names are the same: there is nothing to rename.";
  const scope = {
    ...(request.path === undefined ? {} : { path: request.path }),
    ...(request.glob === undefined ? {} : { glob: request.glob }),
  };
  const found = yield* countMatches(
    { pattern: wholeWord(from), ...scope },
    `I look for \`${from}\` as a whole word.`,
  );
  if (found.problem !== undefined) return `The search failed: ${found.problem}`;
  if (found.total === 0)
    return `\`${from}\` does not occur as a whole word${placeText(request)}. Nothing was changed.`;
  if (!found.exact || found.counts.size < found.fileCount)
    return `\`${from}\` occurs in ${countOf(found.fileCount, "file")}, more than I can list at once. Rename it folder by folder: "rename ${from} to ${to} in src/". Nothing was changed.`;
  const taken = yield* grep({ pattern: wholeWord(to), ...scope });
  const clash = taken.matches.filter((match) => wordPattern(to).test(match.text));
  if (clash.length > 0 && !request.anyway) return refusal(request, clash);
  const plans = yield* planFiles([...found.counts.keys()].sort(), request);
  return yield* applyPlans(plans, request, scope);
}

function placeText({ path, glob }: RenameRequest): string {
  return path !== undefined ? ` in ${path}` : glob !== undefined ? ` in files named ${glob}` : "";
}

function refusal(
  { from, to }: RenameRequest,
  clash: readonly { path: string; line: number; text: string }[],
): string {
  return [
    `\`${to}\` is already in use, so renaming \`${from}\` to it could join two different things. Nothing was changed.`,
    "",
    ...clash.slice(0, 10).map(({ path, line, text }) => `- ${path}:${line}: ${text.trim().slice(0, 120)}`),
    ...(clash.length > 10 ? [`- and ${clash.length - 10} more`] : []),
    "",
    `To do it all the same: "rename ${from} to ${to} anyway".`,
  ].join("\n");
}

interface FilePlan extends WordEdits {
  readonly path: string;
  /** Why the file is left alone. */
  readonly problem?: string;
}

/** Reads every file whole: an edit needs that, and the lines around a word decide how it can be replaced. */
function* planFiles(paths: readonly string[], request: RenameRequest): Asking<FilePlan[]> {
  const files = yield* readWhole(paths);
  return paths.map((path, index): FilePlan => {
    const file = files[index];
    if (file === undefined) return { path, edits: [], count: 0, problem: "cannot be read as text" };
    if (file.cut) return { path, edits: [], count: 0, problem: "has lines too long to be read whole" };
    return { path, ...planWordEdits(file.lines.join("\n"), request.from, request.to) };
  });
}

function* applyPlans(
  plans: readonly FilePlan[],
  request: RenameRequest,
  scope: { path?: string; glob?: string },
): Asking<string> {
  const calls = plans.flatMap((plan) =>
    plan.edits.map((edit) => ({ plan, call: editCall(plan.path, edit) })),
  );
  const [first, ...rest] = calls;
  if (first === undefined)
    return withProblems("Nothing was changed: no whole word was left after reading the files.", plans);
  // Alone, so that a refusal is asked for and told once.
  const firstResults = yield* ask([first.call]);
  if (firstResults[0] !== undefined && isDenial(firstResults[0]))
    return deniedAnswer(plans, request, firstResults[0].text);
  const results = [...firstResults, ...(yield* ask(rest.map(({ call }) => call)))];
  const failures = new Map<string, string>();
  for (const [index, { plan }] of calls.entries()) {
    const result = results[index];
    if (result?.isError === true) failures.set(plan.path, result.text.split("\n", 1)[0] ?? "");
  }
  const left = yield* countMatches({ pattern: wholeWord(request.from), ...scope });
  return outcome({ plans, failures, left: left.total, request });
}

function editCall(path: string, edit: { oldText: string; newText: string; replaceAll: boolean }): Call {
  const input = { file_path: path, old_string: edit.oldText, new_string: edit.newText };
  return { name: "Edit", input: edit.replaceAll ? { ...input, replace_all: true } : input };
}

function deniedAnswer(plans: readonly FilePlan[], request: RenameRequest, why: string): string {
  const changing = plans.filter((plan) => plan.count > 0);
  return withProblems(
    [
      `I was not allowed to edit: ${why.split("\n", 1)[0]}`,
      "",
      `Renaming \`${request.from}\` to \`${request.to}\` would change ${countOf(total(changing), "place")} in ${countOf(changing.length, "file")}; nothing was changed:`,
      "",
      ...changing.map((plan) => `- ${plan.path}: ${plan.count}`),
      "",
      "To allow it, give the same request with `--permission-mode acceptEdits` (edits inside this folder) or `--allowed-tools Edit`.",
    ].join("\n"),
    plans,
  );
}

function outcome(done: {
  plans: readonly FilePlan[];
  failures: ReadonlyMap<string, string>;
  left: number;
  request: RenameRequest;
}): string {
  const { from, to } = done.request;
  const changed = done.plans.filter((plan) => plan.count > 0 && !done.failures.has(plan.path));
  return withProblems(
    [
      `Renamed \`${from}\` to \`${to}\`: **${countOf(total(changed), "place")} in ${countOf(changed.length, "file")}**${placeText(done.request)}.`,
      "",
      ...changed.map((plan) => `- ${plan.path}: ${plan.count}`),
      ...[...done.failures].map(([path, why]) => `- ${path}: NOT (or only in part) changed: ${why}`),
      "",
      done.left === 0
        ? `Checked: \`${from}\` is no longer there as a whole word.`
        : `Checked: ${countOf(done.left, "line")} still with \`${from}\`.`,
      "Every whole word was changed, also in comments and strings; longer names that contain it were left alone, and so were ignored files and file names. I cannot tell two things of the same name apart: look at `git diff`.",
    ].join("\n"),
    done.plans,
  );
}

function withProblems(text: string, plans: readonly FilePlan[]): string {
  const problems = plans.flatMap((plan) =>
    plan.problem === undefined ? [] : [`- ${plan.path} ${plan.problem}`],
  );
  return problems.length === 0 ? text : `${text}\n\nLeft alone:\n${problems.join("\n")}`;
}

function total(plans: readonly FilePlan[]): number {
  return plans.reduce((sum, plan) => sum + plan.count, 0);
}
