/**
 * From what a call came to, to what the model reads. Nothing reaches it but through here, so that no result
 * speaks with the runtime's voice (PE-10) or holds one of its secrets (PE-11).
 */
import { CadreError, messageOf } from "../base/errors.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { ResultContentBlock, TextBlock, ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { limitResult } from "./result-store.ts";
import { type Tool, ToolFailure } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

export async function answerOf(options: {
  call: ToolUseBlock;
  tool: Tool | undefined;
  outcome: ToolOutcome;
  context: ToolContext;
}): Promise<ToolResultBlock> {
  const { call, tool, outcome, context } = options;
  const limit = (text: string) =>
    limitResult({
      // Before anything is cut off or put away: half a secret would not be recognised.
      text: withoutSecrets(text, context),
      maxChars: tool?.maxResultChars ?? Number.POSITIVE_INFINITY,
      store: context.agent.results,
      name: call.name,
    });
  const content =
    typeof outcome.content === "string"
      ? neutralizeTags(await limit(outcome.content))
      : neutralizeBlocks(
          await Promise.all(
            outcome.content.map(async (block) =>
              block.type === "text" ? { ...block, text: await limit(block.text) } : block,
            ),
          ),
        );
  const said = isEmpty(content) ? "(no output)" : content;
  return {
    type: "tool_result",
    tool_use_id: call.id,
    content: outcome.fromRuntime ? [...blocksOf(said), ...ownWords(outcome.fromRuntime, context)] : said,
    ...(outcome.isError && { is_error: true }),
  };
}

/** These are the runtime's own: they keep its tags, but no secret. */
function ownWords(blocks: readonly TextBlock[], context: ToolContext): TextBlock[] {
  return blocks.map(({ type, text }) => ({ type, text: withoutSecrets(text, context) }));
}

function blocksOf(content: string | ResultContentBlock[]): ResultContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

export function errorResult(call: ToolUseBlock, text: string, context?: ToolContext): ToolResultBlock {
  const content = neutralizeTags(withoutSecrets(text, context));
  return { type: "tool_result", tool_use_id: call.id, content, is_error: true };
}

function withoutSecrets(text: string, context: ToolContext | undefined): string {
  return context?.agent.redactor?.redact(text) ?? text;
}

function neutralizeBlocks(blocks: readonly ResultContentBlock[]): ResultContentBlock[] {
  const clean: ResultContentBlock[] = [];
  /** Texts side by side: a tag may begin in one and end in another. */
  let texts: string[] = [];
  const endTexts = () => {
    const each = texts.map((text) => neutralizeTags(text));
    const joined = neutralizeTags(texts.join(""));
    const parts = joined === each.join("") ? each : [joined];
    clean.push(...parts.map((text) => ({ type: "text" as const, text })));
    texts = [];
  };
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else {
      endTexts();
      clean.push(block);
    }
  }
  endTexts();
  return clean;
}

/** A `ToolFailure` was written for the model. Anything else is told as what it is: a fault of the tool. */
export function failureText(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  if (error instanceof CadreError) return `${error.message} (${error.code})`;
  return `The tool failed unexpectedly: ${messageOf(error)}`;
}

function isEmpty(content: string | readonly unknown[]): boolean {
  return content.length === 0;
}
