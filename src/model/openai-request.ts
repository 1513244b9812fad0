/** The JSON body of a chat completions request, put together from pieces that were serialised once. */
import type { Block, Message, ResultContentBlock, ToolResultBlock } from "../contracts/message.ts";
import type { ModelRequest, ToolDescription } from "./model.ts";
import { effortOf, limitFieldOf } from "./openai-models.ts";
import { toWireName } from "./openai-tool-name.ts";
import {
  createMessageJoiner,
  isBlank,
  joined,
  keepByIdentity,
  keepByText,
  toJson,
} from "./request-pieces.ts";

export interface ChatSerializer {
  serialize(request: ModelRequest): string;
  /** Roughly, for servers that do not count. */
  promptTokensOf(request: ModelRequest): number;
}

/** The messages that one message of ours becomes, and how much of them is media. */
interface Piece {
  readonly json: string;
  readonly mediaChars: number;
  readonly mediaCount: number;
}

type Part =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

type Media = Exclude<ResultContentBlock, { type: "text" }>;

const charsPerToken = 4;
const tokensPerMedium = 1_000;

export function createChatSerializer(options: {
  modelId: string;
  /** Where the API takes documents; elsewhere a note stands in their place. */
  acceptsDocuments: boolean;
}): ChatSerializer {
  const { modelId } = options;
  const limitField = limitFieldOf(modelId);
  const pieceOf = keepByIdentity((message: Message) => serializeMessage(message, options.acceptsDocuments));
  const messagesJson = createMessageJoiner((message) => pieceOf(message).json);
  const systemJson = keepByText((text) =>
    isBlank(text) ? "" : `{"role":"system","content":${toJson(text)}}`,
  );
  const toolJson = keepByIdentity(serializeTool);
  const toolsJson = keepByIdentity(
    (tools: readonly ToolDescription[]) => `[${tools.map((tool) => toolJson(tool)).join(",")}]`,
  );

  return {
    serialize({ system, tools, messages, maxOutputTokens, thinking }) {
      let body = `{"model":${toJson(modelId)},"${limitField}":${maxOutputTokens}`;
      body += ',"stream":true,"stream_options":{"include_usage":true}';
      const effort = effortOf({ modelId, thinking, hasTools: tools.length > 0 });
      if (effort !== undefined) body += `,"reasoning_effort":"${effort}"`;
      if (tools.length > 0) body += `,"tools":${toolsJson(tools)}`;
      return `${body},"messages":[${joined(systemJson(system), messagesJson(messages, messages.length))}]}`;
    },
    promptTokensOf({ system, tools, messages }) {
      let chars = systemJson(system).length + (tools.length > 0 ? toolsJson(tools).length : 0);
      let media = 0;
      for (const message of messages) {
        const piece = pieceOf(message);
        chars += piece.json.length - piece.mediaChars;
        media += piece.mediaCount;
      }
      return Math.ceil(chars / charsPerToken) + media * tokensPerMedium;
    },
  };
}

function serializeTool({ name, description, inputSchema }: ToolDescription): string {
  return toJson({
    type: "function",
    function: { name: toWireName(name), description, parameters: inputSchema },
  });
}

function serializeMessage(message: Message, acceptsDocuments: boolean): Piece {
  const wire = message.role === "assistant" ? fromAssistant(message.content) : fromUser(message.content);
  const media = mediaIn(message.content).filter((block) => isSent(block, acceptsDocuments));
  return {
    json: wire.map((each) => toJson(each)).join(","),
    mediaChars: media.reduce((sum, block) => sum + block.source.data.length, 0),
    mediaCount: media.length,
  };

  function fromUser(content: readonly Block[]): object[] {
    const results = content.filter((block) => block.type === "tool_result");
    const parts = [
      ...results.flatMap((result) => partsMovedFrom(result, acceptsDocuments)),
      ...content.flatMap((block) => partOf(block, acceptsDocuments)),
    ];
    // Results must follow their calls at once; what a person said comes after them.
    return [...results.map((result) => resultToWire(result, acceptsDocuments)), ...userMessage(parts)];
  }
}

/** Thinking stays with us: no server of this kind takes it back. */
function fromAssistant(content: readonly Block[]): object[] {
  const text = content.flatMap((block) =>
    block.type === "text" && !isBlank(block.text) ? [block.text] : [],
  );
  const calls = content.flatMap((block) =>
    block.type === "tool_use"
      ? [
          {
            id: block.id,
            type: "function",
            function: { name: toWireName(block.name), arguments: toJson(block.input) },
          },
        ]
      : [],
  );
  if (text.length === 0 && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text.length > 0 ? text.join("\n\n") : null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

/** Many servers take nothing but a text where a text is enough. */
function userMessage(parts: readonly Part[]): object[] {
  if (parts.length === 0) return [];
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [{ role: "user", content: texts.length === parts.length ? texts.join("\n\n") : parts }];
}

function partOf(block: Block, acceptsDocuments: boolean): Part[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [] : [{ type: "text", text: block.text }];
    case "image":
    case "document":
      return [mediaPart(block, acceptsDocuments)];
    default:
      return [];
  }
}

function mediaPart(block: Media, acceptsDocuments: boolean): Part {
  if (!isSent(block, acceptsDocuments)) return { type: "text", text: noteOf(block) };
  const url = `data:${block.source.media_type};base64,${block.source.data}`;
  if (block.type === "image") return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: block.title || "document.pdf", file_data: url } };
}

/** A result is text and nothing else: what cannot stand in it is told there, and shown right after. */
function resultToWire(result: ToolResultBlock, acceptsDocuments: boolean): object {
  const text = typeof result.content === "string" ? result.content : result.content.map(textIn).join("\n");
  return {
    role: "tool",
    tool_call_id: result.tool_use_id,
    content: result.is_error && !/^\s*error\b/i.test(text) ? `Error: ${text}` : text,
  };

  function textIn(block: ResultContentBlock): string {
    if (block.type === "text") return block.text;
    return isSent(block, acceptsDocuments)
      ? `[The ${block.type} follows in the next message.]`
      : noteOf(block);
  }
}

function partsMovedFrom(result: ToolResultBlock, acceptsDocuments: boolean): Part[] {
  const media = mediaIn([result]).filter((block) => isSent(block, acceptsDocuments));
  if (media.length === 0) return [];
  return [
    { type: "text", text: `From the result of the call ${result.tool_use_id}:` },
    ...media.map((block) => mediaPart(block, acceptsDocuments)),
  ];
}

function mediaIn(content: readonly Block[]): Media[] {
  return content.flatMap((block): Media[] => {
    if (block.type === "image" || block.type === "document") return [block];
    if (block.type !== "tool_result" || typeof block.content === "string") return [];
    return block.content.filter((inner) => inner.type !== "text");
  });
}

function isSent(block: Media, acceptsDocuments: boolean): boolean {
  return block.type === "image" || acceptsDocuments;
}

function noteOf(block: Media): string {
  const title = block.type === "document" && block.title ? ` "${block.title}"` : "";
  return `[A document${title} (${block.source.media_type}) stands here, which this model cannot be shown.]`;
}
