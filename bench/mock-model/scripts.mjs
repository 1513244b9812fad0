// What the model answers, decided from a directive in the prompt. There is no state: the step of a script
// is the number of tool calls that already follow the directive in the request.
//
//   [[script:hello tokens=40]]          answer with text at once
//   [[script:loop n=50 tool=read id=x]] n turns of one cheap tool call, then text
//   [[script:fanout n=10 k=3]]          one message with n sub-agent calls, each a loop of k turns, then text
//
// Requests that offer no tools or carry no directive are "aux" (titles, summaries) and get a short text.

const directivePattern = /\[\[script:(\w+)((?:\s+[\w-]+=[^\s\]]+)*)\s*\]\]/;
const cheapTools = ["read", "bash"];
const taskTools = ["agent", "task"];
const promptKeys = ["prompt", "message", "description"];

/** { script, id?, step?, content: [{ text } | { tool, args }], failed? } */
export function planAnswer(request, { workdir }) {
  const directive = findDirective(request.turns);
  if (directive === undefined || request.tools.length === 0) {
    return { script: "aux", content: [{ text: "Benchmark session" }] };
  }
  const { name, args, calls } = directive;
  const at = { script: name, id: args.id ?? "main", step: calls };
  const say = (text) => ({ ...at, content: [{ text }] });
  const missing = (what) => ({
    ...say(`no ${what} tool among: ${request.tools.map((tool) => tool.name).join(", ")}`),
    failed: true,
  });

  if (name === "loop" && calls < Number(args.n)) {
    const tool = pickTool(request.tools, args.tool, cheapTools);
    if (tool === undefined) return missing("cheap");
    const hints = { file: `${workdir}/small-${calls % 512}.txt`, shell: `true ${calls}` };
    return { ...at, content: [{ tool, args: sample(tool.schema, "", hints) }] };
  }
  if (name === "fanout" && calls === 0) {
    const task = pickTool(request.tools, args.task, taskTools);
    return task === undefined ? missing("sub-agent") : { ...at, content: fanOut(task, args) };
  }
  return say("Done. ".repeat(Math.max(1, Math.ceil(Number(args.tokens ?? 2) / 2))).trim());
}

function findDirective(turns) {
  for (let i = turns.length - 1; i >= 0; i--) {
    if (turns[i].role === "assistant" || !turns[i].text.includes("[[script:")) continue;
    const match = directivePattern.exec(turns[i].text);
    if (match === null) continue;
    const pairs = match[2].trim().split(/\s+/).filter(Boolean);
    const args = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
    const calls = turns.slice(i + 1).reduce((sum, turn) => sum + turn.calls.length, 0);
    return { name: match[1], args, calls };
  }
  return undefined;
}

function pickTool(tools, wanted, defaults) {
  const byName = (name) => tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase());
  return wanted === undefined ? defaults.map(byName).find(Boolean) : byName(wanted);
}

function fanOut(task, { n, k = 3, tool, agent }) {
  const properties = task.schema?.properties ?? {};
  const promptKey = promptKeys.find((key) => properties[key]);
  return Array.from({ length: Number(n) }, (_, i) => {
    const hints = {
      [promptKey]: `Sub-task ${i}. [[script:loop n=${k} id=a${i}${tool ? ` tool=${tool}` : ""}]]`,
      ...(agent && properties.subagent_type && { subagent_type: agent }),
    };
    return { tool: task, args: { ...sample(task.schema, "", hints), ...hints } };
  });
}

/** A value for a JSON schema, good enough to pass a tool's validation. */
function sample(schema, key, hints) {
  if (hints[key] !== undefined) return hints[key];
  if (schema?.enum) return schema.enum[0];
  if (schema?.const !== undefined) return schema.const;
  const variants = schema?.anyOf ?? schema?.oneOf;
  if (variants) return sample(variants[0], key, hints);
  const type = Array.isArray(schema?.type) ? schema.type[0] : (schema?.type ?? "object");
  if (type === "object") {
    const required = schema?.required ?? [];
    return Object.fromEntries(required.map((name) => [name, sample(schema.properties?.[name], name, hints)]));
  }
  if (type === "array") return [];
  if (type === "integer" || type === "number") return 1;
  if (type === "boolean") return false;
  if (/path|file/i.test(key)) return hints.file;
  return /command/i.test(key) ? hints.shell : "ok";
}
