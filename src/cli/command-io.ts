import type { Sink } from "../surfaces/headless/sink.ts";
import type { ProcessInterruption } from "./interruption.ts";

/** What a command is given of the process. */
export interface CommandIo {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly interruption: ProcessInterruption;
  readonly version: string;
}
