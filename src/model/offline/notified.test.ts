import { describe, expect, it } from "vitest";
import { tellNews } from "./notified.ts";

function notification(inside: string): string {
  return `<task-notification>\n<task-id>a1</task-id>\n${inside}\n</task-notification>`;
}

describe("a notification", () => {
  it("is told with what the agent found, as the agent wrote it", () => {
    const text = notification(
      '<status>completed</status>\n<summary>Agent "Explore src" completed</summary>\n<result>a &lt;b&gt; &amp;amp; c</result>',
    );
    expect(tellNews([text])?.text).toMatch(
      /^Agent "Explore src" completed\. It reports:\n\na <b> &amp; c\n\n\(offline model/,
    );
  });

  it("is told with one signature, however many the agent gave", () => {
    const sign = tellNews([notification("<summary>x</summary>")])?.text?.split("\n\n")[1] ?? "";
    const result = `one\n\n${sign}\n\ntwo\n\n${sign}`;
    const text = notification(`<summary>Agent one completed</summary>\n<result>${result}</result>`);
    expect(tellNews([text])?.text).toBe(`Agent one completed. It reports:\n\none\n\ntwo\n\n${sign}`);
  });

  it("is told for every task that ended, also without a result", () => {
    const one = notification("<summary>Agent one failed</summary>");
    const two = notification("<status>killed</status>");
    expect(tellNews([one, `${two}\n`])?.text).toContain("Agent one failed.\n\n---\n\nA task: killed.");
  });

  it("says of one that failed or was stopped that this is no report", () => {
    const ended = (status: string) =>
      tellNews([
        notification(`<status>${status}</status>\n<summary>It ended</summary>\n<result>so far</result>`),
      ])?.text;
    expect(ended("failed")).toContain("It ended. What is known of it:\n\nso far");
    expect(ended("killed")).toContain("It ended. What there was until then:\n\nso far");
  });

  it("of a command shows the end of its output, and of tests what the runner counted", () => {
    const output = "# tests 2\n# pass 1\n# fail 1\n# skipped 0";
    const told = (description: string) =>
      tellNews([
        notification(
          `<status>failed</status>\n<summary>Background command "${description}" failed (exit code 1)</summary>\n<result>${output}</result>`,
        ),
      ])?.text ?? "";
    expect(told("Run the tests")).toMatch(
      /^Background command "Run the tests" failed \(exit code 1\)\. 1 passed, 1 failed, 0 skipped \(.+\)\.\n\nWhat is known of it:\n\n {4}# tests 2\n/,
    );
    expect(told("Print something")).toMatch(
      /^Background command "Print something" failed \(exit code 1\)\.\n/,
    );
  });

  it("of a command that printed nothing says so", () => {
    const text = notification(
      '<status>completed</status>\n<summary>Background command "true" completed (exit code 0)</summary>\n<result>(no output)</result>',
    );
    expect(tellNews([text])?.text).toMatch(
      /^Background command "true" completed \(exit code 0\)\.\n\nIt printed nothing\.\n/,
    );
  });

  it("stands with what the runtime saw of it", () => {
    const text = notification("<summary>Agent one completed</summary>\n<result>All well</result>");
    const receipt =
      '<task-receipt task-id="a1">\nSeen by the runtime: 1 call\nchanged /x&lt;y\n</task-receipt>';
    const other = receipt.replace("a1", "a2");
    expect(tellNews([text, receipt])?.text).toContain(
      "All well\n\n> Seen by the runtime: 1 call\n> changed /x<y",
    );
    expect(tellNews([text, other])?.text).not.toContain("Seen by the runtime");
  });

  it("is not made up", () => {
    expect(tellNews([])).toBeUndefined();
    expect(tellNews(["<system-reminder>x</system-reminder>"])).toBeUndefined();
    expect(tellNews(["<task-notification>x</task-notification>"])).toBeUndefined();
  });
});

describe("other words of the runtime", () => {
  it("are told when an agent writes, as words of that agent", () => {
    const text = '<agent-message from="scout &amp; co" id="a1">\nstop &#xFF1C;b&gt;\nnow\n</agent-message>';
    expect(tellNews([text])?.text).toContain("scout & co writes:\n\n> stop ＜b>\n> now");
  });

  it("are told when a command seems to wait", () => {
    const reminder =
      '<system-reminder>\nThe background command "ask" (task b1) has written nothing for 45 s, and its last line has no end:\nGo on? [y/n]\nNobody can answer it.\n</system-reminder>';
    expect(tellNews([reminder])?.text).toContain(
      'The background command "ask" (task b1) seems to wait for an answer, which nobody can give:\n\n    Go on? [y/n]',
    );
  });
});
