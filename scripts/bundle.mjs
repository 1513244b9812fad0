// How the sources are bundled: for dist/, and by tests that start the command as a process.
import { join } from "node:path";

/** Options for esbuild. */
export function bundleOptions({ root, version }) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20",
    define: { CADRE_VERSION: JSON.stringify(version) },
    // Not minified: it would start no faster, and stacks can be read without source maps.
    legalComments: "none",
    logLevel: "warning",
  };
}

/** The same for what is ES modules. */
export function moduleOptions({ root, version }) {
  return {
    ...bundleOptions({ root, version }),
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    inject: [join(root, "scripts", "global-headers.mjs")],
    // It finds its program next to itself.
    external: ["@vscode/ripgrep"],
  };
}
