// Requests of both dialects in one shape:
// { tools: [{ name, schema }], turns: [{ role, text, calls: [{ id, name }], results: [{ id, text }] }],
//   blocks: [{ level, json, mark? }] }   where `blocks` is the prompt in the order of the prompt cache.

export const parsers = { anthropic: parseAnthropic, chat: parseChat };

function parseAnthropic(body) {
  const blocks = [];
  const turns = [];
  for (const tool of body.tools ?? []) blocks.push(block("tools", tool));
  for (const part of asBlocks(body.system)) blocks.push(block("system", part));
  // These parameters invalidate the messages part of the cache only.
  let salt = JSON.stringify([body.tool_choice, body.thinking]);
  for (const message of body.messages ?? []) {
    const turn = { role: message.role, text: "", calls: [], results: [] };
    for (const part of asBlocks(message.content)) {
      blocks.push(block("messages", part, message.role + salt));
      salt = "";
      if (part.type === "text") turn.text += `${part.text}\n`;
      else if (part.type === "tool_use") turn.calls.push({ id: part.id, name: part.name });
      else if (part.type === "tool_result") {
        turn.results.push({ id: part.tool_use_id, text: textOf(part.content) });
      }
    }
    turns.push(turn);
  }
  // A mark on the whole request stands for one on its last block.
  if (body.cache_control && blocks.length > 0) blocks.at(-1).mark ??= body.cache_control;
  return {
    turns,
    blocks,
    tools: (body.tools ?? []).map((tool) => ({ name: tool.name, schema: tool.input_schema })),
  };
}

function parseChat(body) {
  const blocks = (body.tools ?? []).map((tool) => block("tools", tool));
  const turns = [];
  for (const message of body.messages ?? []) {
    const isSystem = message.role === "system" || message.role === "developer";
    blocks.push(block(isSystem ? "system" : "messages", message));
    if (isSystem) continue;
    const text = textOf(message.content);
    if (message.role === "tool") {
      turns.push({ role: "user", text: "", calls: [], results: [{ id: message.tool_call_id, text }] });
    } else {
      const calls = (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name }));
      turns.push({ role: message.role, text, calls, results: [] });
    }
  }
  return {
    turns,
    blocks,
    tools: (body.tools ?? []).map((tool) => ({ name: tool.function.name, schema: tool.function.parameters })),
  };
}

function block(level, value, tag = "") {
  const { cache_control: mark, ...rest } = value;
  return { level, json: tag + JSON.stringify(rest), mark };
}

function asBlocks(content) {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

function textOf(content) {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : "";
}
