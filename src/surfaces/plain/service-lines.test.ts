import { describe, expect, it } from "vitest";
import type { ServiceCost } from "../../services/service-host.ts";
import { sitDown } from "../../testing/person-at-terminal.ts";
import { answerEvents } from "../../testing/scripted-session.ts";
import { serviceCostLines, serviceLines } from "./service-lines.ts";

const usage = { inputTokens: 100, outputTokens: 20, cacheWriteTokens: 0, cacheReadTokens: 9_900 };
const suggest: ServiceCost = { name: "suggest", requests: 2, usage, costUsd: 0.003, resting: false };
const aside: ServiceCost = {
  ...suggest,
  name: "sideQuestion",
  requests: 1,
  costUsd: undefined,
  resting: true,
};

describe("the list of services", () => {
  it("says of each whether it is on, what it does, and what it has used", () => {
    const settings = { services: { extractMemories: false, speculate: true }, compaction: { auto: false } };
    const session = { serviceCosts: [suggest, aside], transcriptPath: undefined };
    expect(serviceLines(session, settings)).toEqual([
      "compaction           off      summarises what is too long; /compact does",
      "sessionMemory        off      keeps notes of the session",
      "extractMemories      off      remembers facts for later sessions",
      "consolidateMemories  on       joins facts that say the same",
      "suggest              on       offers what you may ask next",
      "  2 requests, 10,000 tokens read (9,900 from cache), 20 written, $0.0030",
      "speculate            on       begins with what it offers",
      "sideQuestion         resting  answers /btw",
      "  1 request, 10,000 tokens read (9,900 from cache), 20 written, cost unknown",
      "agentSummary         on       says what running agents do, in /tasks",
      "(resting: its budget is used up, or it failed too often; it does nothing more here)",
      '(to switch one off: "services": { "NAME": false } in the settings)',
    ]);
  });

  it("has notes where there is a transcript, and no word about rest where nothing rests", () => {
    const lines = serviceLines({ serviceCosts: [], transcriptPath: "/t.jsonl" }, {});
    expect(lines[0]).toBe("compaction           on       summarises what is too long");
    expect(lines[1]).toBe("sessionMemory        on       keeps notes of the session");
    expect(lines).toHaveLength(9);
  });

  it("is there in a conversation, and /cost has the same numbers", async () => {
    const person = sitDown(
      () =>
        async function* () {
          yield* answerEvents("x");
          return {};
        },
      { session: () => ({ serviceCosts: [suggest] }) },
    );
    await person.sees("> ");
    person.type("/services\n");
    await person.sees("suggest              on       offers what you may ask next\n  2 requests, 10,000");
    await person.sees("> ");
    person.type("/cost\n");
    await person.sees("prompt cache: ");
    await person.sees(`\n${serviceCostLines([suggest]).join("\n")}\n> `);
    person.end();
    await person.exit;
  });
});

describe("the cost of services", () => {
  it("is part of that of the session, by service, and silent when there is none", () => {
    expect(serviceCostLines([])).toEqual([]);
    expect(serviceCostLines([suggest])).toEqual([
      "of that, services:",
      "  suggest: 2 requests, 10,000 tokens read (9,900 from cache), 20 written, $0.0030",
    ]);
  });
});
