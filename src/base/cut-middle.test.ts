import { expect, it } from "vitest";
import { cutMiddle } from "./cut-middle.ts";

it("cuts a text in the middle and leaves no half characters", () => {
  expect(cutMiddle("short", 10)).toBe("short");
  const cut = cutMiddle("🙂".repeat(100), 11);
  expect(cut).toContain("characters left out");
  // With this flag only halves that stand alone match.
  expect(cut).not.toMatch(/[\uD800-\uDFFF]/u);
});
