/**
 * tools/ owns the contract of a tool and the executor that runs calls. It must not know any particular
 * tool (toolbox/), nor the loop that calls it.
 */
import * as z from "zod";
import { CadreError } from "../base/errors.ts";
import type { ResultContentBlock } from "../contracts/message.ts";
import type { PermissionDecision } from "../contracts/permission.ts";
import type { CallFacts } from "../contracts/receipt.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

/** A tool as the runtime sees it: the types of its input and output are behind `bind`. */
export interface Tool {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** As the model sees it. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What an interrupt by the user does to a running call: end it now, or let it finish. */
  readonly interruptBehavior: "cancel" | "block";
  /** Must not start before the whole message it was called in is known. */
  readonly needsWholeMessage: boolean;
  /** Agents have a concurrency limit of their own (LO-27). */
  readonly lane: "tool" | "agent";
  /** Text results longer than this are cut, and kept whole in a file. */
  readonly maxResultChars: number;
  /** Fits `input` to the schema; what does not fit is told field by field. Never throws. */
  bind(input: unknown): BoundCall | InvalidInput;
}

export interface BoundCall {
  readonly ok: true;
  readonly input: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  /** The tool's own opinion, before rules and modes; undefined when it has none. */
  checkPermissions(context: ToolContext): Promise<PermissionDecision | undefined>;
  /** Throws `ToolFailure` for what the model should see as an error. Progress goes to `context.report`. */
  run(context: ToolContext): Promise<ToolOutcome>;
  /** What it is about, for the receipt of a call that began and has no outcome. */
  subject?(context: ToolContext): CallFacts | undefined;
}

export interface InvalidInput {
  readonly ok: false;
  readonly problem: string;
}

/** A failure that the model should see and can act on. The message says what to do. */
export class ToolFailure extends CadreError {
  override readonly name = "ToolFailure";
  readonly failsSiblings: boolean;

  constructor(message: string, options: { code?: string; cause?: unknown; failsSiblings?: boolean } = {}) {
    super({ code: options.code ?? "tool-failure", message, cause: options.cause });
    this.failsSiblings = options.failsSiblings ?? false;
  }
}

export interface ToolSpec<Schema extends z.ZodType<Record<string, unknown>>, Output> {
  name: string;
  aliases?: readonly string[];
  description: string;
  input: Schema;
  /** What the model is shown, where that is less than what is understood. */
  shownInput?: z.ZodType;
  /** Default: false. */
  isReadOnly?: (input: z.infer<Schema>) => boolean;
  /** Default: whatever `isReadOnly` says. */
  isConcurrencySafe?: (input: z.infer<Schema>) => boolean;
  checkPermissions?: (
    input: z.infer<Schema>,
    context: ToolContext,
  ) => Promise<PermissionDecision | undefined>;
  interruptBehavior?: "cancel" | "block";
  needsWholeMessage?: boolean;
  lane?: "tool" | "agent";
  maxResultChars?: number;
  call: (input: z.infer<Schema>, context: ToolContext) => Promise<Output>;
  /** What it did, for the receipt: from the output, never from what a model says. */
  facts?: (output: Output, input: z.infer<Schema>) => CallFacts | undefined;
  /** The file or the command that it is about: all that the receipt says of a call that failed or was cut off. */
  subject?: (input: z.infer<Schema>, context: ToolContext) => CallFacts | undefined;
  /** What the model reads. */
  toResult: (
    output: Output,
  ) =>
    | string
    | ResultContentBlock[]
    | Pick<ToolOutcome, "content" | "isError" | "failsSiblings" | "fromRuntime">;
}

const defaultMaxResultChars = 30_000;

export function defineTool<Schema extends z.ZodType<Record<string, unknown>>, Output>(
  spec: ToolSpec<Schema, Output>,
): Tool {
  let inputSchema: Record<string, unknown> | undefined;
  return {
    name: spec.name,
    aliases: spec.aliases ?? [],
    description: spec.description,
    get inputSchema() {
      inputSchema ??= jsonSchemaOf(spec.shownInput ?? spec.input);
      return inputSchema;
    },
    interruptBehavior: spec.interruptBehavior ?? "block",
    needsWholeMessage: spec.needsWholeMessage ?? false,
    lane: spec.lane ?? "tool",
    maxResultChars: spec.maxResultChars ?? defaultMaxResultChars,
    bind(raw) {
      // Zod would compile a parser for each schema; a tool is called too seldom for that to pay.
      const parsed = spec.input.safeParse(raw, { jitless: true });
      if (!parsed.success) return { ok: false, problem: describeProblems(spec.name, parsed.error) };
      return new TypedCall(spec, parsed.data);
    },
  };
}

/** A class, since one lives as long as its call: thousands of agents are calls. */
class TypedCall<Schema extends z.ZodType<Record<string, unknown>>, Output> implements BoundCall {
  readonly ok = true;
  readonly input: z.infer<Schema>;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  readonly #spec: ToolSpec<Schema, Output>;

  constructor(spec: ToolSpec<Schema, Output>, input: z.infer<Schema>) {
    this.#spec = spec;
    this.input = input;
    this.isReadOnly = spec.isReadOnly?.(input) ?? false;
    this.isConcurrencySafe = spec.isConcurrencySafe?.(input) ?? this.isReadOnly;
  }

  async checkPermissions(context: ToolContext): Promise<PermissionDecision | undefined> {
    return this.#spec.checkPermissions?.(this.input, context);
  }

  /** Not an async function: as long as the tool is at work, nothing of this waits with it. */
  run(context: ToolContext): Promise<ToolOutcome> {
    try {
      // Types promise a promise, but not every tool is checked by them.
      return Promise.resolve(this.#spec.call(this.input, context)).then((output) => this.#outcome(output));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  subject(context: ToolContext): CallFacts | undefined {
    return this.#spec.subject?.(this.input, context);
  }

  #outcome(output: Output): ToolOutcome {
    const result = this.#spec.toResult(output);
    const facts = this.#spec.facts?.(output, this.input);
    const rest = { output, ...(facts && { facts }) };
    if (typeof result === "string" || Array.isArray(result))
      return { content: result, isError: false, ...rest };
    return { ...result, ...rest };
  }
}

function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
  return rest;
}

/** One line per field, so that the model can mend exactly what was wrong. */
function describeProblems(toolName: string, error: z.ZodError): string {
  const lines = error.issues.map((issue) => {
    const field = issue.path.length > 0 ? issue.path.join(".") : "input";
    return `- ${field}: ${issue.message}`;
  });
  return `The input of ${toolName} does not fit its schema:\n${lines.join("\n")}`;
}

/** Finds a tool by name or alias. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
}

/** As the model sees it: always the same object for the same tool, since what models derive from it is kept by identity. */
export function describeTool(tool: Tool): ToolDescription {
  let description = descriptions.get(tool);
  if (description === undefined) {
    description = { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
    descriptions.set(tool, description);
  }
  return description;
}

const descriptions = new WeakMap<Tool, ToolDescription>();

type ToolDescription = Pick<Tool, "name" | "description" | "inputSchema">;
