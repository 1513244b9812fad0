/** What the model of a definition means here. */
import type { World } from "../../base/world.ts";
import type { Settings } from "../../contracts/settings.ts";
import { isAlias } from "../../model/model-alias.ts";
import { chooseModel, type ModelSelection } from "../../model/select-model.ts";
import { nearest } from "../nearest.ts";

interface Place {
  readonly world: Pick<World, "env">;
  readonly settings: Settings;
}

/** What is wrong with the name, or undefined. */
export function problemOfModel(name: string, place: Place): string | undefined {
  if (name.trim() === "") return "the model is empty";
  const selection = select(name, place);
  // That there is no key for it at present is no fault of the definition.
  const code = "problem" in selection ? selection.problem.code : undefined;
  if (code === "model-alias-unknown")
    return `the model "${name}" has no meaning with the provider in use: whoever starts the agent lends its own`;
  if (code === "model-provider-missing")
    return `the model "${name}" names a provider that the settings do not know`;
  if (code === "model-unknown") return `"${name}" is not the name of a model`;
  // Ids have digits, dashes or a provider in front; a bare word is most often an alias that was misspelt.
  if (isAlias(name) || name.trim().toLowerCase() === "offline" || /[\d/:.-]/.test(name)) return undefined;
  const close = nearest(name.toLowerCase(), ["opus", "sonnet", "haiku", "default", "inherit"]);
  const hint = close === undefined ? "" : ` (did you mean ${close}?)`;
  return `the model "${name}" is no alias that is known${hint}, and will be sent to the provider as an id`;
}

/** The id that an alias stands for, where that can be told. */
export function meaningOfModel(name: string, place: Place): string | undefined {
  if (!isAlias(name) || name.trim().toLowerCase() === "inherit") return undefined;
  const selection = select(name, place);
  return "choice" in selection && "type" in selection.choice ? selection.choice.id : undefined;
}

function select(name: string, { world, settings }: Place): ModelSelection {
  return chooseModel({
    flag: name,
    setting: settings.model,
    aliases: settings.models,
    providers: settings.providers,
    env: world.env,
  });
}
