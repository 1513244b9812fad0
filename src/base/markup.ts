/** Tags with which the runtime speaks to a model. Nothing that comes from outside may look like one. */
export const runtimeTags = [
  "task-notification",
  "system-reminder",
  "agent-message",
  "fork-directive",
] as const;

/** For text between tags. */
export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}

/** For an attribute's value in double or single quotes; line breaks survive as references. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"'\n\r\t]/g, (character) => entities[character] ?? character);
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
 * an entity, all else stays readable as it is. Give it the whole text: two halves of a tag are none.
 */
export function neutralizeTags(text: string, tagNames: readonly string[] = runtimeTags): string {
  if (tagNames.length === 0 || !anyBracket.test(text)) return text;
  return text.replace(patternOf(tagNames), (match) => `&lt;${match.slice(1)}`);
}

const anyBracket = /[<\uFF1C\uFE64]/;
/** What a reader skips without noticing: white space, controls, invisible characters, combining marks. */
const unseen = "[\\s\\p{C}\\p{M}\\u115F\\u1160\\u3164\\uFFA0]*";

const patterns = new Map<string, RegExp>();

/** A bracket (full width and small ones too), perhaps a slash, the name, and then not more of a longer name. */
function patternOf(tagNames: readonly string[]): RegExp {
  const key = tagNames.join(" ");
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const names = tagNames.map((name) => [...name].map(patternOfCharacter).join(unseen)).join("|");
  const slash = `(?:[/\\uFF0F]${unseen})*`;
  const pattern = new RegExp(`[<\\uFF1C\\uFE64]${unseen}${slash}(?:${names})(?![\\p{L}\\p{N}_.:-])`, "giu");
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

// C0 but tab and line feed, DEL, C1, then: zero width, line separators, bidi controls, annotations, tags.
const unsafeClass =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u2028\\u2029\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]";
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
