// `npm run check`: everything that CI does, and the static checks besides. All of it runs, then the verdict.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { orExplain, prepare, root } from "./setup.mjs";

const node = process.execPath;
const bin = (path) => join(root, "node_modules", path);

await orExplain(prepare);

const quick = await Promise.all([
  inBackground("format and lint", bin("@biomejs/biome/bin/biome"), ["check", "--error-on-warnings", "."]),
  inBackground("types", bin("typescript/bin/tsc"), ["--noEmit", "-p", "."]),
  inBackground("promises", bin("oxlint/bin/oxlint"), ["--type-aware", "--deny-warnings", "src", "test"]),
]);
const slow = [
  inForeground("build with declarations", join(root, "scripts/build.mjs"), ["--types"]),
  inForeground("tests", join(root, "scripts/test.mjs"), []),
];

const steps = [...quick, ...slow];
for (const { name, ok } of steps) console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
process.exitCode = steps.every(({ ok }) => ok) ? 0 : 1;

/** Its output is shown when it ends, and only if it failed. */
function inBackground(name, script, args) {
  return new Promise((resolve) => {
    const child = spawn(node, [script, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.once("close", (code) => {
      if (code !== 0) console.log(`\n== ${name}\n${output}`);
      resolve({ name, ok: code === 0 });
    });
  });
}

function inForeground(name, script, args) {
  console.log(`\n== ${name}`);
  return { name, ok: spawnSync(node, [script, ...args], { cwd: root, stdio: "inherit" }).status === 0 };
}
