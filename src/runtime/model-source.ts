import type { World } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import type { RequestEnd } from "../model/gated-answer.ts";
import { createGateway, type Gateway, type GatewayLimits } from "../model/gateway.ts";
import type { Model } from "../model/model.ts";
import { chooseModel, type ModelChoice } from "../model/select-model.ts";
import { loadModel } from "./load-model.ts";

/** Where the models of a process come from. All that it hands out of one account share one gateway (LO-11). */
export interface ModelSource {
  /** By id or alias; absent: what the settings and the environment say. Throws a `CadreError` that says what to do. */
  model(name?: string): Promise<Model>;
}

export function createModelSource(options: {
  world: World;
  settings: Settings;
  gatewayLimits?: Partial<GatewayLimits>;
  onRequestEnd?: (end: RequestEnd) => void;
}): ModelSource {
  const { world, settings } = options;
  const gateways = new Map<string, Gateway>();
  /** Agents of one model share it, and with it what it keeps of requests. */
  const models = new Map<string, Promise<Model>>();

  function connected(choice: ModelChoice): Promise<Model> {
    const key = `${choice.provider}/${choice.id}`;
    const known = models.get(key);
    if (known) return known;
    const model = connect(choice);
    models.set(key, model);
    model.catch(() => models.delete(key));
    return model;
  }

  async function connect(choice: ModelChoice): Promise<Model> {
    const model = await loadModel(world, choice);
    const account = accountOf(choice);
    if (account === undefined) return model;
    let gateway = gateways.get(account);
    if (gateway === undefined) {
      gateway = createGateway({
        clock: world.clock,
        random: world.random,
        ...(options.gatewayLimits && { limits: options.gatewayLimits }),
        ...(options.onRequestEnd && { onRequestEnd: options.onRequestEnd }),
      });
      gateways.set(account, gateway);
    }
    return gateway.connect(model);
  }

  function choose(name: string | undefined): ModelChoice {
    const selection = chooseModel({
      ...(name !== undefined && { flag: name }),
      ...(settings.model !== undefined && { setting: settings.model }),
      ...(settings.models && { aliases: settings.models }),
      ...(settings.providers && { providers: settings.providers }),
      env: world.env,
    });
    if ("problem" in selection) throw selection.problem;
    return selection.choice;
  }

  return {
    async model(name) {
      const primary = await connected(choose(name));
      const { fallbackModel } = settings;
      if (fallbackModel === undefined || primary.provider === "offline") return primary;
      const fallback = await connected(choose(fallbackModel));
      if (fallback.id === primary.id && fallback.provider === primary.provider) return primary;
      const { withFallback } = await import("../model/fallback.ts");
      return withFallback({ primary, fallback, clock: world.clock });
    },
  };
}

/** Whoever is limited together: the same provider, at the same address, with the same credential. */
function accountOf(choice: ModelChoice): string | undefined {
  if (!("type" in choice)) return undefined;
  return JSON.stringify([choice.provider, choice.baseUrl, choice.credential?.variable]);
}
