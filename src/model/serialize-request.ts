/** The JSON body of a Messages API request, put together from pieces that were serialised once. */
import type { Block, Message, ResultContentBlock, ToolResultBlock } from "../contracts/message.ts";
import { usesAdaptiveThinking } from "./claude-models.ts";
import type { ModelRequest, ToolDescription } from "./model.ts";
import { type CacheTtl, cacheMarkJson, isMarkable } from "./prompt-cache.ts";
import {
  createMessageJoiner,
  isBlank,
  joined,
  keepByIdentity,
  keepByText,
  toJson,
} from "./request-pieces.ts";

export interface RequestSerializer {
  serialize(request: ModelRequest): string;
}

/** Some JSON, and where in it a cache mark can be put: just before the brace that closes the marked object. */
interface Piece {
  readonly json: string;
  readonly markAt: number | undefined;
}

/** What holds a mark in every request, made once for each time to live. */
interface MarkedParts {
  readonly mark: string;
  readonly systemJson: (text: string) => string;
  readonly toolsJson: (tools: readonly ToolDescription[]) => string;
}

/** Two of the four marks that a request may carry are on the tools and the system prompt. */
const maxHistoryMarks = 2;

export function createRequestSerializer(options: { modelId: string; ttl?: CacheTtl }): RequestSerializer {
  const model = JSON.stringify(options.modelId);
  const adaptive = usesAdaptiveThinking(options.modelId);
  const pieceOf = keepByIdentity(serializeMessage);
  const toolPieceOf = keepByIdentity(serializeTool);
  /** The messages before the first mark, without marks. */
  const beginningJson = createMessageJoiner((message) => pieceOf(message).json);

  const marked = { "5m": markedParts("5m"), "1h": markedParts("1h") };

  function markedParts(ttl: CacheTtl): MarkedParts {
    const mark = `,${cacheMarkJson(ttl)}`;
    return {
      mark,
      systemJson: keepByText((text) => `[{"type":"text","text":${toJson(text)}${mark}}]`),
      toolsJson: keepByIdentity((tools: readonly ToolDescription[]): string => {
        const pieces = tools.map((tool, index) => {
          const piece = toolPieceOf(tool);
          return index === tools.length - 1 ? insertMark(piece, mark) : piece.json;
        });
        return `[${pieces.join(",")}]`;
      }),
    };
  }

  const messagesJson = ({ messages, cacheMarks }: ModelRequest, mark: string): string => {
    const indexes = [...new Set(cacheMarks)].sort((a, b) => a - b).slice(-maxHistoryMarks);
    const firstMarked = Math.min(indexes[0] ?? messages.length, messages.length);
    let json = beginningJson(messages, firstMarked);
    for (let index = firstMarked; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined) continue;
      const piece = pieceOf(message);
      json = joined(json, indexes.includes(index) ? insertMark(piece, mark) : piece.json);
    }
    return `[${json}]`;
  };

  return {
    serialize(request) {
      const { mark, systemJson, toolsJson } = marked[request.cacheTtl ?? options.ttl ?? "5m"];
      let body = `{"model":${model},"max_tokens":${request.maxOutputTokens},"stream":true`;
      if (request.thinking !== undefined)
        body += `,"thinking":${adaptive ? '{"type":"adaptive"}' : budgetJson(request.thinking.budgetTokens, request.maxOutputTokens)}`;
      if (request.tools.length > 0) body += `,"tools":${toolsJson(request.tools)}`;
      if (!isBlank(request.system)) body += `,"system":${systemJson(request.system)}`;
      return `${body},"messages":${messagesJson(request, mark)}}`;
    },
  };
}

/** The budget is part of the answer's limit: at least 1,024 tokens, and less than the whole. */
function budgetJson(budgetTokens: number, maxOutputTokens: number): string {
  const tokens = Math.max(1024, Math.min(budgetTokens, maxOutputTokens - 1));
  return `{"type":"enabled","budget_tokens":${tokens}}`;
}

function insertMark(piece: Piece, mark: string): string {
  if (piece.markAt === undefined) return piece.json;
  return piece.json.slice(0, piece.markAt) + mark + piece.json.slice(piece.markAt);
}

function serializeTool(tool: ToolDescription): Piece {
  const json = toJson({ name: tool.name, description: tool.description, input_schema: tool.inputSchema });
  return { json, markAt: json.length - 1 };
}

/** A message of which nothing can be sent becomes an empty piece, and is left out of every request. */
function serializeMessage(message: Message): Piece {
  let json = `{"role":"${message.role}","content":[`;
  let markAt: number | undefined;
  let count = 0;
  for (const block of message.content) {
    const wire = toWire(block);
    if (wire === undefined) continue;
    json += (count > 0 ? "," : "") + toJson(wire);
    count += 1;
    if (isMarkable(block)) markAt = json.length - 1;
  }
  if (count === 0) return { json: "", markAt: undefined };
  return { json: `${json}]}`, markAt };
}

/**
 * Fields are named one by one: their order is part of the cached prefix, and what a transcript may hold
 * beyond them is not for the provider. Undefined: nothing the provider would accept.
 */
function toWire(block: Block): object | undefined {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? undefined : { type: "text", text: block.text };
    case "thinking":
      // Without its signature (a cut stream, another provider) thinking cannot be sent back.
      return block.signature === ""
        ? undefined
        : { type: "thinking", thinking: block.thinking, signature: block.signature };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: block.data };
    case "image":
      return imageToWire(block);
    case "document":
      return documentToWire(block);
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input };
    case "tool_result":
      return resultToWire(block);
  }
}

function imageToWire(block: Extract<Block, { type: "image" }>): object {
  return {
    type: "image",
    source: { type: "base64", media_type: block.source.media_type, data: block.source.data },
  };
}

function documentToWire(block: Extract<Block, { type: "document" }>): object {
  return {
    type: "document",
    source: { type: "base64", media_type: block.source.media_type, data: block.source.data },
    ...(block.title ? { title: block.title } : {}),
  };
}

function resultToWire(block: ToolResultBlock): object {
  const content =
    typeof block.content === "string" ? block.content : block.content.flatMap(resultContentToWire);
  return {
    type: "tool_result",
    tool_use_id: block.tool_use_id,
    ...(content.length > 0 ? { content } : {}),
    ...(block.is_error ? { is_error: true } : {}),
  };
}

function resultContentToWire(block: ResultContentBlock): object[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [] : [{ type: "text", text: block.text }];
    case "image":
      return [imageToWire(block)];
    case "document":
      return [documentToWire(block)];
  }
}
