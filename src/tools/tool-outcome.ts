import type { ResultContentBlock, TextBlock } from "../contracts/message.ts";
import type { CallFacts } from "../contracts/receipt.ts";

/** What a call came to. */
export interface ToolOutcome {
  readonly content: string | ResultContentBlock[];
  readonly isError: boolean;
  /** The structured value, for surfaces and programs; the model never sees it. */
  readonly output: unknown;
  /**
   * Only Bash sets it: the failure of this call makes the other shell commands of the same message
   * pointless (LO-24).
   */
  readonly failsSiblings?: boolean;
  /** What it did, for the receipt. */
  readonly facts?: CallFacts;
  /**
   * What the runtime itself says at the end of it, and so with its own tags: whatever in it comes from elsewhere is
   * escaped.
   */
  readonly fromRuntime?: readonly TextBlock[];
}
