import { dirname, join } from "node:path";
import { CadreError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { replaceFile } from "../../base/files.ts";
import type { LoadedAgents } from "../../contracts/agent-definition.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { splitRules, UsageError } from "../arguments.ts";
import { readNamedFile } from "../read-prompt.ts";
import { type AgentDraft, problemOfName, renderAgentFile } from "./agent-file.ts";
import { problemOfModel } from "./agent-model.ts";
import { askForAgent } from "./agent-questions.ts";
import { knownToolNames, problemOfTool } from "./agent-tools.ts";
import { type AgentsRequest, agentJson, originOf, pathShower, promptContextOf } from "./agents-request.ts";

/** `cadre agents new`: from options, from a model's draft, or from answers to questions. */
export async function newAgent(request: AgentsRequest, positionalName: string | undefined): Promise<number> {
  const { io, values } = request;
  const given = await readGiven(request, positionalName);
  const drafted =
    values.from === undefined ? given : { ...(await draftFrom(request, values.from)), ...given };
  const toldAll =
    drafted.name !== undefined && drafted.description !== undefined && drafted.prompt !== undefined;
  const asks = request.terminal !== undefined && !values.json && (!toldAll || values.from !== undefined);
  // Nothing more is read after the questions, so Ctrl+C there means: leave.
  const answered = asks
    ? await askForAgent({ request, given: drafted })
    : { draft: whole(drafted), user: values.user };
  if (answered === undefined) return exitCodes.interrupted;
  const { draft, user } = answered;
  const problems = checkDraft(draft, request);

  const home = user ? request.world.homeFolder : request.cwd;
  const file = join(home, ".cadre", "agents", `${draft.name}.md`);
  await writeAgentFile(request, file, {
    text: renderAgentFile(draft),
    force: values.force || answered.replace === true,
  });
  const loaded = await request.load();
  await report({ request, loaded, file, name: draft.name, problems });
  return io.interruption.signal.aborted ? io.interruption.exitCode() : exitCodes.success;
}

async function readGiven(
  request: AgentsRequest,
  positionalName: string | undefined,
): Promise<Partial<AgentDraft>> {
  const { values, world, startFolder } = request;
  if (values.user && values.project) throw new UsageError("--user and --project exclude each other");
  if (values.prompt !== undefined && values["prompt-file"] !== undefined)
    throw new UsageError("--prompt and --prompt-file exclude each other");
  if (positionalName !== undefined && values.name !== undefined && positionalName !== values.name)
    throw new UsageError(`the agent has two names, "${positionalName}" and "${values.name}"`);
  const name = values.name ?? positionalName;
  const nameProblem = name === undefined ? undefined : problemOfName(name);
  if (nameProblem !== undefined) throw new UsageError(nameProblem);
  const path = values["prompt-file"];
  const prompt =
    path === undefined
      ? values.prompt
      : await readNamedFile({ world, folder: startFolder, option: "--prompt-file", path });
  if (prompt !== undefined && prompt.trim() === "")
    throw new UsageError(`${path === undefined ? "--prompt" : path} is empty: an agent needs instructions`);
  if (values.description !== undefined && values.description.trim() === "")
    throw new UsageError("--description is empty: it says when the agent should be used");
  const tools = values.tools === undefined ? undefined : splitRules(values.tools);
  return {
    ...(name !== undefined && { name }),
    ...(values.description !== undefined && { description: values.description.trim() }),
    // All is what leaving it out means.
    ...(tools !== undefined && { tools: tools.includes("*") ? undefined : tools }),
    ...(values.model !== undefined && { model: values.model.trim() }),
    ...(prompt !== undefined && { prompt }),
  };
}

async function draftFrom(request: AgentsRequest, description: string): Promise<AgentDraft> {
  const { world, settings, io } = request;
  io.interruption.listen();
  const { draftAgent } = await import("./agent-draft.ts");
  return await draftAgent({
    world,
    settings,
    description,
    toolNames: [...knownToolNames(request)],
    signal: io.interruption.signal,
    onWait: (reason) => void io.stderr.write(`cadre: waiting for the model: ${reason}\n`),
  });
}

function whole(draft: Partial<AgentDraft>): AgentDraft {
  const { name, description, prompt } = draft;
  if (name !== undefined && description !== undefined && prompt !== undefined)
    return { ...draft, name, description, prompt };
  const missing = [
    ...(name === undefined ? ["--name"] : []),
    ...(description === undefined ? ["--description"] : []),
    ...(prompt === undefined ? ["--prompt or --prompt-file"] : []),
  ];
  throw new UsageError(
    `agents new needs ${missing.join(", ")} (or --from, to have it drafted); in a terminal it asks for what is missing`,
  );
}

/** It is written all the same: a tool may belong to a version or a server that comes later. */
function checkDraft({ tools = [], model, name }: AgentDraft, request: AgentsRequest): string[] {
  const nameProblem = problemOfName(name);
  if (nameProblem !== undefined) throw new UsageError(nameProblem);
  const known = knownToolNames(request);
  const modelProblem = model === undefined ? undefined : problemOfModel(model, request);
  return [
    ...tools.flatMap((tool) => problemOfTool(tool, known) ?? []),
    ...(modelProblem ? [modelProblem] : []),
  ];
}

async function writeAgentFile(
  request: AgentsRequest,
  path: string,
  { text, force }: { text: string; force: boolean },
): Promise<void> {
  const { files, random } = request.world;
  const shown = pathShower(request)(path);
  try {
    await files.makeFolder(dirname(path), { recursive: true });
    const there = await files.lstat(path).catch(() => undefined);
    if (there === undefined) return await files.writeFile(path, text, { exclusive: true });
    if (!force) throw taken(`${shown} exists already: choose another name, or replace it with --force`);
    // A link in a repository can lead anywhere.
    if (there.kind !== "file") throw taken(`${shown} is not a file but a ${there.kind}: remove it first`);
    await replaceFile({ files, random, path, data: text });
  } catch (error) {
    if (error instanceof CadreError) throw error;
    if (systemCodeOf(error) === "EEXIST")
      throw taken(`${shown} exists already, or a part of the way is no folder`);
    throw new CadreError({
      code: "agent-unwritable",
      message: `${shown} cannot be written: ${messageOf(error)}`,
      cause: error,
    });
  }
}

function taken(message: string): CadreError {
  return new CadreError({ code: "agent-exists", message });
}

async function report(options: {
  request: AgentsRequest;
  loaded: LoadedAgents;
  file: string;
  name: string;
  problems: readonly string[];
}): Promise<void> {
  const { request, loaded, file, name, problems } = options;
  const { io, values } = request;
  const show = pathShower(request);
  const listed = loaded.allAgents.find(({ definition }) => definition.file === file);
  const replaces = loaded.allAgents.filter(
    ({ definition, replacedBy }) => definition.agentType === name && replacedBy?.file === file,
  );
  const failed = loaded.failedFiles.find((each) => each.file === file);
  const warnings = [
    ...problems,
    ...(failed === undefined ? [] : [`it could not be loaded (line ${failed.line}): ${failed.reason}`]),
    ...(listed?.replacedBy === undefined
      ? []
      : [`it is not used here: ${originOf(listed.replacedBy, show)} has the same name and wins`]),
  ];
  if (values.json) {
    const agent = listed === undefined ? null : agentJson(listed, promptContextOf(request, loaded));
    const shown = { file, agent, replaces: replaces.map(({ definition }) => originOf(definition)), warnings };
    await io.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  await io.stdout.write(`${show(file)}\n`);
  for (const { definition } of replaces)
    await io.stderr.write(`cadre: it replaces ${name} of ${originOf(definition, show)}\n`);
  for (const warning of warnings) await io.stderr.write(`cadre: warning: ${warning}\n`);
}
