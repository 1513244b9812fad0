#!/usr/bin/env node
// `node bench/permissions.mjs`: how many calls a second the permission engine judges, one after the other.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), "cadre-bench-"));
try {
  const { createPermissionEngine, createNodeWorld } = await load();
  const project = join(scratch, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "src", "a.ts"), "");
  const { files } = createNodeWorld();
  const engine = createPermissionEngine({
    files,
    homeFolder: scratch,
    platform: process.platform,
    rules: rules(),
  });
  const folder = { root: project, roots: [project], current: project };
  for (const [name, calls] of Object.entries(workloads())) {
    const judge = async (count) => {
      for (let at = 0; at < count; at += 1) {
        const [toolName, input] = calls[at % calls.length];
        await engine.decide({ toolName, aliases: [], input, isReadOnly: false, mode: "default", folder });
      }
    };
    await judge(500);
    const count = 5000;
    const startedAt = performance.now();
    await judge(count);
    const perSecond = Math.round((count / (performance.now() - startedAt)) * 1000);
    console.log(`${name.padEnd(24)} ${String(perSecond).padStart(8)} decisions/s`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function load() {
  const outfile = join(scratch, "engine.mjs");
  await build({
    stdin: {
      contents: `export * from "./src/permissions/engine.ts"; export * from "./src/base/world/node-world.ts";`,
      resolveDir: root,
    },
    absWorkingDir: root,
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  return await import(pathToFileURL(outfile).href);
}

function rules() {
  const allow = Array.from({ length: 40 }, (_, index) => `Bash(tool-${index} run:*)`);
  return [
    {
      source: "user",
      allow: [...allow, "Bash(npm test:*)", "Edit(./src/**)"],
      deny: ["Bash(rm:*)", "Read(./.env)"],
    },
    {
      source: "project",
      allow: ["Bash(git diff:*)"],
      ask: ["Bash(git push:*)"],
      deny: ["Edit(./secrets/**)"],
    },
  ];
}

function workloads() {
  const shell = [
    "ls -la src",
    "npm test",
    "git diff HEAD",
    "cd src && cat a.ts | head",
    "npm test && git push",
    "timeout 5 rm x",
    "echo $(id) > out",
  ].map((command) => ["Bash", { command }]);
  const paths = ["src/a.ts", "src/new.ts", "../x", ".env"].flatMap((file_path) => [
    ["Read", { file_path }],
    ["Edit", { file_path }],
  ]);
  return {
    "shell commands": shell,
    "file tools": paths,
    mixed: [...shell, ...paths, ["WebFetch", { url: "https://a.b" }]],
  };
}
