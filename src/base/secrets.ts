/**
 * Keeps secrets out of what is stored, sent and shown (PE-11). Known secrets are found by their exact value and
 * the usual encodings of it; logs are also searched for what merely looks like a key.
 */

export interface Secret {
  /** Of the variable that holds it: what a reader sees in its place. */
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  /** Takes out known secrets only, so that other text, which may have to be edited, stays exact. */
  redact(text: string): string;
  /** For logs and messages to people: takes out what looks like a key as well. */
  redactLog(text: string): string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const noSecrets: Redactor = { redact: (text) => text, redactLog: (text) => text };

export function createRedactor(secrets: readonly Secret[]): Redactor {
  // The longest first: one may be the beginning of another.
  const known = secrets
    .filter(({ value }) => isWorthHiding(value))
    .sort((a, b) => b.value.length - a.value.length);
  let patterns: { name: string; pattern: RegExp }[] | undefined;
  const redact = (text: string) => {
    patterns ??= known.map(({ name, value }) => ({ name, pattern: patternOf(value) }));
    let clean = text;
    for (const { name, pattern } of patterns) clean = clean.replace(pattern, () => redacted(name));
    return clean;
  };
  return {
    redact: known.length === 0 ? noSecrets.redact : redact,
    redactLog(text) {
      let clean = redact(text);
      for (const { pattern, keep } of keyShapes) clean = clean.replace(pattern, `${keep}${redacted("key")}`);
      return clean;
    },
  };
}

export function redacted(name: string): string {
  return `[redacted: ${name}]`;
}

/** The runtime's own keys. Those of the user's programs are the user's business. */
export function isRuntimeSecret(name: string): boolean {
  return (
    /^(ANTHROPIC|OPENAI|CADRE)_(.*_)?(KEY|TOKEN|SECRET|PASSWORD|HEADERS)(_|$)/i.test(name) ||
    /^OTEL_EXPORTER_OTLP_(.*_)?HEADERS$/.test(name)
  );
}

/** The secrets of the runtime: by their usual names, and `names`, which settings call holders of keys. */
export function runtimeSecrets(env: Environment, names: readonly string[] = []): Secret[] {
  return secretsIn(env, (name) => names.includes(name) || isRuntimeSecret(name));
}

/** Everything in the environment whose name says that it is secret: for logs, which nobody has to edit. */
export function namedSecrets(env: Environment): Secret[] {
  return secretsIn(
    env,
    (name) => isRuntimeSecret(name) || /(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i.test(name),
  );
}

function secretsIn(env: Environment, holds: (name: string) => boolean): Secret[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined || !holds(name) ? [] : valuesOf(name, value).map((each) => ({ name, value: each })),
  );
}

/** A list of headers is not secret as a whole: each value in it is. */
function valuesOf(name: string, value: string): string[] {
  if (!/HEADERS$/i.test(name)) return [value.trim()];
  return value
    .split(/[\n,]/)
    .map((header) => header.replace(/^[^:=]*[:=]/, "").trim())
    .map((each) => each.replace(/^(Bearer|Basic|Token)\s+/i, ""));
}

/** Placeholders such as `ollama` or `not-needed` stand where no key is needed; they are words, not secrets. */
function isWorthHiding(value: string): boolean {
  return value.length >= 16 || (value.length >= 8 && /\d/.test(value));
}

function patternOf(value: string): RegExp {
  const literal = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
  const forms = [...new Set([...literal, lowerEscapes(encodeURIComponent(value))])].map(escaped);
  return new RegExp([...forms, ...base64Forms(value)].join("|"), "g");
}

function lowerEscapes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** Shorter ones would be found in other text by chance. */
const leastBase64Chars = 10;

/**
 * What of the secret shows in the base64 of any text around it: three forms, by where in a group of three bytes
 * it begins. Programs break such text into lines, so a line end may stand between any two characters.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  return [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((whole.length * 8) / 6);
    const visible = whole.toString("base64").slice(first, end);
    if (visible.length < leastBase64Chars) return [];
    const anyAlphabet = [...visible].map((character) =>
      character === "+" ? "[-+]" : character === "/" ? "[/_]" : character,
    );
    return [anyAlphabet.join("(?:\\r?\\n)?")];
  });
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

const keyShapes: readonly { pattern: RegExp; keep: string }[] = [
  { pattern: /\b(sk|rk|pk)-[A-Za-z0-9_-]{16,}/g, keep: "" },
  { pattern: /\b(ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|hf)[_-][A-Za-z0-9_-]{16,}/g, keep: "" },
  { pattern: /\bxox[a-z]-[A-Za-z0-9-]{10,}/g, keep: "" },
  { pattern: /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, keep: "" },
  { pattern: /\bAIza[A-Za-z0-9_-]{30,}/g, keep: "" },
  { pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, keep: "" },
  { pattern: /\bBearer\s+[A-Za-z0-9._~+/=-]{12,}/gi, keep: "Bearer " },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, keep: "" },
  { pattern: /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, keep: "" },
];
