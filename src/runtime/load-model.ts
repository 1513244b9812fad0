import type { World } from "../base/world.ts";
import { createAnthropicModel } from "../model/anthropic.ts";
import type { Model } from "../model/model.ts";
import type { ModelChoice } from "../model/select-model.ts";

/** The chosen model. Its provider's package is loaded when it is first asked. Its credential is read only here. */
export async function loadModel(world: World, choice: ModelChoice): Promise<Model> {
  if (!("type" in choice)) {
    const { createOfflineModel } = await import("../model/offline/offline-model.ts");
    return createOfflineModel();
  }
  const { credential, baseUrl } = choice;
  const { contextWindow, maxOutputTokens, headers } = choice.settings;
  const common = {
    world,
    id: choice.id,
    provider: choice.provider,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(headers && { headers }),
    names: { address: choice.addressName, ...(credential && { credential: credential.variable }) },
  };
  if (choice.type === "openai") {
    const { createOpenAiModel } = await import("../model/openai.ts");
    return createOpenAiModel({ ...common, ...(credential && { apiKey: world.env[credential.variable] }) });
  }
  return createAnthropicModel({
    ...common,
    // A server that needs no key still wants to see the header.
    ...(credential ? { [credential.kind]: world.env[credential.variable] } : { apiKey: "none" }),
    local: choice.local && choice.provider !== "anthropic",
  });
}
