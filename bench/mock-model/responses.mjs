// Answers in the dialect they were asked in: `json` for a plain response, `events` for a stream.

let serial = 0;
const newId = (prefix) => `${prefix}_${(++serial).toString(36).padStart(8, "0")}`;
const pieces = (text) => text.match(/[\s\S]{1,4}/g) ?? [""];
const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const line = (data) => `data: ${JSON.stringify(data)}\n\n`;

export const writers = { anthropic: writeAnthropic, chat: writeChat };

function writeAnthropic({ model, content, cache, outputTokens }) {
  const usage = {
    input_tokens: cache.fresh,
    cache_creation_input_tokens: cache.write,
    cache_read_input_tokens: cache.read,
    cache_creation: {
      ephemeral_5m_input_tokens: cache.write - cache.longWrite,
      ephemeral_1h_input_tokens: cache.longWrite,
    },
    output_tokens: outputTokens,
  };
  const blocks = content.map(({ tool, args, text }) =>
    tool ? { type: "tool_use", id: newId("toolu"), name: tool.name, input: args } : { type: "text", text },
  );
  const stop_reason = content.some(({ tool }) => tool) ? "tool_use" : "end_turn";
  const message = {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: blocks,
    stop_reason,
    stop_sequence: null,
    usage,
  };
  const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return {
    json: message,
    *events() {
      yield event("message_start", { message: start });
      for (const [index, block] of blocks.entries()) yield* anthropicBlock(index, block);
      yield event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
      yield event("message_stop", {});
    },
  };
}

function* anthropicBlock(index, block) {
  const isText = block.type === "text";
  const content_block = isText ? { type: "text", text: "" } : { ...block, input: {} };
  yield event("content_block_start", { index, content_block });
  const deltas = isText
    ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
    : [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  for (const delta of deltas) yield event("content_block_delta", { index, delta });
  yield event("content_block_stop", { index });
}

function writeChat({ model, content, cache, outputTokens, body }) {
  const prompt_tokens = cache.fresh + cache.read;
  const usage = {
    prompt_tokens,
    completion_tokens: outputTokens,
    total_tokens: prompt_tokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cache.read },
  };
  const head = { id: newId("chatcmpl"), created: Math.floor(Date.now() / 1000), model };
  const text = content.map((part) => part.text ?? "").join("");
  const tool_calls = content
    .filter(({ tool }) => tool)
    .map(({ tool, args }) => ({
      id: newId("call"),
      type: "function",
      function: { name: tool.name, arguments: JSON.stringify(args) },
    }));
  const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
  const message = { role: "assistant", content: text || null, ...(tool_calls.length > 0 && { tool_calls }) };
  const chunk = (delta, reason = null) =>
    line({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] });
  return {
    json: { ...head, object: "chat.completion", usage, choices: [{ index: 0, finish_reason, message }] },
    *events() {
      yield chunk({ role: "assistant", content: "" });
      if (text) for (const piece of pieces(text)) yield chunk({ content: piece });
      for (const [index, call] of tool_calls.entries()) yield chunk({ tool_calls: [{ index, ...call }] });
      yield chunk({}, finish_reason);
      if (body.stream_options?.include_usage) {
        yield line({ ...head, object: "chat.completion.chunk", choices: [], usage });
      }
      yield "data: [DONE]\n\n";
    },
  };
}
