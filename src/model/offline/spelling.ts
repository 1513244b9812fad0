/** Slips of the finger in the words that rules are made of. Names are left alone: only the person knows them. */
const vocabulary: readonly string[] = [
  ..."what where which does this that many list find show repo code todo todos file test tests files lines uses used".split(
    " ",
  ),
  ..."about analyze changed changes classes codebase command commands commit commits committed contributors count defined definition describe directory entry explain folder folders function functions happened history implemented imports language languages large largest lately latest layout licence license mentions method methods number occurrences organized outline overview package packages passing please project python recent recently references rename replace repository review staged structure structured suite summarise summarize summary symbol tell there typescript javascript uncommitted unstaged usages written yesterday".split(
    " ",
  ),
];
const known = new Set(vocabulary);

/** The prompt with its misspelt words put right; the same text when there is nothing to mend. */
export function correctSpelling(prompt: string): string {
  let acts = false;
  return prompt.replace(
    /(`[^`]*`|"[^"]*"|'[^']*')|(?<![\w./$\\-])([A-Za-z]{4,})(?![\w./$\\-])/g,
    (whole, quoted?: string, word?: string) => {
      if (quoted !== undefined || word === undefined || acts) return whole;
      const corrected = mended(word);
      // What follows are names that something will be done to.
      acts ||= /^(?:rename|replace)$/i.test(corrected);
      return corrected;
    },
  );
}

function mended(word: string): string {
  const isPlain = /^[A-Z]?[a-z]+$/.test(word);
  const lower = word.toLowerCase();
  if (!isPlain || known.has(lower)) return word;
  const near = vocabulary.filter((candidate) => isSlip(lower, candidate));
  return near.length === 1 && near[0] !== undefined ? near[0] : word;
}

/** One letter wrong, missing, too many, or two swapped; in short words only the last: too many are near them. */
function isSlip(word: string, meant: string): boolean {
  if (isSwap(word, meant)) return true;
  if (meant.length < 6) return false;
  const [shorter, longer] = word.length < meant.length ? [word, meant] : [meant, word];
  if (longer.length - shorter.length > 1) return false;
  let at = 0;
  while (at < shorter.length && shorter[at] === longer[at]) at += 1;
  const restOfShorter = shorter.slice(shorter.length === longer.length ? at + 1 : at);
  return restOfShorter === longer.slice(at + 1);
}

function isSwap(word: string, meant: string): boolean {
  if (word.length !== meant.length || word === meant) return false;
  let at = 0;
  while (word[at] === meant[at]) at += 1;
  return (
    word[at] === meant[at + 1] && word[at + 1] === meant[at] && word.slice(at + 2) === meant.slice(at + 2)
  );
}
