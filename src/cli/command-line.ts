import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import { createRedactor, namedSecrets, type Redactor } from "../base/secrets.ts";
import { createStandardOutput } from "../base/world/node-output.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import { exitCodeOfError, exitCodes } from "../surfaces/headless/exit-code.ts";
import { createSink } from "../surfaces/headless/sink.ts";
import { parseArguments, UsageError } from "./arguments.ts";
import type { CommandIo } from "./command-io.ts";
import { helpText, helpTopics } from "./help.ts";
import { createInterruption } from "./interruption.ts";
import {
  agentsOptions,
  doctorOptions,
  permissionsOptions,
  runOptions,
  sessionsOptions,
  tasksOptions,
} from "./options.ts";

/** Runs one command line and ends the process, after everything written has left it. */
export async function runCommandLine(argv: readonly string[], version: string): Promise<never> {
  const interruption = createInterruption();
  let outputError: Error | undefined;
  const io: CommandIo = {
    stdout: createSink(createStandardOutput(), {
      onBroken(error) {
        outputError = error;
        interruption.request(isReaderGone(error) ? exitCodes.readerGone : exitCodes.failed);
      },
    }),
    stderr: createSink(process.stderr, { clean: withoutSecrets() }),
    interruption,
    version,
  };
  const failed = (error: unknown) => explain(error, { io, argv });
  // A bug in something that nobody waits for must not end in a stack trace.
  process.on("uncaughtException", (error) => void failed(error).then((code) => process.exit(code)));
  let code = await dispatch(argv, io).catch(failed);
  await io.stdout.flush();
  if (outputError !== undefined) code = await explainOutput(outputError, { io, code });
  await io.stderr.flush();
  // Open sockets and a waiting standard input must not keep a finished command alive.
  process.exit(code);
}

/** The output is what the command is for: without it, a run that went well has not. */
async function explainOutput(error: Error, { io, code }: { io: CommandIo; code: number }): Promise<number> {
  if (isReaderGone(error)) return code === exitCodes.success ? exitCodes.readerGone : code;
  await io.stderr.write(`cadre: standard output could not be written: ${error.message}\n`);
  return code === exitCodes.success ? exitCodes.failed : code;
}

/** As with any other command in a pipe, or in a terminal that was closed. */
function isReaderGone(error: Error): boolean {
  return ["EPIPE", "EIO", "ECONNRESET"].includes(systemCodeOf(error) ?? "");
}

/** Errors, warnings and logs: no secret may be among them, whatever they quote. */
function withoutSecrets(): (text: string) => string {
  let redactor: Redactor | undefined;
  return (text) => {
    redactor ??= createRedactor(namedSecrets(createNodeWorld().env));
    return redactor.redactLog(text);
  };
}

async function dispatch(argv: readonly string[], io: CommandIo): Promise<number> {
  if (argv[0] === "help") return await showHelp(argv.slice(1), io);
  if (argv[0] === "doctor") {
    const { values, positionals } = parseArguments(doctorOptions, argv.slice(1));
    if (values.help) return await print(helpText("doctor"), io);
    if (positionals.length > 0) throw new UsageError(`doctor takes no argument, but got "${positionals[0]}"`);
    const { runDoctor } = await import("./commands/doctor.ts");
    return await runDoctor(values, io);
  }
  if (argv[0] === "permissions") {
    const { values, positionals } = parseArguments(permissionsOptions, argv.slice(1));
    if (values.help) return await print(helpText("permissions"), io);
    const { runPermissions } = await import("./commands/permissions.ts");
    return await runPermissions({ values, positionals, io });
  }
  if (argv[0] === "sessions") {
    const { values, positionals } = parseArguments(sessionsOptions, argv.slice(1));
    if (values.help) return await print(helpText("sessions"), io);
    const { runSessions } = await import("./commands/sessions.ts");
    return await runSessions({ values, positionals, io });
  }
  if (argv[0] === "agents") {
    const { values, positionals } = parseArguments(agentsOptions, argv.slice(1));
    if (values.help) return await print(helpText("agents"), io);
    const { runAgents } = await import("./commands/agents.ts");
    return await runAgents({ values, positionals, io });
  }
  if (argv[0] === "tasks") {
    const { values, positionals } = parseArguments(tasksOptions, argv.slice(1));
    if (values.help) return await print(helpText("tasks"), io);
    const { runTasks } = await import("./commands/tasks.ts");
    return await runTasks({ values, positionals, io });
  }
  const { values, positionals } = parseArguments(runOptions, argv);
  if (values.help) return await print(helpText(), io);
  if (values.version) return await print(`${io.version} (Cadre)\n`, io);
  const { runPrompt } = await import("./commands/run.ts");
  return await runPrompt({ values, positionals, io });
}

async function showHelp(topics: readonly string[], io: CommandIo): Promise<number> {
  const topic = helpTopics.find((each) => each === topics[0]);
  const asksForMain = topics.length === 0 || topics[0] === "--help" || topics[0] === "-h";
  if (topic === undefined && !asksForMain)
    throw new UsageError(`there is no command "${topics[0]}"; commands: ${helpTopics.join(", ")}`);
  return await print(helpText(topic), io);
}

async function print(text: string, io: CommandIo): Promise<number> {
  await io.stdout.write(text);
  return exitCodes.success;
}

async function explain(
  error: unknown,
  { io, argv }: { io: CommandIo; argv: readonly string[] },
): Promise<number> {
  const { stderr } = io;
  if (error instanceof UsageError) {
    const topic = helpTopics.find((each) => each === argv[0]);
    const command = topic === undefined ? "cadre" : `cadre ${topic}`;
    await stderr.write(`cadre: ${error.message}\nTry "${command} --help".\n`);
    return exitCodes.usage;
  }
  if (error instanceof CadreError) {
    await stderr.write(`cadre: ${error.message}\n`);
    return exitCodeOfError(error);
  }
  const details =
    error instanceof Error && argv.includes("--debug") ? `\n${error.stack}` : " (--debug shows where)";
  await stderr.write(`cadre: unexpected error, please report it: ${messageOf(error)}${details}\n`);
  return exitCodes.failed;
}
