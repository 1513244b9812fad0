/** What a person can set. The keys are the same in every source; where they come from is in config/. */
import * as z from "zod";
import { PermissionMode } from "./permission.ts";

const positiveInteger = z.int().positive();
const text = z.string().min(1);

const Budget = z.looseObject({
  turns: positiveInteger.optional(),
  tokens: positiveInteger.optional(),
  usd: z.number().positive().optional(),
  minutes: z.number().positive().optional(),
});

/** A switch, or a switch and what the service may use in a session; nothing is the same as off. */
const Service = z.union([
  z.boolean(),
  z.looseObject({
    enabled: z.boolean().optional(),
    tokens: z.int().nonnegative().optional(),
    usd: z.number().nonnegative().optional(),
  }),
]);

/** Objects are loose: a key that this version does not know is kept and reported, never an error. */
export const Settings = z.looseObject({
  model: text.optional(),
  /** Used after repeated overload. */
  fallbackModel: text.optional(),
  /** For sub-agents whose definition names none. */
  subagentModel: text.optional(),
  /** What `opus`, `sonnet`, `haiku`, `default` mean, per provider. */
  models: z.record(z.string(), z.record(z.string(), text)).optional(),
  providers: z
    .record(
      z.string(),
      z.looseObject({
        type: z.enum(["anthropic", "openai"]).optional(),
        baseUrl: z.url({ protocol: /^https?$/ }).optional(),
        /** The name of the environment variable that holds the key, never the key. */
        keyEnv: text.optional(),
        /** Of its models, where Cadre cannot know: servers of one's own. */
        contextWindow: positiveInteger.optional(),
        maxOutputTokens: positiveInteger.optional(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
    )
    .optional(),
  thinking: z
    .union([
      z.boolean(),
      z.enum(["on", "off"]).transform((word) => word === "on"),
      z.looseObject({ budgetTokens: z.int().min(1024) }),
    ])
    .optional(),
  permissions: z
    .looseObject({
      allow: z.array(text).optional(),
      ask: z.array(text).optional(),
      deny: z.array(text).optional(),
      /** `bubble` is for agents, not for people. */
      defaultMode: PermissionMode.exclude(["bubble"]).optional(),
      additionalDirectories: z.array(text).optional(),
    })
    .optional(),
  /** For the child processes of tools, never for the runtime itself. */
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  /** Definitions by name. Read one by one: a bad entry is reported and skipped, the others load (AD-2). */
  agents: z.record(z.string(), z.unknown()).optional(),
  enableExplorePlan: z.boolean().optional(),
  enableVerification: z.boolean().optional(),
  enableGuide: z.boolean().optional(),
  /** How deep agents may start agents: 1 means that only the main agent does. */
  maxAgentDepth: z.int().min(0).max(16).optional(),
  maxLiveAgents: positiveInteger.optional(),
  /** Per session. */
  maxAgentStarts: positiveInteger.optional(),
  /** Where the list of agents stands: in a message, which keeps the prompt cache when it changes, or in the tool (AD-13). */
  agentListIn: z.enum(["message", "tool"]).optional(),
  /** The advice to start many agents side by side. */
  adviseParallelAgents: z.boolean().optional(),
  /** Lets a call of Agent say in which folder the agent works. */
  agentCwd: z.boolean().optional(),
  /** Folders of plugins; their agents are offered as `plugin:name`. */
  pluginFolders: z.array(text).optional(),
  /** Plugins whose agents may bring hooks, MCP servers and a permission mode. */
  trustedPlugins: z.array(text).optional(),
  /** Off: everything waits, and what wants the background is run in the foreground. */
  backgroundTasks: z.boolean().optional(),
  /** Agent without a type forks its caller. `always`: also in sessions that nobody watches. */
  forkSubagent: z.union([z.boolean(), z.literal("always")]).optional(),
  /** The first of a group of new agents goes ahead until its answer begins, so that the others find its cache entry. */
  staggerFanOut: z.boolean().optional(),
  /** After so long an agent in the foreground goes on in the background. Default: never. */
  autoBackgroundMs: positiveInteger.optional(),
  /** An agent in which nothing has happened for so long counts as stalled. */
  stallMs: positiveInteger.optional(),
  stallAction: z.enum(["report", "abort"]).optional(),
  /** How long the provider keeps what is put into its prompt cache; `auto`: an hour where that pays. */
  cache: z.looseObject({ ttl: z.enum(["5m", "1h", "auto"]).optional() }).optional(),
  maxToolConcurrency: positiveInteger.max(1000).optional(),
  /** Start calls while the message still streams. */
  streamingTools: z.boolean().optional(),
  compaction: z
    .looseObject({ auto: z.boolean().optional(), at: z.number().gt(0).max(1).optional() })
    .optional(),
  /** What the runtime does by itself beside the conversation (docs/services.md). */
  services: z
    .looseObject({
      sessionMemory: Service.optional(),
      extractMemories: Service.optional(),
      consolidateMemories: Service.optional(),
      suggest: Service.optional(),
      speculate: Service.optional(),
      sideQuestion: Service.optional(),
      agentSummary: Service.optional(),
    })
    .optional(),
  budgets: z.looseObject({ session: Budget.optional(), agent: Budget.optional() }).optional(),
  webSearch: z
    .looseObject({
      provider: z.enum(["searxng", "brave"]),
      baseUrl: z.url({ protocol: /^https?$/ }).optional(),
      keyEnv: text.optional(),
    })
    .optional(),
  /** Addresses of this machine and its network that WebFetch may fetch all the same. */
  webFetch: z.looseObject({ allowPrivateHosts: z.array(text).optional() }).optional(),
  cleanupPeriodDays: z.number().min(0).optional(),
});
export type Settings = z.infer<typeof Settings>;
