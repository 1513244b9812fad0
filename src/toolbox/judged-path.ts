import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";

/** `real`: the file that is about to be used, links resolved. It must be the one that was judged (PE-4). */
export function assertJudged(real: string, context: ToolContext, shown: string): void {
  const { judgedTargets } = context;
  if (judgedTargets === undefined || judgedTargets.includes(real)) return;
  throw new ToolFailure(
    `${shown} led to another place when it was used than when it was judged. Nothing was read or written. Look at what changed there, then try again.`,
    { code: "path-exchanged" },
  );
}
