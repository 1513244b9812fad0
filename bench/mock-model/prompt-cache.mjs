// Prompt-cache accounting by the documented rules: at most 4 marks, those for an hour before those for five
// minutes, exact prefix over tools, system and messages, 20 positions of look-back for each mark, a smallest
// prefix of 1,024 tokens. The other dialect gets an implicit prefix cache. A token is four characters.
import { hash } from "node:crypto";

const smallestPrefix = 1024;
const mostMarks = 4;
const lookBack = 20;
const lifetimeMs = { "5m": 300_000, "1h": 3_600_000 };

export const digest = (text) => hash("sha1", text, "base64").slice(0, 16);
export const tokensOf = (text) => Math.ceil(text.length / 4);

/** Running hashes and token counts: position i stands for blocks[0..i]. */
export function chainOf(model, blocks) {
  const hashes = [];
  const tokens = [];
  let last = model;
  let total = 0;
  for (const { json } of blocks) {
    last = digest(last + json);
    total += tokensOf(json);
    hashes.push(last);
    tokens.push(total);
  }
  return { hashes, tokens, total };
}

export function createPromptCache({ now = Date.now } = {}) {
  const entries = new Map();
  const seen = new Set();
  const isAlive = (key) => (entries.get(key)?.expires ?? 0) > now();

  /** `commit` stores what is written. It is called when the response begins: not before can it be read. */
  function explicit(blocks, chain) {
    const marks = blocks.flatMap((block, at) => (block.mark ? [at] : []));
    refuseBadMarks(marks.map((at) => blocks[at].mark));
    const hits = marks.map((mark) => hitAt(chain, mark)).filter((at) => at >= 0);
    const last = Math.max(-1, ...hits);
    const read = last < 0 ? 0 : chain.tokens[last];
    const used = [...hits, ...marks.filter((mark) => mark <= last)].map((at) => chain.hashes[at]);
    // What stands before the end of a hit is not written anew: nobody pays for it.
    const written = marks.filter((mark) => mark > last && chain.tokens[mark] >= smallestPrefix);
    const upTo = (at) => (at === undefined ? read : chain.tokens[at]);
    const cached = upTo(written.at(-1));
    const longWrite = upTo(written.findLast((mark) => isLong(blocks[mark].mark))) - read;
    const commit = () => {
      for (const key of used) refresh(entries.get(key));
      for (const mark of written) store(chain.hashes[mark], lifetimeMs[blocks[mark].mark.ttl ?? "5m"]);
    };
    const { total } = chain;
    return { read, write: cached - read, longWrite, fresh: total - cached, marks: marks.length, commit };
  }

  function hitAt(chain, mark) {
    const first = Math.max(0, mark - lookBack + 1);
    for (let at = mark; at >= first; at--) if (isAlive(chain.hashes[at])) return at;
    return -1;
  }

  /** Whatever is used lives on for as long as it was meant to when it was written. */
  function refresh(entry) {
    if (entry !== undefined && entry.expires > now()) entry.expires = now() + entry.lifetime;
  }

  function store(key, lifetime) {
    if (isAlive(key) && entries.get(key).lifetime > lifetime) refresh(entries.get(key));
    else entries.set(key, { lifetime, expires: now() + lifetime });
  }

  function implicit(chain) {
    const last = chain.hashes.findLastIndex((key) => seen.has(key));
    const tokens = last < 0 ? 0 : chain.tokens[last];
    const read = tokens >= smallestPrefix ? tokens - (tokens % 128) : 0;
    const commit = () => {
      for (const key of chain.hashes) seen.add(key);
    };
    return { read, write: 0, longWrite: 0, fresh: chain.total - read, marks: 0, commit };
  }

  return { explicit, implicit };
}

const isLong = (mark) => mark.ttl === "1h";

function refuseBadMarks(marks) {
  const refuse = (message) => {
    throw Object.assign(new Error(message), { status: 400 });
  };
  if (marks.length > mostMarks)
    refuse(`A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${marks.length}.`);
  const firstShort = marks.findIndex((mark) => !isLong(mark));
  if (firstShort >= 0 && marks.slice(firstShort).some(isLong))
    refuse("A cache_control with ttl 1h must not come after one with ttl 5m.");
}
