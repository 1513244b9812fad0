// The floor: the agent loop with nothing around it. It streams the Messages API over fetch, runs `read` and
// `task`, and keeps one cache mark on the newest block. No checks, no files, no framework.
import { readFile } from "node:fs/promises";

const read = { name: "read", description: "Read a file", input_schema: objectOf("path") };
const task = { name: "task", description: "Run a sub-agent", input_schema: objectOf("prompt") };
const headers = {
  "content-type": "application/json",
  "x-api-key": "fake",
  "anthropic-version": "2023-06-01",
};

export function build({ baseURL, fetch = globalThis.fetch }) {
  async function runAgent(prompt, tools) {
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }] }];
    for (;;) {
      const content = await ask(messages, tools);
      messages.push({ role: "assistant", content });
      const calls = content.filter((block) => block.type === "tool_use");
      if (calls.length === 0) return content.map((block) => block.text).join("");
      const results = calls.map(async ({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: await (name === "read" ? readFile(input.path, "utf8") : runAgent(input.prompt, [read])),
      }));
      messages.push({ role: "user", content: await Promise.all(results) });
    }
  }

  async function ask(messages, tools) {
    const last = messages.at(-1).content.at(-1);
    last.cache_control = { type: "ephemeral" };
    const request = {
      model: "mock",
      max_tokens: 4096,
      stream: true,
      system: "You are an agent.",
      tools,
      messages,
    };
    const body = JSON.stringify(request);
    delete last.cache_control;
    const response = await fetch(`${baseURL}/v1/messages`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
    const blocks = [];
    for await (const { type, index, content_block, delta } of eventsOf(response.body)) {
      if (type === "content_block_start") blocks[index] = { ...content_block, json: "" };
      else if (type === "content_block_delta") {
        if (delta.text === undefined) blocks[index].json += delta.partial_json;
        else blocks[index].text += delta.text;
      }
    }
    return blocks.map(({ json, ...block }) =>
      block.type === "tool_use" ? { ...block, input: JSON.parse(json) } : block,
    );
  }

  return (prompt) => runAgent(prompt, [read, task]);
}

async function* eventsOf(body) {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) yield JSON.parse(event.slice(event.indexOf("data: ") + 6));
  }
}

function objectOf(...keys) {
  return {
    type: "object",
    properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
    required: keys,
  };
}
