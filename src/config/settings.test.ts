import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { loadSettings, mergeSettings } from "./settings.ts";
import { parseSettings } from "./settings-sources.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cadre-settings-"));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

function load(flag?: string) {
  return loadSettings({ world: { ...createNodeWorld(), homeFolder: home }, cwd: home, flag });
}

function writeUserSettings(text: string): string {
  mkdirSync(join(home, ".cadre"), { recursive: true });
  const path = join(home, ".cadre", "settings.json");
  writeFileSync(path, text);
  return path;
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error("it did not fail");
}

describe("loadSettings", () => {
  it("is empty without any file", async () => {
    expect(await load()).toEqual({ settings: {}, sources: [], warnings: [] });
  });

  it("lets the flag win over the user's file, and adds up lists of rules", async () => {
    const path = writeUserSettings(
      JSON.stringify({
        model: "opus",
        permissions: { allow: ["Read"], deny: ["Bash(rm:*)"] },
        env: { A: "1", N: 2, B: true },
      }),
    );
    const loaded = await load('{"model":"haiku","permissions":{"allow":["Read","Edit"]},"env":{"A":"x"}}');
    expect(loaded.settings).toEqual({
      model: "haiku",
      permissions: { allow: ["Read", "Edit"], deny: ["Bash(rm:*)"] },
      env: { A: "x", N: "2", B: "true" },
    });
    expect(loaded.sources.map((source) => [source.name, source.path])).toEqual([
      ["user", path],
      ["flag", undefined],
    ]);
  });

  it("reads the flag's file relative to where the command was started", async () => {
    writeFileSync(join(home, "mine.json"), '\uFEFF{"model":"sonnet"}');
    expect((await load("mine.json")).settings.model).toBe("sonnet");
  });

  it("names the file, the line and the key of each wrong value", async () => {
    const path = writeUserSettings(
      '{\n  "model": 3,\n  "permissions": {\n    "defaultMode": "bubble"\n  }\n}',
    );
    const failure = await failureOf(load());
    expect(failure.code).toBe("settings-invalid");
    expect(failure.message).toContain(`${path}, line 2: model: expected string`);
    expect(failure.message).toContain(`${path}, line 4: permissions.defaultMode:`);
  });

  it("says where a file stops being JSON", async () => {
    const path = writeUserSettings('{\n  "model": "opus",\n}');
    const failure = await failureOf(load());
    expect(failure.code).toBe("settings-invalid");
    expect(failure.message).toContain(`${path} is not valid JSON (line 3, column 1`);
  });

  it("takes an empty file for a damaged one: rules may have been lost with it", async () => {
    writeUserSettings(" \n");
    expect((await failureOf(load())).message).toContain("is empty");
  });

  it.each(["[]", "null", '"opus"', "7"])("refuses %s in place of an object", async (text) => {
    writeUserSettings(text);
    expect((await failureOf(load())).code).toBe("settings-invalid");
  });

  it("complains about a flag's file that is missing, and about a folder", async () => {
    expect((await failureOf(load("none.json"))).message).toContain("does not exist");
    mkdirSync(join(home, "folder"));
    expect((await failureOf(load("folder"))).message).toContain("it is a folder");
  });

  it.skipIf(process.getuid?.() === 0)("says that a file may not be read", async () => {
    chmodSync(writeUserSettings("{}"), 0o000);
    expect((await failureOf(load())).message).toContain("permission denied");
  });
});

describe("parseSettings", () => {
  it("keeps unknown keys and reports them with their whole name", () => {
    const { settings, warnings } = parseSettings(
      '{"modle":"x","permissions":{"alow":[]},"hooks":{},"$schema":"s"}',
      "f",
    );
    expect(settings.modle).toBe("x");
    expect(warnings).toEqual([
      'f: unknown key "modle" is ignored (misspelt?)',
      'f: unknown key "permissions.alow" is ignored (misspelt?)',
      'f: "hooks" has no effect in this version',
    ]);
  });

  it.each([
    ['{"thinking":"on"}', true],
    ['{"thinking":"off"}', false],
    ['{"thinking":true}', true],
    ['{"thinking":{"budgetTokens":2048}}', { budgetTokens: 2048 }],
  ])("reads %s", (text, expected) => {
    expect(parseSettings(text, "f").settings.thinking).toEqual(expected);
  });

  it.each([
    '{"thinking":"maybe"}',
    '{"maxToolConcurrency":0}',
    '{"compaction":{"at":2}}',
    '{"providers":{"x":{"baseUrl":"file:///etc/passwd"}}}',
    '{"permissions":{"allow":"Read"}}',
    '{"permissions":{"allow":[""]}}',
    '{"env":{"A":{}}}',
  ])("refuses %s", (text) => {
    expect(() => parseSettings(text, "f")).toThrow(/^f, line 1: /);
  });
});

describe("mergeSettings", () => {
  it("does not let a key reach the prototype of objects", () => {
    const hostile = parseSettings('{"__proto__":{"polluted":true},"env":{"__proto__":"x"}}', "f").settings;
    const merged = mergeSettings({}, hostile);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((merged as Record<string, unknown>).polluted).toBeUndefined();
  });
});
