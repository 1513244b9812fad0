import { expect, it } from "vitest";
import { unquotedPath } from "./git.ts";

it.each([
  ["plain name.ts", "plain name.ts"],
  ['"gr\\303\\266\\303\\237e/a b"', "größe/a b"],
  ['"\\360\\237\\222\\260.ts"', "💰.ts"],
  ['"a\\"b\\\\c\\td\\n"', 'a"b\\c\td\n'],
  ['"mixed 💰 \\001"', "mixed 💰 \u0001"],
])("reads the name that git writes as %s", (written, name) => {
  expect(unquotedPath(written)).toBe(name);
});
