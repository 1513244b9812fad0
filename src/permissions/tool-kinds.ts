/** What the engine knows about tools: which touch nothing, which name a path, which reach the network. */

/** They touch nothing but the session, and never ask unless a rule says so. */
const sessionTools = new Set(
  `TodoWrite AskUserQuestion EnterPlanMode ExitPlanMode StructuredOutput Agent SendMessage TaskOutput TaskStop
  TaskCreate TaskGet TaskList TaskUpdate Skill SlashCommand TeamCreate TeamDelete BashOutput KillShell
  ToolSearch`.split(/\s+/),
);

export function touchesOnlySession(toolName: string): boolean {
  return sessionTools.has(toolName);
}

export interface FileTool {
  readonly access: "read" | "write";
  /** The paths that the input names; undefined when it names none, or in a way that is not understood. */
  readonly pathsOf: (input: Readonly<Record<string, unknown>>) => readonly string[] | undefined;
}

const namedFile: FileTool["pathsOf"] = (input) => {
  const given = [input.file_path, input.notebook_path, input.path].filter((path) => path !== undefined);
  const paths = given.filter((path) => typeof path === "string");
  return paths.length > 0 && paths.length === given.length ? paths : undefined;
};

/** A search names its folder, and sometimes in its pattern the very file. */
const searched: FileTool["pathsOf"] = (input) => {
  const folder = input.path ?? ".";
  if (typeof folder !== "string") return undefined;
  const patterns = [input.glob, "output_mode" in input ? undefined : input.pattern];
  return [
    folder,
    ...patterns.flatMap((pattern) => (typeof pattern === "string" ? pathInPattern(folder, pattern) : [])),
  ];
};

function pathInPattern(folder: string, pattern: string): string[] {
  const parts = pattern.replace(/^!/, "").split("/");
  const first = parts.findIndex((part) => /[*?[\]{}()!]/.test(part));
  const known = (first < 0 ? parts : parts.slice(0, first)).join("/");
  if (known === "") return pattern.startsWith("/") ? ["/"] : [];
  return [known.startsWith("/") || known.startsWith("~/") ? known : `${folder}/${known}`];
}

const fileTools = new Map<string, FileTool>([
  ["Read", { access: "read", pathsOf: namedFile }],
  ["NotebookRead", { access: "read", pathsOf: namedFile }],
  ["LS", { access: "read", pathsOf: searched }],
  ["Glob", { access: "read", pathsOf: searched }],
  ["Grep", { access: "read", pathsOf: (input) => searched({ path: input.path, glob: input.glob }) }],
  ["Edit", { access: "write", pathsOf: namedFile }],
  ["MultiEdit", { access: "write", pathsOf: namedFile }],
  ["Write", { access: "write", pathsOf: namedFile }],
  ["NotebookEdit", { access: "write", pathsOf: namedFile }],
]);

export function fileToolOf(toolName: string): FileTool | undefined {
  return fileTools.get(toolName);
}

/** They reach the network, so that reading is no excuse. */
export function reachesNetwork(toolName: string): boolean {
  return toolName === "WebFetch" || toolName === "WebSearch" || toolName.startsWith("mcp__");
}
