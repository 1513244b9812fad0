/** What is kept for later sessions holds no secrets (PE-11): what may be one is not kept at all. */
import { createRedactor, type Redactor, type Secret } from "../base/secrets.ts";

export interface SecretGuard extends Redactor {
  /** It holds a known secret, or what looks like one, or may say what one is. */
  holdsSecret(text: string): boolean;
}

export function createSecretGuard(secrets: readonly Secret[]): SecretGuard {
  const redactor = createRedactor(secrets);
  return {
    ...redactor,
    holdsSecret: (text) =>
      redactor.redactLog(text) !== text || signs.some((sign) => sign.test(text)) || namesValue(text),
  };
}

/**
 * A password can be any word, so whatever speaks of a single one may hold it. What speaks of several is mostly about
 * how they are kept.
 */
const password =
  /(?:pass[ _-]?(?:word|wort|phrase|code|wd)|kennwort|geheimzahl|mot[ _]de[ _]passe|contraseña|wachtwoord|lösenord|adgangskode|salasana|парол[ья]|(?<!\p{L})(?:senha|hasło|heslo|parola))(?!\p{L})|密码|密碼|暗証番号|パスワード|비밀번호/iu;
const passwords = /pass(?:word|phrase|code)s\s*(?:[:=]|(?:are\s+)?(?=\S*\d)\S)/i;

/** "The token is ...", "key: ...", `PIN=...`. */
const tellsSecret =
  /(?<![\p{L}\d])(?:pwd|secret|token|credentials?|log-?in|(?:api|access|private|secret)[ _-]?key|schlüssel|pin|otp)(?![\p{L}\d])[^.\n]{0,30}?(?:\b(?:is|are|ist|lautet)\b|=|:)\s*\S/iu;

/** Long, and with digits among its letters: hashes and keys of kinds that nobody knows yet. */
const randomWord =
  /(?<![\w/+-])(?=[\w/+-]*\d)(?=[\w/+-]*[A-Z])(?=[\w/+-]*[a-z])[A-Za-z0-9_+/-]{32,}(?![\w/+-])/;
const randomLetters = /(?<![a-z0-9])(?=(?:[a-z]*\d){3})[a-z0-9]{24,}(?![a-z0-9])/i;
const uuid = /(?<![\da-f])[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}(?![\da-f])/i;

/** `Bearer abc.def`, `Basic dXNlcjpw`: what follows is no word. */
const authorization =
  /\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Dd]igest)\s+(?=\S*(?:\d|=|[._~+/-]\S|\p{Ll}\p{Lu}))\S{6,}/u;

const signs: readonly RegExp[] = [
  password,
  passwords,
  tellsSecret,
  randomWord,
  randomLetters,
  uuid,
  authorization,
];

/** It speaks of getting in somewhere, and holds something with which one might: `admin / hunter2`, "my PIN 4711". */
function namesValue(text: string): boolean {
  if (numberWord.test(text) && /(?<![\d.])\d{3,}(?!\.?\d)/.test(text)) return true;
  return (accessWord.test(text) && mixedWord.test(text)) || afterSlash.test(text);
}

const accessWord =
  /(?<![\p{L}\d])(?:log(?:s|ged)?[ -]?(?:in|on)|sign(?:s|ed)?[ -]?in|user ?names?|admin|pwd|secrets?|tokens?|credentials?|keys?|pins?|otp|zugang|anmeldung|schlüssel)(?![\p{L}\d])/iu;
const numberWord = /(?<![\p{L}\d])(?:pin|puk|otp|cvv|cvc|secret)(?![\p{L}\d])/iu;

/** Letters and digits in one, and not a path, the name of a file, a version or an address. */
const mixedWord =
  /(?<![\p{L}\d_./@:-])(?=[^\s./]*\d)(?=[^\s./]*\p{L})[\p{L}\d_!@#$%^&*+=?~-]{5,}(?![\p{L}\d_/:-]|\.[\p{L}\d])/u;
const afterSlash = new RegExp(String.raw`\S\s+[/|]\s+${mixedWord.source}`, "u");
