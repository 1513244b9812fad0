/**
 * cli/ owns the command line: arguments, signals, exit codes. Everything it does is done through the
 * runtime and a surface. This file must import nothing but the version, so that `--version` costs no more
 * than starting Node; for the same reason it is built as a CommonJS file (docs/decisions/002).
 */
import { version } from "./version.ts";

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  process.stdout.write(`${version} (Cadre)\n`);
} else {
  import("./command-line.ts").then(
    ({ runCommandLine }) => runCommandLine(argv, version),
    (error: Error) => {
      process.stderr.write(`cadre: a part of the program is missing; install it again: ${error.message}\n`);
      process.exitCode = 1;
    },
  );
}
