/** What the user has said in a conversation, and nothing that anybody else has put there. */
import { runtimeTags } from "../base/markup.ts";
import type { Message } from "../contracts/message.ts";

/** A longer text is material that was pasted, of which nobody knows whose words it holds. */
const longestWords = 4_000;

/** The texts of one message; none when it holds results, or what the runtime says. */
export function userWords({ role, synthetic, content }: Message): string[] {
  if (role !== "user" || synthetic === true) return [];
  return content.flatMap((block) => {
    if (block.type !== "text" || block.text.length > longestWords || ofRuntime.test(block.text)) return [];
    const words = block.text.replace(fenced, "\n").replace(quotedLine, "").trim();
    return words === "" ? [] : [words];
  });
}

// A block that begins with a tag, or holds one of the runtime's, was written by the runtime. If a person wrote it after
// all, it is not worth the risk.
const ofRuntime = new RegExp(`^\\s*<[a-z][\\w-]*[\\s>]|<\\s*/?\\s*(?:${runtimeTags.join("|")})\\b`, "i");
const fenced = /^(```|~~~)[\s\S]*?(?:^\1.*$|$(?![\s\S]))/gm;
const quotedLine = /^\s*>.*$/gm;

/**
 * The whole sentence, or sentences, in which the quotation stands. Half a sentence can mean the opposite of it, so no
 * less is ever taken for the user's words. Undefined: nobody said that.
 */
export function sentencesAround(quotation: string, texts: readonly string[]): string | undefined {
  const wanted = plain(quotation);
  if (wanted === "") return undefined;
  for (const text of texts) {
    const sentences = sentencesOf(text);
    for (let count = 1; count <= mostSentences; count++)
      for (let first = 0; first + count <= sentences.length; first++) {
        const passage = sentences.slice(first, first + count).join(" ");
        if (` ${plain(passage)} `.includes(` ${wanted} `)) return passage;
      }
  }
  return undefined;
}

const mostSentences = 3;

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** Without what differs when somebody copies a text by heart. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
