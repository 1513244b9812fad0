/**
 * The JSON body of a Messages API request, put together from pieces that were serialised once. What was
 * sent once is sent again byte for byte, and a long history costs a copy of its bytes per turn, not a
 * serialisation.
 */
import type { Block, Message, ResultContentBlock, ToolResultBlock } from "../contracts/message.ts";
import { usesAdaptiveThinking } from "./claude-models.ts";
import type { ModelRequest, ToolDescription } from "./model.ts";
import { type CacheTtl, cacheMarkJson, isMarkable } from "./prompt-cache.ts";

export interface RequestSerializer {
  serialize(request: ModelRequest): string;
}

/** Some JSON, and where in it a cache mark can be put: just before the brace that closes the marked object. */
interface Piece {
  readonly json: string;
  readonly markAt: number | undefined;
}

/** The JSON of the first `count` messages of a conversation, without marks. Kept by its first message. */
interface Beginning {
  readonly messages: readonly Message[];
  readonly count: number;
  readonly json: string;
}

/** Two of the four marks that a request may carry are on the tools and the system prompt. */
const maxHistoryMarks = 2;
const maxSystemPrompts = 64;

export function createRequestSerializer(options: { modelId: string; ttl?: CacheTtl }): RequestSerializer {
  const mark = `,${cacheMarkJson(options.ttl ?? "5m")}`;
  const model = JSON.stringify(options.modelId);
  const adaptive = usesAdaptiveThinking(options.modelId);
  const messagePieces = new WeakMap<Message, Piece>();
  const toolPieces = new WeakMap<ToolDescription, Piece>();
  const toolLists = new WeakMap<readonly ToolDescription[], string>();
  const beginnings = new WeakMap<Message, Beginning>();
  const systemPieces = new Map<string, string>();

  const pieceOf = (message: Message): Piece => {
    let piece = messagePieces.get(message);
    if (piece === undefined) {
      piece = serializeMessage(message);
      messagePieces.set(message, piece);
    }
    return piece;
  };

  const toolPieceOf = (tool: ToolDescription): Piece => {
    let piece = toolPieces.get(tool);
    if (piece === undefined) {
      piece = serializeTool(tool);
      toolPieces.set(tool, piece);
    }
    return piece;
  };

  const systemJson = (text: string): string => {
    let json = systemPieces.get(text);
    if (json === undefined) {
      if (systemPieces.size >= maxSystemPrompts) systemPieces.clear();
      json = `[{"type":"text","text":${toJson(text)}${mark}}]`;
      systemPieces.set(text, json);
    }
    return json;
  };

  const toolsJson = (tools: readonly ToolDescription[]): string => {
    let json = toolLists.get(tools);
    if (json === undefined) {
      const pieces = tools.map((tool, index) => {
        const piece = toolPieceOf(tool);
        return index === tools.length - 1 ? insertMark(piece, mark) : piece.json;
      });
      json = `[${pieces.join(",")}]`;
      toolLists.set(tools, json);
    }
    return json;
  };

  /** The messages before the first mark, of which all but the newest were sent like this before. */
  const beginningJson = (messages: readonly Message[], count: number): string => {
    const [first] = messages;
    if (first === undefined || count === 0) return "";
    const known = beginnings.get(first);
    const reusable = known !== undefined && isBeginningOf(known, messages, count) ? known : undefined;
    let json = reusable?.json ?? "";
    for (let index = reusable?.count ?? 0; index < count; index++) {
      const message = messages[index];
      if (message !== undefined) json = joined(json, pieceOf(message).json);
    }
    beginnings.set(first, { messages, count, json });
    return json;
  };

  const messagesJson = ({ messages, cacheMarks }: ModelRequest): string => {
    const marked = [...new Set(cacheMarks)].sort((a, b) => a - b).slice(-maxHistoryMarks);
    const firstMarked = Math.min(marked[0] ?? messages.length, messages.length);
    let json = beginningJson(messages, firstMarked);
    for (let index = firstMarked; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined) continue;
      const piece = pieceOf(message);
      json = joined(json, marked.includes(index) ? insertMark(piece, mark) : piece.json);
    }
    return `[${json}]`;
  };

  return {
    serialize(request) {
      let body = `{"model":${model},"max_tokens":${request.maxOutputTokens},"stream":true`;
      if (request.thinking !== undefined)
        body += `,"thinking":${adaptive ? '{"type":"adaptive"}' : budgetJson(request.thinking.budgetTokens, request.maxOutputTokens)}`;
      if (request.tools.length > 0) body += `,"tools":${toolsJson(request.tools)}`;
      if (!isBlank(request.system)) body += `,"system":${systemJson(request.system)}`;
      return `${body},"messages":${messagesJson(request)}}`;
    },
  };
}

/** The budget is part of the answer's limit: at least 1,024 tokens, and less than the whole. */
function budgetJson(budgetTokens: number, maxOutputTokens: number): string {
  const tokens = Math.max(1024, Math.min(budgetTokens, maxOutputTokens - 1));
  return `{"type":"enabled","budget_tokens":${tokens}}`;
}

function isBeginningOf(known: Beginning, messages: readonly Message[], count: number): boolean {
  if (known.count > count) return false;
  for (let index = 0; index < known.count; index++) {
    if (known.messages[index] !== messages[index]) return false;
  }
  return true;
}

/** A message of which nothing can be sent leaves no gap. */
function joined(json: string, piece: string): string {
  if (piece === "") return json;
  return json === "" ? piece : `${json},${piece}`;
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

/** The provider rejects text blocks that are empty or hold only white space. */
function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/**
 * `JSON.stringify` writes half of a surrogate pair (text that was cut in the middle of an emoji) as an
 * escape, which the provider rejects; a whole pair it writes as it is. So every such escape is a broken one.
 */
function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (sequence) =>
    sequence.startsWith("\\ud") ? "\\ufffd" : sequence,
  );
}
