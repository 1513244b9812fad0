import { exitCodes } from "../surfaces/headless/exit-code.ts";
import type { Interruption } from "../surfaces/headless/run-headless.ts";

export interface ProcessInterruption extends Interruption {
  /** Asks the run to end, for a reason that has its own exit code. Only the first counts. */
  request(exitCode: number): void;
  /** From now on signals ask first and kill second. */
  listen(): void;
}

/** The first signal lets the run end cleanly; a second one ends the process there and then. */
export function createInterruption(): ProcessInterruption {
  const controller = new AbortController();
  let exitCode: number = exitCodes.interrupted;
  const request = (code: number) => {
    if (controller.signal.aborted) return;
    exitCode = code;
    controller.abort();
  };
  const onSignal = (code: number) => () => {
    if (controller.signal.aborted) process.exit(code);
    request(code);
  };
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    request,
    listen() {
      process.on("SIGINT", onSignal(exitCodes.interrupted));
      process.on("SIGTERM", onSignal(exitCodes.terminated));
      process.on("SIGHUP", onSignal(exitCodes.terminated));
    },
  };
}
