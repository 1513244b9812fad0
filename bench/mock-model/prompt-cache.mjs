// Prompt-cache accounting by the documented rules: at most 4 marks, exact prefix over tools, system and
// messages, 20 positions of look-back for each mark, a smallest prefix of 1,024 tokens. The other dialect
// gets an implicit prefix cache. A token is four characters.
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

export function createPromptCache() {
  const entries = new Map();
  const seen = new Set();

  /** `commit` stores what is written. It is called when the response begins: not before can it be read. */
  function explicit(blocks, chain) {
    const marks = blocks.flatMap((block, i) => (block.mark ? [i] : []));
    if (marks.length > mostMarks) {
      const message = `A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${marks.length}.`;
      throw Object.assign(new Error(message), { status: 400 });
    }
    const read = Math.max(0, ...marks.map((mark) => readAt(chain, mark)));
    const writable = marks.filter((mark) => chain.tokens[mark] >= smallestPrefix);
    const cached = writable.length > 0 ? chain.tokens[writable.at(-1)] : 0;
    const commit = () => {
      for (const mark of writable) {
        const lifetime = lifetimeMs[blocks[mark].mark.ttl ?? "5m"];
        entries.set(chain.hashes[mark], { lifetime, expires: Date.now() + lifetime });
      }
    };
    const write = Math.max(0, cached - read);
    return { read, write, fresh: chain.total - Math.max(cached, read), marks: marks.length, commit };
  }

  function readAt(chain, mark) {
    for (let i = mark; i > mark - lookBack && i >= 0; i--) {
      const entry = entries.get(chain.hashes[i]);
      if (entry === undefined || entry.expires < Date.now()) continue;
      entry.expires = Date.now() + entry.lifetime;
      return chain.tokens[i];
    }
    return 0;
  }

  function implicit(chain) {
    const last = chain.hashes.findLastIndex((key) => seen.has(key));
    const tokens = last < 0 ? 0 : chain.tokens[last];
    const read = tokens >= smallestPrefix ? tokens - (tokens % 128) : 0;
    const commit = () => {
      for (const key of chain.hashes) seen.add(key);
    };
    return { read, write: 0, fresh: chain.total - read, marks: 0, commit };
  }

  return { explicit, implicit };
}
