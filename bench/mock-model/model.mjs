// The scripted model: takes a request body, gives an answer, and keeps a log of what it saw.
import { chainOf, createPromptCache, digest, tokensOf } from "./prompt-cache.mjs";
import { parsers } from "./requests.mjs";
import { writers } from "./responses.mjs";
import { planAnswer } from "./scripts.mjs";

const now = () => performance.timeOrigin + performance.now();

/** `light` leaves out the cache accounting and the log, which cost more than the rest. */
export function createModel({ latencyMs = 0, workdir = "", light = false, clock } = {}) {
  const config = { latencyMs, workdir };
  let cache;
  let log;
  let counters;
  let lastChains;
  const reset = () => {
    cache = createPromptCache({ now: clock });
    log = [];
    lastChains = new Map();
    counters = { requests: 0, aux: 0, failed: 0, childrenNow: 0, mostChildren: 0, unknown: {} };
  };
  reset();

  /** The caller waits `latencyMs`, calls begin(), sends, calls sent() with the last byte, and end() at last. */
  function open(dialect, body, { bytes, at = now() }) {
    const request = parsers[dialect](body);
    const plan = planAnswer(request, config);
    const model = body.model ?? "mock";
    const isChild = plan.script === "loop" && plan.id !== "main";
    const { usage, entry } = light
      ? blindUsage(bytes)
      : account({ dialect, model, request, plan, bytes, at });
    counters.requests++;
    if (plan.script === "aux") counters.aux++;
    if (plan.failed) counters.failed++;
    if (isChild) counters.mostChildren = Math.max(counters.mostChildren, ++counters.childrenNow);
    const outputTokens = plan.content.reduce(
      (sum, part) => sum + tokensOf(part.text ?? JSON.stringify(part.args)),
      0,
    );
    return {
      ...writers[dialect]({ model, content: plan.content, cache: usage, outputTokens, body }),
      plan,
      isChild,
      begin: () => usage.commit(),
      sent() {
        if (entry) entry.end = now();
      },
      end() {
        if (isChild) counters.childrenNow--;
      },
    };
  }

  function account({ dialect, model, request, plan, bytes, at }) {
    const chain = chainOf(model, request.blocks);
    const usage = dialect === "anthropic" ? cache.explicit(request.blocks, chain) : cache.implicit(chain);
    const levelHash = (level) =>
      digest(
        request.blocks
          .filter((block) => block.level === level)
          .map(({ json }) => json)
          .join("\n"),
      );
    const { read, write, longWrite, fresh, marks } = usage;
    const entry = {
      t: at,
      bytes,
      script: plan.script,
      id: plan.id,
      step: plan.step,
      aux: plan.script === "aux",
      tools: request.tools.length,
      systemHash: levelHash("system"),
      toolsHash: levelHash("tools"),
      tokens: chain.total,
      ...{ read, write, longWrite, fresh, marks },
      ...(plan.script !== "aux" && keptPrefix(`${plan.script}/${plan.id}`, chain)),
    };
    log.push(entry);
    return { usage, entry };
  }

  /** Whether the previous request of this conversation is, whole and unchanged, a prefix of this one. */
  function keptPrefix(conversation, chain) {
    const previous = lastChains.get(conversation);
    lastChains.set(conversation, chain);
    return previous === undefined ? {} : { kept: previous.hashes.every((key, i) => key === chain.hashes[i]) };
  }

  return { config, open, reset, counters: () => counters, log: () => log };
}

function blindUsage(bytes) {
  return { usage: { read: 0, write: 0, longWrite: 0, fresh: Math.ceil(bytes / 4), commit() {} } };
}
