import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../src/${path}`, import.meta.url)), "utf8");

/** The names in the braces of statements that begin with `keyword`. */
function namesOf(source: string, keyword: "import" | "export"): string[] {
  const statements = source.matchAll(new RegExp(`^${keyword} (?:type )?\\{([^}]*)\\}`, "gm"));
  return [...statements].flatMap(([, names = ""]) =>
    names
      .split(",")
      .map((name) => name.replace(/^\s*type\s/, "").trim())
      .filter((name) => name !== ""),
  );
}

describe("the library", () => {
  it.each(["runtime/session.ts", "contracts/task.ts", "contracts/event.ts", "commands/run-forked.ts"])(
    "has a name for everything that whoever uses a session meets in %s",
    (path) => {
      const exported = new Set(namesOf(read("index.ts"), "export"));
      const source = read(path);
      const declared = [...source.matchAll(/^export (?:interface|type|function) (\w+)/gm)].map(
        ([, name]) => name,
      );
      const met = path === "runtime/session.ts" ? [...namesOf(source, "import"), ...declared] : declared;
      const own = path === "commands/run-forked.ts" ? ["ForkedCommand", "ForkedCommandEnd"] : met;
      expect(own.length).toBeGreaterThan(1);
      expect(own.filter((name) => name !== undefined && !exported.has(name))).toEqual([]);
    },
  );
});
