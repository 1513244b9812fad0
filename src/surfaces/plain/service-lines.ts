/** What the runtime does by itself beside the conversation, for a person: which of it is on, and what it has used. */

import { counted } from "../../base/counted.ts";
import type { Settings } from "../../contracts/settings.ts";
import type { Session } from "../../runtime/session.ts";
import type { ServiceCost } from "../../services/service-host.ts";
import { type ServiceName, serviceSetting } from "../../services/service-settings.ts";
import { describeTotals } from "./session-totals.ts";

const purposes: Readonly<Record<ServiceName, string>> = {
  sessionMemory: "keeps notes of the session",
  extractMemories: "remembers facts for later sessions",
  consolidateMemories: "joins facts that say the same",
  suggest: "offers what you may ask next",
  speculate: "begins with what it offers",
  sideQuestion: "answers /btw",
  agentSummary: "says what running agents do, in /tasks",
};
const names = Object.keys(purposes) as ServiceName[];

/** The list of `/services`. */
export function serviceLines(
  { serviceCosts, transcriptPath }: Pick<Session, "serviceCosts" | "transcriptPath">,
  settings: Settings,
): string[] {
  const width = Math.max(...names.map((name) => name.length));
  const lineOf = (name: string, state: string, purpose: string) =>
    `${name.padEnd(width)}  ${state.padEnd("resting".length)}  ${purpose}`;
  const isOn = (name: ServiceName) =>
    serviceSetting(name, { settings, isWatched: true }).enabled &&
    // Notes stand beside the transcript.
    (name !== "sessionMemory" || transcriptPath !== undefined);
  const { auto = true } = settings.compaction ?? {};
  return [
    lineOf("compaction", auto ? "on" : "off", `summarises what is too long${auto ? "" : "; /compact does"}`),
    ...names.flatMap((name) => {
      const cost = serviceCosts.find((each) => each.name === name);
      const state = cost?.resting ? "resting" : isOn(name) ? "on" : "off";
      return [lineOf(name, state, purposes[name]), ...(cost ? [`  ${usedBy(cost)}`] : [])];
    }),
    ...(serviceCosts.some(({ resting }) => resting)
      ? ["(resting: its budget is used up, or it failed too often; it does nothing more here)"]
      : []),
    '(to switch one off: "services": { "NAME": false } in the settings)',
  ];
}

/** For `/cost`. */
export function serviceCostLines(costs: readonly ServiceCost[]): string[] {
  if (costs.length === 0) return [];
  return ["of that, services:", ...costs.map((cost) => `  ${cost.name}: ${usedBy(cost)}`)];
}

function usedBy({ requests, usage, costUsd }: ServiceCost): string {
  return `${counted(requests, "request")}, ${describeTotals({ usage, usageByModel: {}, costUsd })}`;
}
