import type { World } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import type { Model } from "../model/model.ts";
import { chooseModel } from "../model/select-model.ts";

/** The model that the flag, the settings and the environment ask for. Only the chosen one is loaded. */
export async function buildModel(options: {
  world: World;
  flag?: string;
  settings: Settings;
}): Promise<Model> {
  const { world, flag, settings } = options;
  const selection = chooseModel({
    ...(flag !== undefined && { flag }),
    ...(settings.model !== undefined && { setting: settings.model }),
    ...(settings.models && { aliases: settings.models }),
    env: world.env,
  });
  if ("problem" in selection) throw selection.problem;
  const { choice } = selection;
  if (choice.provider === "offline") {
    const { createOfflineModel } = await import("../model/offline/offline-model.ts");
    return createOfflineModel();
  }
  const { createAnthropicModel } = await import("../model/anthropic.ts");
  return createAnthropicModel({
    world,
    id: choice.id,
    [choice.credential.kind]: world.env[choice.credential.variable],
    ...(choice.baseUrl !== undefined && { baseUrl: choice.baseUrl }),
  });
}
