/** What is kept for later sessions holds no secrets (PE-11): what may be one is not kept at all. */
import { createRedactor, type Redactor, type Secret } from "../base/secrets.ts";

export interface SecretGuard extends Redactor {
  /** It holds a known secret, or what looks like one, or says what one is. */
  holdsSecret(text: string): boolean;
}

export function createSecretGuard(secrets: readonly Secret[]): SecretGuard {
  const redactor = createRedactor(secrets);
  return {
    ...redactor,
    holdsSecret: (text) =>
      redactor.redactLog(text) !== text || tellsSecret.test(text) || randomWord.test(text),
  };
}

/** "The password is ...", "token: ...", `PIN=...`. */
const tellsSecret =
  /\b(pass(word|phrase|code|wd)|pwd|secret|token|credentials?|(api|access|private|secret)[ _-]?key|pin|otp)\b[^.\n]{0,30}?(\bis\b|\bare\b|=|:)\s*\S/i;

/** Letters, digits and nothing that a word has: hashes and keys of kinds that nobody knows yet. */
const randomWord =
  /(?<![\w/+-])(?=[\w/+-]*\d)(?=[\w/+-]*[A-Z])(?=[\w/+-]*[a-z])[A-Za-z0-9_+/-]{32,}(?![\w/+-])/;
