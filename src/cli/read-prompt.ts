import { resolve } from "node:path";
import { messageOf } from "../base/errors.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { Clock, World } from "../base/world.ts";
import { UsageError } from "./arguments.ts";

type Stdin = NodeJS.ReadableStream & { isTTY?: boolean };

/** How long a prompt that was given waits for more on a pipe that says nothing. */
const patienceMs = 3_000;

/** The prompt from its argument or file, then what was piped in. */
export async function readPrompt(options: {
  positionals: readonly string[];
  promptFile: string | undefined;
  stdin: Stdin;
  /** Where relative paths start. */
  folder: string;
  world: World;
  warn: (message: string) => Promise<void>;
}): Promise<string> {
  const { positionals, promptFile, stdin, world } = options;
  const given =
    promptFile === undefined
      ? singlePrompt(positionals)
      : await readPromptFile({ ...options, promptFile, positionals });
  const piped =
    stdin.isTTY === true ? "" : await readPiped({ stdin, clock: world.clock, hurry: given !== "" });
  if (piped === undefined)
    await options.warn(
      `nothing came on standard input within ${patienceMs / 1000} s; going on without it (add < /dev/null to say that there is none)`,
    );
  // Beside a prompt, what is piped in is material, not the user's words.
  const material = given === "" ? piped : neutralizeTags(piped ?? "");
  const prompt = [given, material?.replace(/[\r\n]+$/, "") ?? ""]
    .filter((part) => part.trim() !== "")
    .join("\n\n");
  if (prompt === "")
    throw new UsageError("no prompt: give it as an argument, with --prompt-file, or on standard input");
  return prompt;
}

export function singlePrompt(positionals: readonly string[]): string {
  if (positionals.length > 1)
    throw new UsageError(
      `more than one prompt ("${positionals[0]}", "${positionals[1]}"): put the prompt in quotes`,
    );
  return positionals[0] ?? "";
}

async function readPromptFile(options: {
  positionals: readonly string[];
  promptFile: string;
  folder: string;
  world: World;
}): Promise<string> {
  if (options.positionals.length > 0)
    throw new UsageError("the prompt is given twice: as an argument and with --prompt-file");
  return await readNamedFile({ ...options, option: "--prompt-file", path: options.promptFile });
}

/** The text of a file that an option names. */
export async function readNamedFile(options: {
  world: World;
  folder: string;
  option: string;
  path: string;
}): Promise<string> {
  const path = resolve(options.folder, options.path);
  try {
    return (await options.world.files.readText(path)).replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`${options.option}: cannot read ${path}: ${messageOf(error)}`);
  }
}

/** Undefined if it was given up: a pipe that someone left open without ever writing to it. */
async function readPiped(options: {
  stdin: Stdin;
  clock: Clock;
  hurry: boolean;
}): Promise<string | undefined> {
  const { stdin, clock } = options;
  const pieces: Uint8Array[] = [];
  return await new Promise((resolve, reject) => {
    const giveUp = () => {
      stdin.pause();
      resolve(undefined);
    };
    const timer = options.hurry ? clock.setTimer(patienceMs, giveUp, { unref: true }) : undefined;
    stdin.on("data", (piece: Uint8Array | string) => {
      timer?.cancel();
      pieces.push(Buffer.from(piece));
    });
    stdin.on("end", () => {
      timer?.cancel();
      resolve(
        Buffer.concat(pieces)
          .toString("utf8")
          .replace(/^\uFEFF/, ""),
      );
    });
    stdin.on("error", (error: Error) => {
      timer?.cancel();
      reject(new UsageError(`cannot read standard input: ${error.message}`));
    });
  });
}
