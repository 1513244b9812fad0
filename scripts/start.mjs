// `npm start -- ...`: sets up what is missing, then becomes cadre.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { orExplain, prepare, root } from "./setup.mjs";

await orExplain(prepare);

// In this very process: a child would get Ctrl-C twice, once from the terminal and once passed on.
const program = join(root, "dist", "cli.cjs");
process.argv[1] = program;
await import(pathToFileURL(program).href);
