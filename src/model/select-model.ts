/** Which model a session talks to: `--model`, then the settings, then what keys there are, then the offline one. */
import { CadreError } from "../base/errors.ts";
import { type AliasSettings, isAlias, meaningOfAlias } from "./model-alias.ts";
import { isOpenAiName } from "./openai-models.ts";
import {
  type Credential,
  credentialOf,
  type Environment,
  findProvider,
  type Provider,
  type ProviderSettings,
  variableIn,
} from "./provider-choice.ts";

export type ModelChoice = RemoteChoice | { readonly provider: "offline"; readonly id: "offline" };

export interface RemoteChoice {
  /** `anthropic`, `openai`, or a name from the settings. */
  readonly provider: string;
  /** The dialect it speaks. */
  readonly type: "anthropic" | "openai";
  readonly id: string;
  /** Absent: it is asked without a key. */
  readonly credential?: Credential;
  readonly baseUrl: string | undefined;
  /** The variable or setting that holds the address, for messages. */
  readonly addressName: string;
  readonly local: boolean;
  readonly settings: ProviderSettings[string];
}

export interface ModelWishes {
  /** From `--model`. */
  readonly flag?: string;
  /** From the settings: `model`. */
  readonly setting?: string;
  /** From the settings: `models`. */
  readonly aliases?: AliasSettings;
  /** From the settings: `providers`. */
  readonly providers?: ProviderSettings;
  readonly env: Environment;
}

export type ModelSelection = { choice: ModelChoice } | { problem: CadreError };

export function chooseModel(wishes: ModelWishes): ModelSelection {
  const wish = wishOf(wishes);
  if (wish === undefined) {
    const provider = usualProvider(wishes);
    return provider === undefined
      ? { choice: { provider: "offline", id: "offline" } }
      : chooseFrom(provider, "default", wishes);
  }
  const name = wish.name.trim();
  if (name === "")
    return problem("model-unknown", `The model in ${wish.source} is empty. Name one, or leave it out.`);
  if (name.toLowerCase() === "offline") return { choice: { provider: "offline", id: "offline" } };
  const slash = name.indexOf("/");
  if (slash < 0) return chooseFrom(providerFor(name, wishes), name, wishes);
  const prefix = name.slice(0, slash).trim();
  const id = name.slice(slash + 1).trim();
  if (findProvider(prefix, wishes) !== undefined) {
    if (id !== "") return chooseFrom(prefix, id, wishes);
    return problem("model-unknown", `"${name}" in ${wish.source} names a provider but no model.`);
  }
  // Gateways have ids with slashes of their own.
  const gateway = gatewayIn(wishes.env);
  if (gateway !== undefined) return chooseFrom(gateway, name, wishes);
  return problem(
    "model-provider-missing",
    `"${name}" in ${wish.source} names the unknown provider "${prefix}". Known are: ${knownProviders(wishes)}. Add it to the settings: "providers": { "${prefix}": { "type": "openai", "baseUrl": "https://...", "keyEnv": "NAME_OF_THE_VARIABLE" } }.`,
  );
}

function wishOf({ flag, setting }: ModelWishes): { name: string; source: string } | undefined {
  if (flag !== undefined) return { name: flag, source: "--model" };
  if (setting !== undefined) return { name: setting, source: 'the setting "model"' };
  return undefined;
}

/** Whose a name without a provider is. */
function providerFor(name: string, wishes: ModelWishes): string {
  const { env } = wishes;
  const usual = usualProvider(wishes) ?? "anthropic";
  if (isAlias(name)) return usual;
  const owner = /^claude/i.test(name) ? "anthropic" : isOpenAiName(name) ? "openai" : undefined;
  if (owner === undefined || owner === usual) return usual;
  // A gateway may well serve the models of others.
  return hasKey(owner, wishes) || gatewayIn(env) === undefined ? owner : usual;
}

/** The one that a session has when nobody says otherwise: that of the settings, else the one there is a key for. */
function usualProvider(wishes: ModelWishes): string | undefined {
  const { setting = "", env } = wishes;
  const prefix = setting.includes("/") ? setting.slice(0, setting.indexOf("/")).trim() : "";
  if (prefix !== "" && findProvider(prefix, wishes) !== undefined) return prefix;
  if (hasKey("anthropic", wishes)) return "anthropic";
  if (hasKey("openai", wishes)) return "openai";
  return gatewayIn(env);
}

function hasKey(name: "anthropic" | "openai", wishes: ModelWishes): boolean {
  const provider = findProvider(name, wishes);
  return provider !== undefined && credentialOf(provider, wishes.env).credential !== undefined;
}

function gatewayIn(env: Environment): "anthropic" | "openai" | undefined {
  if (variableIn(env, "ANTHROPIC_BASE_URL")) return "anthropic";
  return variableIn(env, "OPENAI_BASE_URL") ? "openai" : undefined;
}

function chooseFrom(providerName: string, name: string, wishes: ModelWishes): ModelSelection {
  const provider = findProvider(providerName, wishes);
  if (provider === undefined) throw new Error(`There is no provider ${providerName}`);
  const id = isAlias(name) ? meaningOfAlias({ alias: name, provider, aliases: wishes.aliases }) : name;
  if (id === undefined) return { problem: aliasError(name, provider.name) };
  const { credential, missing } = credentialOf(provider, wishes.env);
  if (missing !== undefined) return keyProblem({ id, missing, provider });
  return {
    choice: {
      provider: provider.name,
      type: provider.type,
      id,
      ...(credential && { credential }),
      baseUrl: provider.baseUrl,
      addressName: provider.addressName,
      local: provider.local,
      settings: provider.settings,
    },
  };
}

function keyProblem({ id, missing, provider }: { id: string; missing: string; provider: Provider }) {
  const place =
    provider.baseUrl === undefined
      ? ""
      : ` ${capital(provider.addressName)} is set, but that is only the address.`;
  return problem(
    "model-key-missing",
    `The model "${id}" needs a key, and there is none.${place} Export ${missing}, or use --model offline, which needs neither key nor network.`,
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function aliasError(alias: string, provider: string): CadreError {
  const name = alias.trim().toLowerCase();
  return new CadreError({
    code: "model-alias-unknown",
    message: `"${name}" is an alias that has no meaning for the provider "${provider}". Name a model ("${provider}/ID"), or say in the settings what it stands for: "models": { "${provider}": { "${name === "inherit" ? "default" : name}": "ID" } }.`,
  });
}

function knownProviders({ providers = {} }: ModelWishes): string {
  return [...new Set(["anthropic", "openai", ...Object.keys(providers)])].join(", ");
}

function problem(code: string, message: string): ModelSelection {
  return { problem: new CadreError({ code, message }) };
}
