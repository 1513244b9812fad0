import { runtimeTags } from "../base/markup.ts";
import type { Message } from "../contracts/message.ts";

const ofRuntime = new RegExp(`^\\s*<(?:${runtimeTags.join("|")})[\\s>]`);

/** What the user said in a message. Undefined: nothing, it holds results of calls or what the runtime tells the model. */
export function promptTextOf({ role, content }: Pick<Message, "role" | "content">): string | undefined {
  if (role !== "user") return undefined;
  const said = content.flatMap((block) =>
    block.type === "text" && !ofRuntime.test(block.text) ? [block.text] : [],
  );
  return said.join("\n").trim() || undefined;
}
