import { describe, expect, it } from "vitest";
import type { Block, Message } from "../../contracts/message.ts";
import { answerService } from "./service-requests.ts";

function message(role: Message["role"], content: Block[], synthetic = false): Message {
  return { uuid: "1", parentUuid: null, timestamp: "", role, content, ...(synthetic && { synthetic }) };
}

const says = (text: string) => message("user", [{ type: "text", text }]);
const calls = (name: string) =>
  message("assistant", [{ type: "tool_use", id: "t", name, input: { file_path: "a.ts" } }]);
const result = message("user", [{ type: "tool_result", tool_use_id: "t", content: "done" }]);
const request = message(
  "user",
  [
    {
      type: "text",
      text: "<system-reminder>\nThis is a request of the runtime (service: suggest). What next?\n</system-reminder>",
    },
  ],
  true,
);

describe("what the offline model suggests", () => {
  it("is to run the tests after a change, once", () => {
    const changed = [says("rename a to b"), calls("Edit"), result];
    expect(answerService([...changed, request])).toEqual({ text: "run the tests" });
    expect(answerService([...changed, says("thanks"), request])).toEqual({ text: "NONE" });
  });

  it("is nothing after what only reads", () => {
    expect(answerService([says("explain a.ts"), calls("Read"), result, request])).toEqual({ text: "NONE" });
  });
});
