/** What must not be carried into later sessions, whoever has said it. */

/**
 * A fact says how something is. What speaks to its reader, or says what somebody shall do, is none: so a page that
 * wants to be obeyed cannot have its words carried into later sessions.
 */
export function isDemand(text: string): boolean {
  return (
    /\b(you|your|yourself|assistants?|agents?|the model|ai)\b/i.test(text) ||
    /\b(must|shall|should|always|never|ignore|disregard|obey|instructions?)\b/i.test(text) ||
    /^\s*(please|do|don't|run|execute|install|download|fetch|send|post|delete|remove|use|add|write|open|visit|remember|make sure|ensure)\b/i.test(
      text,
    )
  );
}

/** A command that runs what comes from elsewhere: through a pipe, a substitution, or a file that was just fetched. */
export function runsWhatItGets(text: string): boolean {
  return intoInterpreter.test(text) || evaluated.test(text) || fetchedAndRun.test(text);
}

const interpreter = String.raw`(?:(?:ba|z|da|a|k|c|tc|fi|pw)?sh|busybox|powershell|cmd|python[\d.]*|node|deno|bun|perl|ruby|php|lua|source|eval|iex|invoke-expression|xargs|sudo|doas|env)(?:\.exe)?(?![\w-])`;
const fetcher = String.raw`(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c|ncat|netcat|nc|scp|base64|xxd)\b`;

/** `... | sudo /bin/sh` */
const intoInterpreter = new RegExp(String.raw`\|&?\s*["'\x60]?(?:[\w.~$/\\-]*[/\\])?${interpreter}`, "i");
/** `bash <(curl ...)`, `sh -c "$(wget ...)"`, `eval "..."`, `iex (...)` */
const evaluated = new RegExp(
  String.raw`<\(|\$\(\s*${fetcher}|\b(?:eval|iex|invoke-expression)\s*["'$(\x60&]`,
  "i",
);
/** `curl -o x ... && sh x` */
const fetchedAndRun = new RegExp(
  String.raw`\b${fetcher}.*(?:;|&&)\s*(?:chmod\b|[.~]?[/\\]|${interpreter})`,
  "i",
);
