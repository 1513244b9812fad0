/** Apart from the schemas: who only asks for these does not pay for those. */
import type { Block, ToolUseBlock } from "./message.ts";

export function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

export function toolUsesOf(content: readonly Block[]): ToolUseBlock[] {
  return content.filter((block) => block.type === "tool_use");
}
