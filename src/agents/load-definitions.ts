/** The agents there are, from everywhere (AD-5, AD-6). */
import { basename } from "node:path";
import type { World } from "../base/world.ts";
import {
  type AgentDefinition,
  type AgentSource,
  agentSources,
  type LoadedAgents,
} from "../contracts/agent-definition.ts";
import { agentFolders, type FoundFile, listAgentFiles } from "./definition-folders.ts";
import { createFileMemory, type FileMemory } from "./file-memory.ts";
import { mapBounded } from "./map-bounded.ts";
import { mergeDefinitions } from "./merge-definitions.ts";
import type { DefinitionOrigin, ParsedDefinition } from "./parse-definition.ts";
import { findPluginFiles, type Manifest } from "./plugin-agents.ts";

export interface AgentLoader {
  /** What is there now. Everybody who asks at one moment shares one look at the folders; only what changed is read again. */
  load(): Promise<LoadedAgents>;
}

export interface AgentLoaderOptions {
  /** With a clock, also a change within the same moment as the last look is seen. */
  readonly world: Pick<World, "files" | "homeFolder"> & Partial<Pick<World, "clock">>;
  readonly cwd: string;
  readonly builtIn: readonly AgentDefinition[];
  /** `agents` of the settings, by source, lowest first; `file` for messages. */
  readonly settings?: readonly {
    readonly source: AgentSource;
    readonly file: string;
    readonly agents: Readonly<Record<string, unknown>>;
  }[];
  /** From --agents. */
  readonly flag?: Readonly<Record<string, unknown>>;
  /** Given by a program; they count as flag. */
  readonly library?: readonly AgentDefinition[];
  readonly plugins?: readonly { readonly folder: string; readonly trusted: boolean }[];
  /** Of the managed policy: its `agents/` folder is read, and those win. */
  readonly policyFolder?: string;
  /** Names of all tools there are: others are reported. */
  readonly toolNames?: ReadonlySet<string>;
}

const filesAtOnce = 32;

export function createAgentLoader(options: AgentLoaderOptions): AgentLoader {
  const { world, toolNames } = options;
  const memory: FileMemory<ParsedDefinition> = createFileMemory(world);
  const manifests: FileMemory<Manifest> = createFileMemory(world);
  let parser: Promise<(bytes: Uint8Array, origin: DefinitionOrigin) => Promise<ParsedDefinition>> | undefined;
  let fixed: FixedDefinitions | undefined;
  let last: { parsed: readonly ParsedDefinition[]; problems: string; loaded: LoadedAgents } | undefined;

  const readFiles = (
    found: readonly FoundFile[],
    originOf: (file: FoundFile) => DefinitionOrigin,
  ): Promise<ParsedDefinition[]> =>
    mapBounded(found, filesAtOnce, (file) => {
      const origin = originOf(file);
      const { source, plugin } = origin;
      return memory.get({
        path: file.path,
        variant: plugin === undefined ? source : JSON.stringify(plugin),
        async make(content) {
          if ("reason" in content) return failed(file.path, content.reason);
          // A folder without agents, as most are, does without all that reads them.
          parser ??= loadParser();
          return (await parser)(content.bytes, origin);
        },
      });
    }).then((parsed) => parsed.filter((one) => one !== undefined));

  const readPlugins = async (problems: Problem[]): Promise<ParsedDefinition[]> => {
    const parsed: ParsedDefinition[] = [];
    for (const { folder, trusted } of options.plugins ?? []) {
      const {
        name,
        found,
        problems: ofPlugin,
      } = await findPluginFiles({ files: world.files, folder, manifests });
      problems.push(...ofPlugin);
      if (name === undefined) continue;
      const originOf = ({ path, folders }: FoundFile): DefinitionOrigin => ({
        source: "plugin",
        file: path,
        plugin: { name, trusted, folders, defaultName: basename(path).replace(/\.md$/i, "") },
        ...(toolNames && { toolNames }),
      });
      parsed.push(...(await readFiles(inOrder(found), originOf)));
    }
    return parsed;
  };

  const readFolders = async (problems: Problem[]): Promise<SourcedDefinitions> => {
    const bySource: SourcedDefinitions = new Map();
    const visited = new Set<string>();
    for (const { source, path } of await agentFolders(options)) {
      const listing = await listAgentFiles({ files: world.files, path, visited });
      problems.push(...listing.problems);
      const originOf = (file: FoundFile): DefinitionOrigin => ({
        source,
        file: file.path,
        ...(toolNames && { toolNames }),
      });
      addTo(bySource, source, await readFiles(inOrder(listing.found), originOf));
    }
    return bySource;
  };

  const look = async (): Promise<LoadedAgents> => {
    fixed ??= await readFixed(options);
    const problems: Problem[] = [];
    const ofPlugins = await readPlugins(problems);
    const ofFolders = await readFolders(problems);
    memory.forgetUnused();
    manifests.forgetUnused();
    const parsed = agentSources.flatMap((source) => [
      ...(fixed?.get(source) ?? []),
      ...(source === "plugin" ? ofPlugins : (ofFolders.get(source) ?? [])),
    ]);
    const told = JSON.stringify(problems);
    if (last === undefined || last.problems !== told || !isSame(last.parsed, parsed)) {
      const failures = problems.map(({ path, reason }) => failed(path, reason));
      last = { parsed, problems: told, loaded: mergeDefinitions([...parsed, ...failures]) };
    }
    return last.loaded;
  };

  return { load: shareLooks(look) };
}

interface Problem {
  readonly path: string;
  readonly reason: string;
}

type SourcedDefinitions = Map<AgentSource, ParsedDefinition[]>;
type FixedDefinitions = ReadonlyMap<AgentSource, readonly ParsedDefinition[]>;

async function loadParser() {
  const { createAgentFileReader, parseAgentFile } = await import("./parse-definition.ts");
  const reader = createAgentFileReader();
  return (bytes: Uint8Array, origin: DefinitionOrigin) => parseAgentFile(bytes, origin, reader);
}

/** What does not change while the program runs. In each source it is weaker than the files. */
async function readFixed(options: AgentLoaderOptions): Promise<FixedDefinitions> {
  const { toolNames } = options;
  const bySource: SourcedDefinitions = new Map();
  const ready = (definition: AgentDefinition) => ({ file: definition.file ?? "", definition, repairs: [] });
  addTo(bySource, "built-in", options.builtIn.map(ready));
  const flag = { source: "flag" as const, file: "--agents", agents: options.flag ?? {} };
  for (const { source, file, agents } of [...(options.settings ?? []), flag]) {
    const origin = { source, file, ...(toolNames && { toolNames }) };
    const entries = Object.entries(agents);
    if (entries.length === 0) continue;
    const { parseJsonDefinition } = await import("./parse-definition.ts");
    addTo(
      bySource,
      source,
      entries.map(([name, entry]) => parseJsonDefinition(name, entry, origin)),
    );
  }
  const library = (options.library ?? []).map((definition) => ready({ ...definition, source: "flag" }));
  addTo(bySource, "flag", library);
  return bySource;
}

function addTo(bySource: SourcedDefinitions, source: AgentSource, parsed: readonly ParsedDefinition[]): void {
  const before = bySource.get(source);
  if (before === undefined) bySource.set(source, [...parsed]);
  else before.push(...parsed);
}

/** Of two files with one name in one folder, the one that lies less deep counts, then the first by its path. */
function inOrder(found: readonly FoundFile[]): FoundFile[] {
  return found.toSorted((a, b) => b.folders.length - a.folders.length || (a.path < b.path ? 1 : -1));
}

function failed(file: string, what: string): ParsedDefinition {
  return { file, failure: { line: 1, what }, repairs: [] };
}

function isSame<T>(before: readonly T[], now: readonly T[]): boolean {
  return before.length === now.length && before.every((one, index) => one === now[index]);
}

/**
 * One look at a time. Who asks while one goes on gets the next: what it has passed already may have changed
 * since, and who has just written a file must see it.
 */
function shareLooks<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  return () => {
    if (waiting === undefined) {
      waiting = running.then(() => {
        waiting = undefined;
        return look();
      });
      running = waiting.catch(() => {});
    }
    return waiting;
  };
}
