/** Files that people wrote. They are not part of this repository; without them there is nothing to test. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { splitList } from "../config/frontmatter-list.ts";
import { readPlainLines } from "../config/frontmatter-plain.ts";
import { readYaml } from "../config/frontmatter-yaml.ts";
import { createAgentFileReader, parseAgentFile } from "./parse-definition.ts";

const corpus = fileURLToPath(new URL("../../../shared/corpora/", import.meta.url));
const index = existsSync(`${corpus}index.jsonl`) ? readFileSync(`${corpus}index.jsonl`, "utf8") : "";
const known = index
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as { id: string; kind: string; strict_yaml_ok: boolean | null });
const agents = known.filter(({ kind }) => kind === "agent");
const texts = known.filter(({ id }) => id.endsWith(".md"));

const contentOf = ({ id }: { id: string }) => readFileSync(corpus + id);
const asPlugin = { name: "p", trusted: false, folders: [], defaultName: "file" };

describe.skipIf(agents.length === 0)("public agent files", () => {
  it("load, or fail for want of a name or a description", async () => {
    for (const file of agents) {
      const { definition, failure } = await parseAgentFile(contentOf(file), {
        source: "user",
        file: file.id,
      });
      if (definition === undefined)
        expect(failure?.what, file.id).toMatch(/it has no `(?:name|description)`/);
    }
  });

  it("all load as those of a plugin", async () => {
    for (const file of agents) {
      const origin = { source: "plugin" as const, file: file.id, plugin: asPlugin };
      const { definition } = await parseAgentFile(contentOf(file), origin);
      expect(definition?.prompt, file.id).not.toBe("");
    }
  });

  it("that are strict YAML mean what it says", async () => {
    for (const file of agents.filter(({ strict_yaml_ok }) => strict_yaml_ok)) {
      const text = contentOf(file)
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .replaceAll("\r\n", "\n");
      const [, block, body] = /^\s*---[ \t]*\n([\s\S]*?\n)---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
      const said = parse(block ?? "") as Record<string, unknown>;
      const { definition } = await parseAgentFile(text, { source: "user", file: file.id });
      if (definition === undefined) continue;
      expect(definition.prompt, file.id).toBe((body ?? "").trim());
      expect(definition.agentType, file.id).toBe(said.name);
      expect(definition.model, file.id).toBe(said.model);
      const description = String(said.description).trim();
      expect([description, description.replaceAll("\\n", "\n")], file.id).toContain(definition.whenToUse);
      const tools = said.tools ?? said["allowed-tools"] ?? said.allowedTools;
      const names = tools === undefined || tools === "*" ? undefined : splitList([tools].flat().join(","));
      expect(definition.tools, file.id).toEqual(names);
    }
  });

  it("that are not lose no line of their description", async () => {
    for (const file of agents.filter(({ strict_yaml_ok }) => strict_yaml_ok === false)) {
      const { definition } = await parseAgentFile(contentOf(file), { source: "user", file: file.id });
      const [, first] = /^description: *(.{10,60})/m.exec(contentOf(file).toString("utf8")) ?? [];
      expect(definition?.whenToUse, file.id).toContain(first);
    }
  });
});

describe.skipIf(texts.length === 0)("public files of all kinds", () => {
  it("are read without an error, and plain ones mean what YAML says", async () => {
    const reader = createAgentFileReader();
    let plainOnes = 0;
    for (const file of texts) {
      const { body } = await reader.read(contentOf(file));
      const text = contentOf(file).toString("utf8").replaceAll("\r\n", "\n");
      expect(text.endsWith(body), file.id).toBe(true);
      const block = { text: /^---\n([\s\S]*?\n)---\n/.exec(text)?.[1] ?? "", firstLine: 2 };
      const plain = readPlainLines(block);
      if (plain === undefined || plain.fields.size === 0) continue;
      plainOnes++;
      expect(plain, file.id).toEqual(readYaml(block));
    }
    expect(plainOnes).toBeGreaterThan(texts.length / 4);
  });
});
