/** Which model an agent talks to (SP-8). Pure: making the model is the caller's. */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { Settings } from "../contracts/settings.ts";
import { claudeFamilyOf } from "../model/claude-models.ts";
import { isAlias, meaningOfAlias } from "../model/model-alias.ts";
import { isOpenAiName, openAiFamilyOf } from "../model/openai-models.ts";
import { type Environment, findProvider, type Provider, variableIn } from "../model/provider-choice.ts";
import { chooseModel } from "../model/select-model.ts";

export interface ModelQuestion {
  /** What the call says; in coordinator mode it is left out. */
  readonly call?: string | undefined;
  readonly definition: Pick<AgentDefinition, "agentType" | "model" | "forkContext">;
  /** A fork has its parent's model, whatever anybody wishes. */
  readonly isFork?: boolean;
  readonly parent: { readonly provider: string; readonly id: string };
  readonly env: Environment;
  readonly settings: Pick<Settings, "subagentModel" | "models" | "providers">;
}

export type SelectedModel =
  /** `inherit`, or `provider/id`. The note says what was wished for and why it could not be. */
  | { readonly model: string; readonly note?: string }
  /** For whoever named it: what is wrong, and what would work. */
  | { readonly problem: string };

const environmentVariable = "CADRE_SUBAGENT_MODEL";

/** They play a part of their own: another model would not know it. */
const withoutChoice = new Set(["offline", "scripted"]);

export function selectModel(question: ModelQuestion): SelectedModel {
  const { definition, parent } = question;
  if (question.isFork || definition.forkContext || withoutChoice.has(parent.provider))
    return { model: "inherit" };
  const wish = wishOf(question);
  if (wish === undefined) return { model: "inherit" };
  const found = resolve(wish.name, question);
  if (typeof found === "string") return { model: found };
  const problem = `The model "${wish.name}" (${wish.source}) can not be used: ${found.why}.`;
  // Agent files come from elsewhere, and name models that are not here.
  if (wish.source === inDefinition)
    return {
      model: "inherit",
      note: `${problem} The agent runs with the model of its parent, ${parent.id}.`,
    };
  return { problem: `${problem} ${whatWorks(question)}` };
}

const inDefinition = "in its definition";

interface Wish {
  readonly name: string;
  /** As people know it. */
  readonly source: string;
}

function wishOf({ call, definition, env, settings }: ModelQuestion): Wish | undefined {
  const named = [
    { name: variableIn(env, environmentVariable), source: `in ${environmentVariable}` },
    { name: call?.trim() || undefined, source: "in the call" },
    { name: definition.model?.trim() || undefined, source: inDefinition },
  ];
  const isWish = (wish: { name: string | undefined; source: string }): wish is Wish =>
    wish.name !== undefined;
  const first = named.find(isWish);
  if (first !== undefined && !isInherit(first.name)) return first;
  const setting = {
    name: settings.subagentModel?.trim() || undefined,
    source: 'in the setting "subagentModel"',
  };
  return isWish(setting) && !isInherit(setting.name) ? setting : undefined;
}

function isInherit(name: string): boolean {
  return name.toLowerCase() === "inherit";
}

/** The model in full, `inherit` where it is the parent's, or why it can not be. */
function resolve(name: string, question: ModelQuestion): string | { why: string } {
  const { parent, env, settings } = question;
  const provider = providerOf(question);
  if (isAlias(name)) {
    // A program's own model: nobody knows what an alias would mean beside it.
    if (provider === undefined) return "inherit";
    const meaning = meaningOfAlias({ alias: name, provider, aliases: settings.models });
    if (meaning === undefined)
      return { why: `"${name}" has no meaning for the provider "${parent.provider}"` };
    if (isOwnTier(meaning, provider, question)) return "inherit";
    return `${provider.name}/${meaning}`;
  }
  const selection = chooseModel({
    flag: name,
    // A name without a provider is one of the parent's.
    ...(provider && { setting: `${provider.name}/${parent.id}` }),
    ...(settings.models && { aliases: settings.models }),
    ...(settings.providers && { providers: settings.providers }),
    env,
  });
  if ("problem" in selection) return { why: reasonIn(selection.problem.message) };
  const { choice } = selection;
  if (choice.provider === parent.provider && choice.id === parent.id) return "inherit";
  const chosen = findProvider(choice.provider, { ...settings, env });
  if (chosen !== undefined && !name.includes("/") && !mayServe(chosen, choice.id))
    return { why: `the provider "${choice.provider}" has no model of that name` };
  return "type" in choice ? `${choice.provider}/${choice.id}` : "offline";
}

function providerOf({ parent, settings, env }: ModelQuestion): Provider | undefined {
  return findProvider(parent.provider, { ...settings, env });
}

/**
 * Asking for `opus` below a parent of that class does not change the version. Where two aliases differ in nothing
 * but the version, the id alone counts.
 */
function isOwnTier(meaning: string, provider: Provider, { parent, settings }: ModelQuestion): boolean {
  if (meaning === parent.id) return true;
  const tier = tierOf(meaning);
  if (tier !== tierOf(parent.id)) return false;
  return tiers.every((alias) => {
    const other = meaningOfAlias({ alias, provider, aliases: settings.models });
    return other === undefined || other === meaning || tierOf(other) !== tier;
  });
}

const tiers = ["opus", "sonnet", "haiku"] as const;

/** The name without versions and dates. */
function tierOf(modelId: string): string {
  const family = claudeFamilyOf(modelId) ?? openAiFamilyOf(modelId) ?? modelId.toLowerCase();
  return family
    .split("-")
    .filter((word) => !/^v?\d[\d.]*$/.test(word))
    .join("-");
}

/** The makers' own servers have the makers' models and no others. */
function mayServe({ type, elsewhere }: Provider, id: string): boolean {
  if (elsewhere) return true;
  return type === "anthropic" ? claudeFamilyOf(id) !== undefined : isOpenAiName(id) || id.startsWith("ft:");
}

function whatWorks(question: ModelQuestion): string {
  const { parent, settings } = question;
  const provider = providerOf(question);
  const aliases = tiers.filter(
    (alias) => provider && meaningOfAlias({ alias, provider, aliases: settings.models }) !== undefined,
  );
  const named = aliases.length === 0 ? "" : `, ${aliases.join(", ")}`;
  return `Leave it out for the model of the parent (${parent.id}), or use one of: inherit${named}, or the id of a model of "${parent.provider}".`;
}

/** The first sentence: the others say how to start a session with another model. */
function reasonIn(message: string): string {
  const end = message.indexOf(". ");
  return (end < 0 ? message.replace(/\.$/, "") : message.slice(0, end)).replace(/ in --model/, "");
}
