/**
 * Words with which a program that people think of as harmless runs or writes something else. A rule that
 * allows `rg` does not mean `rg --pre sh`.
 */
import type { ShellWord } from "./shell-words.ts";

/** Nobody reads longer words, and the patterns below would take their time. */
const maxWordChars = 2_000;

/** The first word that goes beyond the program itself, by its place among `words`; the name is number 0. */
export function findRiskyWord(
  program: string,
  words: readonly ShellWord[],
): { readonly index: number; readonly why: string } | undefined {
  const risks = risksByProgram.get(program);
  if (risks === undefined) return undefined;
  const subcommand = words.findIndex((word, at) => at > 0 && !word.text.startsWith("-"));
  const index = words.findIndex(
    (word, at) =>
      at > 0 &&
      (word.text.length > maxWordChars ||
        risks.test(word.text) ||
        (program === "git" && at < subcommand && /^(-c|--config|-p$|--pag)/.test(word.text))),
  );
  const found = words[index];
  return found === undefined
    ? undefined
    : { index, why: `${program} ${found.source} can run or write something else` };
}

const risksByProgram = new Map<string, RegExp>([
  ["rg", /^--(pre|hostname-bin)/],
  ["find", /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/],
  ["fd", /^(-x|-X|--exec)/],
  ["sort", /^(-[a-zA-Z]*o|--o|--co)/],
  ["uniq", /^--?files/],
  ["tree", /^-o/],
  [
    "tar",
    /^(-[a-zA-Z]*[IF]|[cxtru][a-zA-Z]{0,8}[IF]|--(ch.*act|to-c|use-c|rsh|rmt|info-s|new-volume|index))/,
  ],
  ["rsync", /^(-[a-zA-Z]*e|--rsh|--rsync-path)/],
  ["git", /^--(upload-p|receive-p|exec|ext-d|outp|textc|open-f|extcmd)|^-O|^ext::/],
  ["man", /^(-P|-H|--pager|--html|-[a-zA-Z]*[PH])/],
  ["less", /^(\+|-[oOkP]|--log|--lesskey)/],
  ["more", /^\+/],
  ["ssh", /^-(o|F|[a-zA-Z]*o)/],
  [
    "sed",
    // The last two: `s` with any delimiter, and the flags behind its third.
    /^(-[a-zA-Z]*[if]|--i|--file|-[a-zA-Z]*e\d*[ewW])|(^|[;{}\n\s/\d$!,])[ewW](\s|$)|[/|#@,:!][a-zA-Z0-9]*[ew][a-zA-Z0-9]*(\s|;|\}|$)|s(?<sign>[^\sa-zA-Z0-9\\])(?:.*\k<sign>){2}[a-zA-Z0-9]*[ew]|^s(?<letter>[a-zA-Z0-9])(?:.*\k<letter>){2}[a-zA-Z0-9]*[ew]$/,
  ],
  ["awk", /system\s*\(|\||>|getline|@\w+\s*\(|^-(i|f|E|l)|^--(file|include|exec|load)|@load|@include/],
  ["gawk", /system\s*\(|\||>|getline|@\w+\s*\(|^-(i|f|E|l)|^--(file|include|exec|load)|@load|@include/],
  ["npm", /^--?(script-shell|shell|prefix|node-options|userconfig|globalconfig)|^-C/],
  ["jq", /^(-[a-zA-Z]*[fL]|--(from|lib))|\b(import|include)\b/],
  ["date", /^(-s|--set)/],
  ["curl", /^(-K|--config)/],
  ["make", /^(SHELL|MAKEFLAGS|.*FLAGS)=|^--eval/],
  ["zip", /^(-T|-TT|--unzip-command)/],
  ["xdg-open", /./],
]);
