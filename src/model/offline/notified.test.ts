import { describe, expect, it } from "vitest";
import { tellNotifications } from "./notified.ts";

function notification(inside: string): string {
  return `<task-notification>\n<task-id>a1</task-id>\n${inside}\n</task-notification>`;
}

describe("a notification", () => {
  it("is told with what the agent found, as the agent wrote it", () => {
    const text = notification(
      '<status>completed</status>\n<summary>Agent "Explore src" completed</summary>\n<result>a &lt;b&gt; &amp;amp; c</result>',
    );
    expect(tellNotifications([text])?.text).toMatch(
      /^Agent "Explore src" completed\. It reports:\n\na <b> &amp; c\n\n\(offline model/,
    );
  });

  it("is told for every task that ended, also without a result", () => {
    const one = notification("<summary>Agent one failed</summary>");
    const two = notification("<status>killed</status>");
    expect(tellNotifications([one, `${two}\n`])?.text).toContain(
      "Agent one failed.\n\n---\n\nA task: killed.",
    );
  });

  it("is not made up", () => {
    expect(tellNotifications([])).toBeUndefined();
    expect(tellNotifications(["<system-reminder>x</system-reminder>"])).toBeUndefined();
    expect(tellNotifications(["<task-notification>x</task-notification>"])).toBeUndefined();
  });
});
