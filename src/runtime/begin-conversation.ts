import type { Prefix } from "../loop/request.ts";
import type { PrefixRecord } from "../transcript/record.ts";
import { transcriptVersion } from "../transcript/version.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { RestoredSession } from "./restore-session.ts";

/**
 * Writes what stands before the messages of the main agent. A conversation that goes on keeps what was sent last, as
 * long as model and tools are the same: the provider may still have it in its cache (LO-5).
 */
export function beginConversation(options: {
  transcript: TranscriptWriter;
  restored: RestoredSession | undefined;
  fresh: Prefix;
  modelId: string;
  head: { sessionId: string; cwd: string; timestamp: string };
}): Prefix {
  const { transcript, restored, fresh, modelId } = options;
  if (restored === undefined)
    transcript.append({ type: "head", version: transcriptVersion, ...options.head });
  for (const message of restored?.added ?? []) transcript.append({ type: "message", message });
  const before = restored?.prefix;
  if (before !== undefined && before.model === modelId && sameTools(before, fresh))
    return { system: before.system, tools: before.tools };
  const reason =
    restored === undefined ? "start of the session" : "the tools or the model are not the same as before";
  transcript.append({ type: "prefix", model: modelId, ...fresh, reason });
  return fresh;
}

function sameTools(before: Pick<PrefixRecord, "tools">, fresh: Prefix): boolean {
  return (
    before.tools.length === fresh.tools.length &&
    before.tools.every(({ name }, index) => name === fresh.tools[index]?.name)
  );
}
