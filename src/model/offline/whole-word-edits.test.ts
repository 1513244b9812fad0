import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planWordEdits, type TextEdit, wordPattern } from "./whole-word-edits.ts";

/** As the Edit tool does it: exact, and unique unless all are meant. */
function apply(text: string, edits: readonly TextEdit[]): string {
  let current = text;
  for (const { oldText, newText, replaceAll } of edits) {
    const parts = current.split(oldText);
    if (parts.length < 2) throw new Error(`not found: ${oldText}`);
    if (parts.length > 2 && !replaceAll) throw new Error(`not unique: ${oldText}`);
    current = parts.join(newText);
  }
  return current;
}

describe("edits that rename a whole word", () => {
  it("need one step where the word never is part of another", () => {
    const { edits, count } = planWordEdits("foo(foo);\nfoo", "foo", "bar");
    expect(edits).toEqual([{ oldText: "foo", newText: "bar", replaceAll: true }]);
    expect(count).toBe(3);
  });

  it("leave longer names alone", () => {
    const text = "foo\nfoobar\nfoo\n$foo\n_foo foo\nfoö foo é\nfoo\n";
    const { edits, count } = planWordEdits(text, "foo", "x");
    expect(apply(text, edits)).toBe("x\nfoobar\nx\n$foo\n_foo x\nfoö x é\nx\n");
    expect(count).toBe(5);
  });

  it("are unique among equal lines, also when the new name contains the old one", () => {
    const text = "foo foobar\nfoo foobar\nfoo foobar\n";
    expect(apply(text, planWordEdits(text, "foo", "foo2").edits)).toBe(
      "foo2 foobar\nfoo2 foobar\nfoo2 foobar\n",
    );
  });

  it("take names with special characters literally", () => {
    const text = "$a.b $a $ab\n$a";
    expect(apply(text, planWordEdits(text, "$a", "$&").edits)).toBe("$&.b $& $ab\n$&");
  });

  it("are none where the word does not occur", () => {
    expect(planWordEdits("foobar", "foo", "x")).toEqual({ edits: [], count: 0 });
  });

  it("do for any text what a whole-word replacement does", () => {
    const piece = fc.constantFrom(
      "foo",
      "foobar",
      "xfoo",
      "foo.foo",
      " ",
      "\n",
      "\n",
      "(",
      "foo\n",
      "é",
      "$",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.constantFrom("bar", "foofoo", "f"),
        (pieces, replacement) => {
          const text = pieces.join("");
          const { edits } = planWordEdits(text, "foo", replacement);
          expect(apply(text, edits)).toBe(text.replace(wordPattern("foo"), () => replacement));
        },
      ),
    );
  });
});
