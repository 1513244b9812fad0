/**
 * Commands that do nothing but make, copy, move or remove files, with words whose meaning is known. To remove
 * whole folders with all that is in them is not plain.
 */
import { type OptionRule, optionRule, sortWords } from "./option-rule.ts";
import { programName } from "./read-only-command.ts";
import type { CommandPart } from "./shell-parts.ts";

const rules = new Map<string, OptionRule>([
  ["mkdir", optionRule({ flags: "pv", valued: "m", long: "parents verbose", longValued: "mode" })],
  ["rmdir", optionRule({ flags: "pv", long: "parents verbose ignore-fail-on-non-empty" })],
  [
    "touch",
    optionRule({ flags: "acm", valued: "drt", long: "no-create", longValued: "date reference time" }),
  ],
  [
    "cp",
    optionRule({
      flags: "rRpafvnuiT",
      long: "recursive archive force verbose no-clobber update interactive no-target-directory preserve",
    }),
  ],
  [
    "mv",
    optionRule({ flags: "fvnuiT", long: "force verbose no-clobber update interactive no-target-directory" }),
  ],
  ["rm", optionRule({ flags: "fvdi", long: "force verbose dir interactive" })],
]);

export function isPlainFileCommand(part: CommandPart): boolean {
  const [name, ...args] = part.words;
  if (name === undefined || name.kind !== "literal") return false;
  const rule = rules.get(programName(name.text));
  if (rule === undefined || part.hidden !== undefined) return false;
  const sorted = sortWords(args, rule);
  return typeof sorted !== "string" && sorted.operands.length > 0;
}
