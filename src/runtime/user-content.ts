import { CadreError } from "../base/errors.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { Block } from "../contracts/message.ts";

/**
 * What a person, or a program in a person's place, may say. Anything else would be refused by the provider,
 * and since a history only grows, so would every request after it.
 */
export function userContent(content: string | readonly Block[]): Block[] {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const stranger = blocks.find(({ type }) => type !== "text" && type !== "image" && type !== "document");
  if (stranger !== undefined)
    throw new CadreError({
      code: "input-invalid",
      message: `A message of the user cannot hold a block of type "${stranger.type}": only text, image and document.`,
    });
  const said = blocks.filter((block) => block.type !== "text" || /\S/.test(block.text));
  if (said.length === 0)
    throw new CadreError({ code: "nothing-to-say", message: "The message is empty. Give it some text." });
  return said.map((block) => (block.type === "text" ? { ...block, text: ownWords(block.text) } : block));
}

/** A person may write of the runtime's tags, but a directive makes whoever has it in its history a fork. */
function ownWords(text: string): string {
  return neutralizeTags(text, ["fork-directive"]);
}
