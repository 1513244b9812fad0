import { isAbsolute } from "node:path";
import { describe, expect, it } from "vitest";
import { createNodeWorld } from "./node-world.ts";

describe("the folders of the world", () => {
  it.each([{}, { HOME: "" }, { HOME: "relative", TMPDIR: "also/relative" }])(
    "are absolute, also with %j",
    (env) => {
      const world = createNodeWorld({ env });
      expect(isAbsolute(world.homeFolder)).toBe(true);
      expect(isAbsolute(world.tempFolder)).toBe(true);
    },
  );

  it("are those of the environment when it names them", () => {
    const world = createNodeWorld({ env: { HOME: "/home/somebody", TMPDIR: "/var/tmp" } });
    expect(world).toMatchObject({ homeFolder: "/home/somebody", tempFolder: "/var/tmp" });
  });
});
