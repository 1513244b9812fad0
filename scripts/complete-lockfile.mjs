// `npm run lock`: run it after every change of dependencies.
// A registry mirror may lack binaries for platforms that nobody behind it uses. npm then leaves them out of
// the lockfile without a word, and `npm ci` refuses that lockfile everywhere. This adds what is missing:
// the parents pin the exact versions, and the names tell the platforms.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const systems = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
];
const processors = [
  "arm",
  "arm64",
  "ia32",
  "loong64",
  "mips64el",
  "ppc64",
  "riscv64",
  "s390x",
  "wasm32",
  "x64",
];

export function completeLockfile(lockfile) {
  const packages = { ...lockfile.packages };
  for (const parent of Object.values(lockfile.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      packages[`node_modules/${name}`] ??= entryOf(name, version, parent);
    }
  }
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...lockfile, packages: sorted };
}

function entryOf(name, version, parent) {
  const words = name.split("/").at(-1).split("-");
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  if (!/^\d/.test(version) || cpu.length !== 1 || (os.length !== 1 && cpu[0] !== "wasm32")) {
    throw new Error(`package-lock.json lacks ${name}@${version}, and it is not a binary for one platform.`);
  }
  return {
    version,
    cpu,
    ...(parent.dev && { dev: true }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  const lockfile = JSON.parse(readFileSync(path, "utf8"));
  const complete = completeLockfile(lockfile);
  const added = Object.keys(complete.packages).length - Object.keys(lockfile.packages).length;
  writeFileSync(path, `${JSON.stringify(complete, null, 2)}\n`);
  console.log(`package-lock.json: ${added} added`);
}
