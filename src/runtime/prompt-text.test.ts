import { describe, expect, it } from "vitest";
import type { Block } from "../contracts/message.ts";
import { promptTextOf } from "./prompt-text.ts";

const text = (said: string): Block => ({ type: "text", text: said });

describe("promptTextOf", () => {
  it("leaves out what the runtime tells the model beside the prompt", () => {
    const content = [text("<system-reminder>\nThe agents\n</system-reminder>"), text("map this")];
    expect(promptTextOf({ role: "user", content })).toBe("map this");
  });

  it.each([
    ["a notification alone", [text("<task-notification>\n<task-id>a</task-id>\n</task-notification>")]],
    ["results of calls", [{ type: "tool_result", tool_use_id: "t", content: "ok" } as const]],
    ["blanks", [text("  \n")]],
  ])("is undefined for %s", (_, content) => {
    expect(promptTextOf({ role: "user", content })).toBeUndefined();
  });

  it("keeps a prompt that only speaks of such a tag", () => {
    const content = [text("what is <system-reminder> for?")];
    expect(promptTextOf({ role: "user", content })).toBe("what is <system-reminder> for?");
  });

  it("is undefined for what the model said", () => {
    expect(promptTextOf({ role: "assistant", content: [text("hello")] })).toBeUndefined();
  });
});
