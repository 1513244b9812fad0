/** The model that an agent talks to, ready to be asked. */

import type { Model } from "../model/model.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentHost } from "./agent-host.ts";
import { selectModel } from "./select-model.ts";
import type { SpawnRequest } from "./spawn-request.ts";

export async function modelForAgent(
  host: Pick<AgentHost, "modelNamed" | "settings" | "world">,
  { parent, definition, model: call }: Pick<SpawnRequest, "parent" | "definition" | "model">,
): Promise<{ model: Model; warnings: readonly string[] }> {
  const selected = selectModel({
    call,
    definition,
    parent: parent.model,
    env: host.world.env,
    settings: host.settings,
  });
  if ("problem" in selected) throw new ToolFailure(selected.problem, { code: "agent-model" });
  const warnings = selected.note === undefined ? [] : [selected.note];
  if (selected.model === "inherit") return { model: parent.model, warnings };
  if (host.modelNamed) return { model: await host.modelNamed(selected.model), warnings };
  // A program that brought one model has no other. What a call asks for is refused, what a definition would like is not.
  const problem = `The model "${selected.model}" cannot be had: this session has no model but ${parent.model.id}.`;
  if (call !== undefined) throw new ToolFailure(`${problem} Leave it out.`, { code: "agent-model" });
  return { model: parent.model, warnings: [...warnings, problem] };
}
