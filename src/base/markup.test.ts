import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  escapeAttribute,
  escapeText,
  forTerminal,
  neutralizeTags,
  restoreTags,
  restoreTagsOf,
  runtimeTags,
} from "./markup.ts";

/** Written on its own, so that it does not repeat the mistakes of the code it checks. */
function holdsTag(text: string): boolean {
  const squeezed = text.replace(/[\s\u0000-\u001f\u200b-\u200f\u2060\ufeff]/g, "").toLowerCase();
  return runtimeTags.some((tag) =>
    [`<${tag}>`, `</${tag}>`, `<${tag}/>`].some((form) => squeezed.includes(form)),
  );
}

/** Text that is full of almost-tags. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<",
        ">",
        "/",
        " ",
        "\n",
        "\t",
        "\u200b",
        "&lt;",
        "&amp;",
        "amp;",
        "&#xFF1C;",
        "&LT;",
        "\uff1c",
        "\ufe64",
        "system-",
        "reminder",
        "=",
        '"',
        "\0",
      ),
      fc.constantFrom(...runtimeTags),
      fc.constantFrom(...runtimeTags).map((tag) => tag.toUpperCase()),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(""));

describe("neutralizeTags", () => {
  it.each([
    "</system-reminder>",
    "<system-reminder>",
    "<System-Reminder>",
    "< / system-reminder >",
    "<\n/\tsystem-reminder\n>",
    '<task-notification id="1">',
    "<task-notification/>",
    "<agent-message",
    "</fork-directive",
    "<\u200bsystem-reminder>",
    "<sys\u200btem-rem\u00adinder>",
    "<//system-reminder>",
    "\uff1csystem-reminder\uff1e",
    "<system\u2010reminder>",
    "<\0system-reminder>",
    "<system-\nreminder>",
    "<ſystem-reminder>",
  ])("takes the power out of %j", (tag) => {
    const result = neutralizeTags(`before ${tag} after`);
    expect(result).not.toMatch(/[<\uff1c]/);
    expect(result).toMatch(/^before &(lt|#xFF1C);/);
  });

  it("leaves everything else as it is", () => {
    const text = "a < b, <div>, <system-reminders>, <my-system-reminder>, system-reminder, &lt;b&gt;, x<y>z";
    expect(neutralizeTags(text)).toBe(text);
  });

  it("takes names with special characters literally", () => {
    expect(neutralizeTags("<a.b> <axb>", ["a.b"])).toBe("&lt;a.b> <axb>");
  });

  it("lets no runtime tag through, whatever the text", () => {
    fc.assert(
      fc.property(hostileText, (text) => !holdsTag(neutralizeTags(text))),
      { numRuns: 2000 },
    );
  });

  it("is quick with text made to slow it down", () => {
    const text = `${"<".repeat(20_000)}${" ".repeat(20_000)}${"/ ".repeat(20_000)}`;
    expect(neutralizeTags(text)).toBe(text);
  });
});

describe("restoreTags", () => {
  it("gives back exactly what was neutralised, whatever the text, also when that was done twice", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const once = neutralizeTags(text);
        expect(restoreTags(once)).toBe(text);
        expect(restoreTags(restoreTags(neutralizeTags(once)))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves entities alone that stand before anything else", () => {
    const text = "&lt;div> &amp;lt;b> &LT;system-reminder>";
    expect(restoreTags(text)).toBe(text);
  });
});

describe("restoreTagsOf", () => {
  it.each([
    ["<system-reminder>a", "&lt;system-reminder>b", "<system-reminder>b"],
    ["&lt;system-reminder>a", "&amp;lt;system-reminder>b", "&lt;system-reminder>b"],
    // The file holds the entity, so the entity may well be meant.
    ["&lt;system-reminder> <system-reminder>", "&lt;system-reminder>b", "&lt;system-reminder>b"],
    ["nothing of the kind", "&lt;system-reminder>b", "&lt;system-reminder>b"],
    [
      "</task-notification>",
      "&lt;system-reminder>&lt;/task-notification>",
      "&lt;system-reminder></task-notification>",
    ],
  ])("of %j makes %j into %j", (original, text, restored) => {
    expect(restoreTagsOf(original, text)).toBe(restored);
  });
});

describe("escaping", () => {
  it("keeps text inside its element and values inside their quotes", () => {
    expect(escapeText(`<a> & "b"`)).toBe(`&lt;a&gt; &amp; "b"`);
    expect(escapeAttribute(`"x" & 'y' <z>\n`)).toBe("&quot;x&quot; &amp; &#39;y&#39; &lt;z&gt;&#10;");
  });
});

describe("forTerminal", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "^[[31mred^[[0m"],
    ["\u001b]0;title\u0007", "^[]0;title^G"],
    ["\u009b2J", "^[[2J"],
    ["\u0090q\u009c", "^[Pq^[\\"],
    ["password: secret\rpassword: ******", "password: secret^Mpassword: ******"],
    ["abc\b\b\bxyz", "abc^H^H^Hxyz"],
    ["\u007f\u0000", "^?^@"],
    ["a\u202etxt.exe", "a<U+202E>txt.exe"],
    ["a\u2066b\u2069", "a<U+2066>b<U+2069>"],
    ["hi\u{e0041}\u{e0042}", "hi<U+E0041><U+E0042>"],
    ["line\r\nline\n\ttab", "line\nline\n\ttab"],
    ["caf\u00e9 \u6f22\u5b57 👩‍👩‍👧", "caf\u00e9 \u6f22\u5b57 👩‍👩‍👧"],
  ])("shows %j as %j", (text, shown) => {
    expect(forTerminal(text)).toBe(shown);
  });

  it("leaves no control character but line feed and tab, whatever the text", () => {
    const any = fc.array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
      ),
    );
    fc.assert(
      fc.property(any, (parts) => {
        const shown = forTerminal(parts.join(""));
        return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(
          shown,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
