import type { World } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import { createAskUserQuestionTool } from "../toolbox/ask-user-question.ts";
import { createBashTool } from "../toolbox/bash.ts";
import type { ShellBackground } from "../toolbox/bash-task.ts";
import { createEditTool } from "../toolbox/edit.ts";
import { createGlobTool } from "../toolbox/glob.ts";
import { createGrepTool } from "../toolbox/grep.ts";
import { createNotebookEditTool } from "../toolbox/notebook-edit.ts";
import { createPlanModeTools } from "../toolbox/plan-mode.ts";
import { createReadTool } from "../toolbox/read.ts";
import {
  createBraveProvider,
  createSearxngProvider,
  type SearchProvider,
} from "../toolbox/search-provider.ts";
import { createStructuredOutputTool } from "../toolbox/structured-output.ts";
import { createTodoWriteTool } from "../toolbox/todo-write.ts";
import { createWebFetchTool } from "../toolbox/web-fetch.ts";
import { createWebSearchTool } from "../toolbox/web-search.ts";
import { createWriteTool } from "../toolbox/write.ts";
import type { Tool } from "../tools/tool.ts";
import type { Surface } from "./session.ts";

/** All tools of a session, in the order in which the model sees them. */
export function buildTools(options: {
  world: World;
  settings: Settings;
  surface: Surface | undefined;
  /** Those that start agents, and deal with what runs beside the conversation. */
  agents?: readonly Tool[];
  /** Lets commands run in the background. Absent: they cannot. */
  background?: ShellBackground | undefined;
  /** Something went wrong that does not hold up a tool. */
  onProblem?: (message: string) => void;
  extra: readonly Tool[];
  /** Tools that are denied as a whole are not even shown. */
  isHidden?: (toolName: string) => boolean;
  output?: { schema: Readonly<Record<string, unknown>>; onValue: (value: unknown) => void };
}): Tool[] {
  const { surface, extra, isHidden, output } = options;
  const builtIn: Tool[] = [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createNotebookEditTool(),
    createGlobTool(),
    createGrepTool(),
    createBashTool({ background: options.background, onProblem: options.onProblem }),
    createWebFetchTool({ allowPrivateHosts: options.settings.webFetch?.allowPrivateHosts ?? [] }),
    createWebSearchTool({ provider: searchProvider(options) }),
    createTodoWriteTool(),
    createAskUserQuestionTool({ ask: surface?.askQuestions }),
    ...createPlanModeTools({ approvePlan: surface?.approvePlan }),
    ...(options.agents ?? []),
    ...(output ? [createStructuredOutputTool({ jsonSchema: output.schema, onValue: output.onValue })] : []),
  ];
  const extraNames = new Set(extra.map((tool) => tool.name));
  return [...builtIn.filter((tool) => !extraNames.has(tool.name)), ...extra].filter(
    (tool) => !isHidden?.(tool.name),
  );
}

/** Undefined when none is set up, or its key is missing: the tool then says how to set one up. */
function searchProvider({
  world,
  settings,
}: {
  world: World;
  settings: Settings;
}): SearchProvider | undefined {
  const wanted = settings.webSearch;
  if (wanted?.provider === "searxng" && wanted.baseUrl)
    return createSearxngProvider({ baseUrl: wanted.baseUrl, world });
  const key = wanted?.keyEnv ? world.env[wanted.keyEnv] : undefined;
  if (wanted?.provider === "brave" && key) {
    return createBraveProvider({ key, world, ...(wanted.baseUrl && { baseUrl: wanted.baseUrl }) });
  }
  return undefined;
}
