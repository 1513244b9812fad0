import * as z from "zod";
import { unlessCancelled } from "../base/cancellation.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ModeSwitch } from "../tools/tool-context.ts";

export interface PlanAnswer {
  readonly approved: boolean;
  /** What the person said about the plan. */
  readonly message?: string;
}

/** Given by the surface, which shows the plan. Undefined: nobody is there to answer. */
export type ApprovePlan = (plan: string, signal: AbortSignal) => Promise<PlanAnswer | undefined>;

const enterDescription =
  "Switches to planning: from here on you read and search but change nothing, until a plan was approved through ExitPlanMode. Use it before work that is large, or that can be done in ways the person may want to choose between.";

const exitDescription =
  "Shows your plan to the person and asks for approval; with it, planning ends and you carry the plan out. Call it when the plan is complete: what will change in which files, in which order, how it will be checked, and what you decided where there was a choice. Only for work that changes something; a question about the code needs no plan.";

export interface ExitPlanModeOutput {
  readonly plan: string;
  readonly outcome: "approved" | "rejected" | "nobody-there";
  readonly message?: string;
}

/** EnterPlanMode and ExitPlanMode, together: the second returns to the mode that the first left. */
export function createPlanModeTools(deps: { approvePlan?: ApprovePlan } = {}): Tool[] {
  // By agent: children have a switch of their own and share these tools.
  const modesBefore = new WeakMap<ModeSwitch, PermissionMode>();
  return [createEnter(modesBefore), createExit(modesBefore, deps.approvePlan)];
}

function createEnter(modesBefore: WeakMap<ModeSwitch, PermissionMode>): Tool {
  return defineTool({
    name: "EnterPlanMode",
    description: enterDescription,
    input: z.object({}),
    isReadOnly: () => true,
    isConcurrencySafe: () => false,
    async call(_input, { agent }) {
      if (agent.mode.current === "plan") return { alreadyPlanning: true };
      modesBefore.set(agent.mode, agent.mode.current);
      agent.mode.current = "plan";
      return { alreadyPlanning: false };
    },
    toResult: ({ alreadyPlanning }) =>
      alreadyPlanning
        ? "You are planning already. Finish the plan and call ExitPlanMode."
        : "You are planning now. Read and search as much as you need, change nothing, then call ExitPlanMode with the plan.",
  });
}

function createExit(
  modesBefore: WeakMap<ModeSwitch, PermissionMode>,
  approvePlan: ApprovePlan | undefined,
): Tool {
  return defineTool({
    name: "ExitPlanMode",
    description: exitDescription,
    input: z.object({ plan: z.string().trim().min(1).describe("The plan, as markdown") }),
    // It does nothing but ask; what is allowed afterwards is judged then.
    isReadOnly: () => true,
    isConcurrencySafe: () => false,
    interruptBehavior: "cancel",
    async call({ plan }, { agent, signal }): Promise<ExitPlanModeOutput> {
      if (agent.mode.current !== "plan")
        throw new ToolFailure("You are not planning, so there is nothing to leave. Go on with the work.");
      const answer = approvePlan && (await unlessCancelled(approvePlan(plan, signal), signal));
      if (answer === undefined) return { plan, outcome: "nobody-there" };
      if (!answer.approved) return { plan, outcome: "rejected", message: answer.message };
      // A session that was started planning has no mode before it.
      agent.mode.current = modesBefore.get(agent.mode) ?? "default";
      modesBefore.delete(agent.mode);
      return { plan, outcome: "approved", message: answer.message };
    },
    toResult: describePlan,
  });
}

function describePlan({ outcome, message = "" }: ExitPlanModeOutput): string {
  const said = message.trim() === "" ? "" : ` The person said:\n${message}`;
  switch (outcome) {
    case "approved":
      return `The plan was approved. Carry it out now.${said}`;
    case "rejected":
      return `The plan was not approved; you are still planning. Improve it and call ExitPlanMode again, or ask what should be different.${said}`;
    case "nobody-there":
      return "Nobody could approve the plan here. It was recorded, and you are still planning: change nothing, and end with the plan as your answer.";
  }
}
