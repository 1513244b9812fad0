// What a build depends on, as one short text: equal texts mean that a build would give the same.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** In dist/. What begins with a dot there is not packed. */
export const stampName = ".build.json";

export function fingerprintSources(root) {
  const hash = createHash("sha256");
  const scripts = ["build", "bundle", "global-headers", "parts", "third-party"].map(
    (name) => `scripts/${name}.mjs`,
  );
  const others = ["package.json", "package-lock.json", ...scripts];
  for (const path of [...sourcePaths(root), ...others]) {
    const { size, mtimeMs } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function sourcePaths(root) {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

export function readBuildStamp(root) {
  try {
    return JSON.parse(readFileSync(join(root, "dist", stampName), "utf8")).sources;
  } catch {
    return undefined;
  }
}
