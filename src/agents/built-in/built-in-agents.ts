/**
 * The agents that come with Cadre, a file each. `worker` (coordinator mode) and `fork` are not among them: they
 * are not chosen by name.
 */
import type { AgentDefinition } from "../../contracts/agent-definition.ts";
import { bashAgent } from "./bash.ts";
import { exploreAgent } from "./explore.ts";
import { generalPurposeAgent } from "./general-purpose.ts";
import { guideAgent } from "./guide.ts";
import { planAgent } from "./plan.ts";
import { statuslineSetupAgent } from "./statusline-setup.ts";
import { verificationAgent } from "./verification.ts";

/** What settings can switch off (AD-9). */
export interface BuiltInGates {
  readonly explorePlan: boolean;
  readonly verification: boolean;
  readonly guide: boolean;
}

export function builtInAgents(gates: BuiltInGates): AgentDefinition[] {
  return [
    generalPurposeAgent,
    ...(gates.explorePlan ? [exploreAgent, planAgent] : []),
    bashAgent,
    ...(gates.verification ? [verificationAgent] : []),
    ...(gates.guide ? [guideAgent] : []),
    statuslineSetupAgent,
  ];
}
