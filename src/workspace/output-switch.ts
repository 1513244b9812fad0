import { messageOf } from "../base/errors.ts";
import type { OutputFile, OutputSink } from "./output-file.ts";

/** Leads the output of a command elsewhere while it runs: nothing is lost or repeated. */
export interface OutputSwitch extends OutputSink {
  /** What was written so far goes there as well, first. Once. Never rejects. */
  leadTo(next: { add(chunk: Uint8Array): void }): Promise<void>;
}

/** Without a file to begin with, the command is held back until its output is led somewhere. */
export function createOutputSwitch(file?: OutputFile): OutputSwitch {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let target: OutputSink | undefined = file;
  let next: Parameters<OutputSwitch["leadTo"]>[0] | undefined;
  /** One write at a time: each is waited for. */
  let last: Promise<void> = Promise.resolve();

  async function writeBehindGate(chunk: Uint8Array): Promise<void> {
    await gate;
    next?.add(chunk);
  }

  return {
    write(chunk) {
      last = target?.write(chunk) ?? writeBehindGate(chunk);
      return last;
    },
    async leadTo(sink) {
      const before = last;
      next = sink;
      target = undefined;
      if (file !== undefined) {
        await before;
        await copy(file, sink);
      }
      open();
    },
  };
}

async function copy(file: OutputFile, sink: { add(chunk: Uint8Array): void }): Promise<void> {
  try {
    for await (const piece of file.takeBack()) sink.add(piece);
  } catch (error) {
    sink.add(Buffer.from(`[What it had written before is missing here: ${messageOf(error)}]\n`));
  }
}
