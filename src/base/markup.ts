/** Tags with which the runtime speaks to a model. Nothing that comes from outside may look like one. */
export const runtimeTags = [
  "task-notification",
  "task-receipt",
  "system-reminder",
  "agent-message",
  "fork-directive",
  "command-output",
  "conversation-summary",
  "earlier-request",
  "current-plan",
] as const;

/** For text between tags. Brackets of other widths read the same, and so go the same way. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\uFF1C\uFE64\uFF1E\uFE65]/g, entityOf);
}

/** For an attribute's value in double or single quotes; line breaks survive as references. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"'\n\r\t\uFF1C\uFE64\uFF1E\uFE65]/g, entityOf);
}

function entityOf(character: string): string {
  return entities[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

/**
 * Text from outside that can neither open nor close one of `tagNames`: the bracket before such a name becomes
 * an entity, all else stays readable as it is. An entity that stands there already gets one `amp;` more, so that
 * `restoreTags` gives back exactly what was there. Give it the whole text: two halves of a tag are none.
 */
export function neutralizeTags(text: string, tagNames: readonly string[] = runtimeTags): string {
  if (tagNames.length === 0 || !anyOpening.test(text)) return text;
  return text.replace(
    patternOf(tagNames),
    (_, opening: string, rest: string) => escapeOpening(opening) + rest,
  );
}

/** What `neutralizeTags` was given. */
export function restoreTags(text: string, tagNames: readonly string[] = runtimeTags): string {
  return replaceNeutralized(text, tagNames, (_, original) => original);
}

/**
 * Undoes `neutralizeTags` in text that was copied from what was shown of `original`: a neutralised tag becomes
 * the tag that it stands for if `original` holds that one, and does not hold the entity itself.
 */
export function restoreTagsOf(
  original: string,
  text: string,
  tagNames: readonly string[] = runtimeTags,
): string {
  return replaceNeutralized(text, tagNames, (shown, meant) =>
    original.includes(meant) && !original.includes(shown) ? meant : shown,
  );
}

function replaceNeutralized(
  text: string,
  tagNames: readonly string[],
  choose: (shown: string, meant: string) => string,
): string {
  if (tagNames.length === 0 || !text.includes("&")) return text;
  return text.replace(patternOf(tagNames), (shown: string, opening: string, rest: string) =>
    opening.startsWith("&") ? choose(shown, unescapeOpening(opening) + rest) : shown,
  );
}

function escapeOpening(opening: string): string {
  return bracketEntities.get(opening) ?? `&amp;${opening.slice(1)}`;
}

/** One in other letters, such as `&LT;`, was not written by `escapeOpening` and stays. */
function unescapeOpening(opening: string): string {
  return brackets.get(opening) ?? opening.replace(/^&amp;/, "&");
}

/** The bracket itself, its full width form and its small form. */
const bracketEntities = new Map([
  ["<", "&lt;"],
  ["\uFF1C", "&#xFF1C;"],
  ["\uFE64", "&#xFE64;"],
]);
const brackets = new Map([...bracketEntities].map(([bracket, entity]) => [entity, bracket]));

const anyOpening = /[<\uFF1C\uFE64&]/;
const opening = "([<\\uFF1C\\uFE64]|&(?:amp;)*(?:lt|#xFF1C|#xFE64);)";
/** What a reader skips without noticing: white space, controls, invisible characters, combining marks. */
const unseen = "[\\s\\p{C}\\p{M}\\u115F\\u1160\\u3164\\uFFA0]*";

const patterns = new Map<string, RegExp>();

/** A bracket or an entity for one, perhaps a slash, the name, and then not more of a longer name. */
function patternOf(tagNames: readonly string[]): RegExp {
  const key = tagNames.join(" ");
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const names = tagNames.map((name) => [...name].map(patternOfCharacter).join(unseen)).join("|");
  const slash = `(?:[/\\uFF0F]${unseen})*`;
  const pattern = new RegExp(`${opening}(${unseen}${slash}(?:${names})(?![\\p{L}\\p{N}_.:-]))`, "giu");
  patterns.set(key, pattern);
  return pattern;
}

function patternOfCharacter(character: string): string {
  if (character === "-") return "[\\p{Pd}\\u2212]";
  if (/[A-Za-z]/.test(character)) {
    // Letters of full width read the same.
    return `[${character}${String.fromCodePoint(character.toLowerCase().charCodeAt(0) + 0xfee0)}]`;
  }
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * Text that is safe to show on a terminal. Only line breaks and tabs still act; every other control character,
 * and every character that reorders or hides text, is shown as what it is, so that nothing is silently hidden.
 */
export function forTerminal(text: string): string {
  if (!anyUnsafe.test(text)) return text;
  return text.replace(/\r\n/g, "\n").replace(unsafe, visible);
}

/** Joiners and the variation selectors of emoji stay: scripts and faces need them. */
const unsafeRanges = [
  // C0 but tab and line feed, DEL, C1.
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f",
  // Bidirectional controls and marks.
  "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u206f",
  // Line separators, and what takes no room: soft hyphen, fillers, zero width, annotations, musical controls.
  "\\u2028\\u2029\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb",
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}",
  // Tags and further variation selectors, in which whole texts have been hidden.
  "\\u{e0000}-\\u{e0fff}",
];
const unsafeClass = `[${unsafeRanges.join("")}]`;
const unsafe = new RegExp(unsafeClass, "gu");
const anyUnsafe = new RegExp(unsafeClass, "u");

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return "^?";
  // A C1 control is short for ESC and the letter 0x40 below it.
  if (code < 0xa0) return `^[${String.fromCharCode(code - 0x40)}`;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
