/** What an agent in the background tells: that it runs, and how it ended. */
import type { BackgroundTask, Notice } from "../tasks/background.ts";
import { textOfEnd } from "../tasks/output-text.ts";
import type { AgentHost } from "./agent-host.ts";
import { type LaunchedAgent, receiptBlock } from "./agent-result.ts";
import { type EndedRun, outcomeOf } from "./run-end.ts";
import type { StartedAgent } from "./start-agent.ts";

export function launchedAgent(
  host: AgentHost,
  { agentId, request }: StartedAgent,
  outputFile: string,
): LaunchedAgent {
  return {
    status: "async_launched",
    agentId,
    description: request.description,
    prompt: request.prompt ?? "",
    outputFile,
    canReadOutputFile: host.tools().some(({ name }) => name === "Read" || name === "Bash"),
  };
}

/** `leave`: what has to be done between the status and the notification. */
export function endInBackground(
  background: BackgroundTask,
  started: StartedAgent,
  ended: EndedRun,
  leave: () => Promise<void>,
): Promise<void> {
  const { status, text, note, totalTokens, toolUses, durationMs, receipt } = ended;
  const usage = { totalTokens, toolUses, durationMs };
  background.write(textOfEnd({ status, result: text, error: note, receipt, usage }));
  const run = started.context.history.messages.at(-1)?.uuid;
  return background.end(
    { ...outcomeOf(ended), ...(run !== undefined && { run }) },
    leave().then(() => noticeOf(started, ended)),
  );
}

/** What it said stands, whatever came after it; what else there is to know of it stands before that (TA-8). */
function noticeOf({ agentId, request, warnings }: StartedAgent, ended: EndedRun): Notice {
  const { status, text, note, totalTokens, toolUses, durationMs, receipt } = ended;
  const words = { completed: "completed", failed: "failed", killed: "was stopped" } as const;
  const block = receipt && receiptBlock(receipt, agentId);
  return {
    summary: `Agent "${request.description}" ${words[status]}`,
    result: [note, remarkOn([...(request.earlier?.notes ?? []), ...warnings]), text]
      .filter((part) => part !== undefined && part !== "")
      .join("\n\n"),
    usage: { totalTokens, toolUses, durationMs },
    ...(request.tellEnd && { prompt: request.tellEnd(ended) }),
    ...(block && { more: [block] }),
  };
}

function remarkOn(remarks: readonly string[]): string | undefined {
  return remarks.length === 0 ? undefined : `(${remarks.join("; ")})`;
}
