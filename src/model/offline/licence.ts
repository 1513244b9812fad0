/** Which licence a text is, by the words that only that licence has. */
const marks: readonly (readonly [string, RegExp])[] = [
  ["Apache License 2.0", /apache license,?\s+version 2\.0/],
  ["GNU Affero General Public License v3", /gnu affero general public license/],
  ["GNU Lesser General Public License", /gnu lesser general public license/],
  ["GNU General Public License v3", /gnu general public license\s+version 3/],
  ["GNU General Public License v2", /gnu general public license\s+version 2/],
  ["Mozilla Public License 2.0", /mozilla public license,?\s+(?:version|v\.) 2\.0/],
  ["The Unlicense", /this is free and unencumbered software released into the public domain/],
  ["ISC", /permission to use, copy, modify, and(?:\/or)? distribute this software for any purpose/],
  ["MIT", /permission is hereby granted, free of charge, to any person obtaining a copy/],
  ["BSD 3-Clause", /redistribution and use in source and binary forms[\s\S]*neither the name/],
  ["BSD 2-Clause", /redistribution and use in source and binary forms/],
  ["CC0 1.0", /cc0 1\.0 universal/],
];

export function licenceOf(lines: readonly string[]): string | undefined {
  const text = lines.join(" ").toLowerCase().replace(/\s+/g, " ");
  return marks.find(([, mark]) => mark.test(text))?.[0];
}

export function isLicenceFile(path: string): boolean {
  return /^(?:licen[cs]e|copying|unlicense)(?:[-.][\w.-]*)?$/i.test(path);
}
