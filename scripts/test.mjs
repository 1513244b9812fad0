// `npm test [-- vitest arguments]`: sets up what is missing and runs all tests. `--prove` runs the long
// proofs in full. The last line of stdout holds the counts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orExplain, prepare, root } from "./setup.mjs";
import { prepareSystemTools } from "./system-tools.mjs";

await orExplain(() => {
  prepare();
  prepareSystemTools();
});

const folder = mkdtempSync(join(tmpdir(), "cadre-test-"));
const countsPath = join(folder, "counts.json");
const args = process.argv.slice(2).filter((argument) => argument !== "--prove");
const prove = args.length < process.argv.length - 2;
const result = runVitest();
const { passed, failed, skipped } = readCounts(result.status);
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;

function runVitest() {
  const reporters = ["--reporter=default", `--reporter=${join(root, "scripts", "count-reporter.mjs")}`];
  return spawnSync(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "run", ...reporters, ...args],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, CADRE_TEST_COUNTS: countsPath, ...(prove && { CADRE_PROVE: "full" }) },
    },
  );
}

/** A run that failed counts at least one failure, also if it broke before any test did. */
function readCounts(status) {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    counts = JSON.parse(readFileSync(countsPath, "utf8"));
  } catch {
    // Vitest ended before it could report.
  }
  return status === 0 ? counts : { ...counts, failed: Math.max(1, counts.failed) };
}
