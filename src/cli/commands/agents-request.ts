/** What every action of `cadre agents` is given, and how all of them speak of agents. */
import { isAbsolute, relative, sep } from "node:path";
import type { World } from "../../base/world.ts";
import type {
  AgentDefinition,
  ListedAgent,
  LoadedAgents,
  PromptContext,
} from "../../contracts/agent-definition.ts";
import type { Settings } from "../../contracts/settings.ts";
import type { CommandIo } from "../command-io.ts";
import type { AgentsValues } from "../options.ts";

export interface AgentsRequest {
  readonly world: World;
  readonly io: CommandIo;
  readonly values: AgentsValues;
  /** Where the command was started: relative paths of options begin here. */
  readonly startFolder: string;
  /** The folder whose agents are meant. */
  readonly cwd: string;
  readonly settings: Settings;
  readonly warnings: readonly string[];
  /** Of the terminal; absent: a pipe. */
  readonly columns: number | undefined;
  /** Absent: nobody can be asked. */
  readonly terminal: TerminalStreams | undefined;
  /** With `toolNames`, other tools are among the repairs. */
  load(toolNames?: ReadonlySet<string>): Promise<LoadedAgents>;
}

export interface TerminalStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** An agent as programs read it. */
export interface AgentJson {
  readonly agentType: string;
  readonly whenToUse: string;
  readonly tools: readonly string[] | null;
  readonly disallowedTools: readonly string[] | null;
  readonly model: string | null;
  readonly source: AgentDefinition["source"];
  readonly file: string | null;
  readonly prompt: string;
  readonly replacedBy: string | null;
}

export function agentJson({ definition, replacedBy }: ListedAgent, context: PromptContext): AgentJson {
  return {
    agentType: definition.agentType,
    whenToUse: definition.whenToUse,
    tools: definition.tools ?? null,
    disallowedTools: definition.disallowedTools ?? null,
    model: definition.model ?? null,
    source: definition.source,
    file: fileOf(definition),
    prompt: promptOf(definition, context),
    replacedBy: replacedBy === undefined ? null : originOf(replacedBy),
  };
}

/** What a flag defines names the flag, which is no file. */
export function fileOf({ file }: AgentDefinition): string | null {
  return file !== undefined && isAbsolute(file) ? file : null;
}

export function promptOf({ prompt }: AgentDefinition, context: PromptContext): string {
  return typeof prompt === "string" ? prompt : prompt(context);
}

/** What a computed prompt is told, as in a session in this folder. */
export function promptContextOf({ cwd }: AgentsRequest, { activeAgents }: LoadedAgents): PromptContext {
  return {
    cwd,
    agents: activeAgents.map(({ agentType, whenToUse, source }) => ({ agentType, whenToUse, source })),
  };
}

/** `project (/p/.cadre/agents/x.md)`. */
export function originOf(
  { source, file }: Pick<AgentDefinition, "source" | "file">,
  show: (path: string) => string = (path) => path,
): string {
  return file === undefined ? source : `${source} (${show(file)})`;
}

/** Relative inside the folder, with `~` inside the home folder. */
export function pathShower({ cwd, world }: Pick<AgentsRequest, "cwd" | "world">): (path: string) => string {
  return (path) => {
    const inside = (folder: string) => {
      const way = relative(folder, path);
      return isAbsolute(path) && way !== "" && way !== ".." && !way.startsWith(`..${sep}`) ? way : undefined;
    };
    const fromHome = inside(world.homeFolder);
    return inside(cwd) ?? (fromHome === undefined ? path : `~${sep}${fromHome}`);
  };
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
