/** A tool that waits until a test lets it go on: so that something is at work for as long as the test wants. */
import * as z from "zod";
import { unlessCancelled } from "../base/cancellation.ts";
import { defineTool, type Tool } from "../tools/tool.ts";

export interface Switch {
  tool(name: string): Tool;
  /** Lets go on what waits, and what comes later. */
  open(): void;
  /** Resolves when so many calls wait, or have waited. */
  reached(count: number): Promise<void>;
}

export function createSwitch(): Switch {
  let letGo = () => {};
  const opened = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let count = 0;
  const watchers: { count: number; tell: () => void }[] = [];
  const arrive = () => {
    count += 1;
    for (const watcher of watchers) if (watcher.count <= count) watcher.tell();
  };
  return {
    tool: (name) =>
      defineTool({
        name,
        description: "Waits.",
        input: z.looseObject({}),
        isReadOnly: () => true,
        interruptBehavior: "cancel",
        async call(_, { signal }) {
          arrive();
          await unlessCancelled(opened, signal);
        },
        toResult: () => "went on",
      }),
    open: () => letGo(),
    reached: (wanted) =>
      new Promise((resolve) => {
        if (count >= wanted) resolve();
        else watchers.push({ count: wanted, tell: resolve });
      }),
  };
}
