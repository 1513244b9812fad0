/** Puts the blocks of an answer together from the events that stream in. */
import type { BlockDelta, ModelEvent, StreamedBlock } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";

export interface CompletedBlock {
  readonly block: Block;
  /** Of a `tool_use` whose input could not be read; the block then has an empty input and must not run. */
  readonly problem?: string;
}

export interface Assembler {
  /** The block that this event completed, if it did. */
  accept(event: ModelEvent): CompletedBlock | undefined;
  /** What has come of a text that has not ended; empty if there is none. */
  unfinishedText(): string;
}

interface OpenBlock {
  readonly start: StreamedBlock;
  /** Text, thinking or JSON, as far as it came. */
  content: string;
  signature: string;
}

const quotedChars = 200;
/** Nesting that `JSON.stringify` could not follow when the call is sent back needs at least as many characters. */
const deepInputChars = 2_000;

export function createAssembler(): Assembler {
  return new BlockAssembler();
}

class BlockAssembler implements Assembler {
  /** Made with the first block: a request waits for it longest. */
  #open: Map<number, OpenBlock> | undefined;

  accept(event: ModelEvent): CompletedBlock | undefined {
    switch (event.type) {
      case "message-start":
      case "message-stop":
        return undefined;
      case "block-start":
        this.#open ??= new Map();
        this.#open.set(event.index, openBlock(event.block));
        return undefined;
      case "block-delta": {
        const block = this.#open?.get(event.index);
        if (block === undefined) throw new Error(`A delta for block ${event.index}, which is not open`);
        applyDelta(block, event.delta);
        return undefined;
      }
      case "block-stop": {
        const block = this.#open?.get(event.index);
        if (block === undefined) throw new Error(`The end of block ${event.index}, which is not open`);
        this.#open?.delete(event.index);
        return complete(block);
      }
    }
  }

  unfinishedText(): string {
    const texts = [...(this.#open?.values() ?? [])].filter(({ start }) => start.type === "text");
    return texts.map(({ content }) => content).join("");
  }
}

function openBlock(start: StreamedBlock): OpenBlock {
  switch (start.type) {
    case "text":
      return { start, content: start.text, signature: "" };
    case "thinking":
      return { start, content: start.thinking, signature: start.signature };
    case "redacted_thinking":
      return { start, content: start.data, signature: "" };
    case "tool_use":
      return { start, content: "", signature: "" };
  }
}

function applyDelta(block: OpenBlock, delta: BlockDelta): void {
  switch (delta.type) {
    case "text":
      block.content += delta.text;
      return;
    case "thinking":
      block.content += delta.thinking;
      return;
    case "input-json":
      block.content += delta.json;
      return;
    case "signature":
      block.signature += delta.signature;
      return;
  }
}

function complete({ start, content, signature }: OpenBlock): CompletedBlock {
  switch (start.type) {
    case "text":
      return { block: { type: "text", text: content } };
    case "thinking":
      return { block: { type: "thinking", thinking: content, signature } };
    case "redacted_thinking":
      return { block: { type: "redacted_thinking", data: content } };
    case "tool_use": {
      const { id, name } = start;
      const parsed = parseInput(content);
      if (parsed.ok) return { block: { type: "tool_use", id, name, input: parsed.input } };
      return {
        block: { type: "tool_use", id, name, input: {} },
        problem: `The input of ${name} ${parsed.problem}. It began with: ${quote(content)}`,
      };
    }
  }
}

type ParsedInput = { ok: true; input: Record<string, unknown> } | { ok: false; problem: string };

function parseInput(json: string): ParsedInput {
  if (json.trim() === "") return { ok: true, input: {} };
  let value: unknown;
  try {
    value = JSON.parse(json);
    if (json.length > deepInputChars) JSON.stringify(value);
  } catch (error) {
    const problem =
      error instanceof RangeError
        ? "is nested too deeply"
        : "is not valid JSON, or was cut off before its end";
    return { ok: false, problem };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, problem: "is not a JSON object" };
  }
  // The checks above leave a plain object, which is what JSON.parse makes of braces.
  return { ok: true, input: value as Record<string, unknown> };
}

function quote(text: string): string {
  return text.length > quotedChars ? `${text.slice(0, quotedChars)}...` : text;
}
