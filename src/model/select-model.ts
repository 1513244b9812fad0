/** Which model a session talks to: `--model`, then the settings, then what keys there are, then the offline one. */
import { CadreError } from "../base/errors.ts";

export type ModelAlias = "opus" | "sonnet" | "haiku" | "default";

/** Per provider, the ids that the aliases stand for; what is missing is built in. */
export type AliasSettings = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

export type ModelChoice =
  | {
      readonly provider: "anthropic";
      readonly id: string;
      /** The variable that holds the credential. Its value stays where it is until the model is made. */
      readonly credential: { readonly variable: string; readonly kind: "apiKey" | "authToken" };
      readonly baseUrl: string | undefined;
    }
  | { readonly provider: "offline"; readonly id: "offline" };

export interface ModelWishes {
  /** From `--model`. */
  readonly flag?: string;
  /** From the settings: `model`. */
  readonly setting?: string;
  /** From the settings: `models`. */
  readonly aliases?: AliasSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type ModelSelection = { choice: ModelChoice } | { problem: CadreError };

const builtInAliases: Readonly<Record<string, Readonly<Record<ModelAlias, string>>>> = {
  anthropic: {
    opus: "claude-opus-5-5",
    sonnet: "claude-sonnet-5-5",
    haiku: "claude-haiku-5-5",
    default: "claude-sonnet-5-5",
  },
  offline: { opus: "offline", sonnet: "offline", haiku: "offline", default: "offline" },
};

/** `inherit` means the parent's model; at the top there is no parent, so it is the default. */
const aliasNames = ["opus", "sonnet", "haiku", "default", "inherit"];

export function chooseModel(wishes: ModelWishes): ModelSelection {
  const wish = wishOf(wishes);
  if (wish === undefined) {
    return isSet(wishes.env.ANTHROPIC_BASE_URL) || credentialIn(wishes.env)
      ? chooseAnthropic("default", wishes)
      : { choice: { provider: "offline", id: "offline" } };
  }
  const name = wish.name.trim();
  if (name === "")
    return problem("model-unknown", `The model in ${wish.source} is empty. Name one, or leave it out.`);
  if (name.toLowerCase() === "offline") return { choice: { provider: "offline", id: "offline" } };
  const provider = providerPrefixOf(name);
  if (provider === undefined) return chooseAnthropic(name, wishes);
  if (provider === "anthropic") {
    const id = name.slice("anthropic/".length).trim();
    if (id !== "") return chooseAnthropic(id, wishes);
    return problem("model-unknown", `"${name}" in ${wish.source} names a provider but no model.`);
  }
  if (provider === "openai") {
    return problem(
      "model-provider-missing",
      `"${name}" in ${wish.source} needs an OpenAI-compatible provider, which Cadre does not speak to yet. Use a Claude model or "offline".`,
    );
  }
  // Gateways that speak the Messages API have ids with slashes of their own.
  if (isSet(wishes.env.ANTHROPIC_BASE_URL)) return chooseAnthropic(name, wishes);
  return problem(
    "model-provider-missing",
    `"${name}" in ${wish.source} begins with the unknown provider "${provider}". Use a Claude model, "offline", or set ANTHROPIC_BASE_URL to a gateway that has this model.`,
  );
}

/**
 * The id that `name` stands for with this provider. What is not an alias is an id already. `inherited` is what
 * `inherit` gives: the id of the parent's model.
 */
export function resolveModelName(options: {
  name: string;
  provider: string;
  aliases?: AliasSettings;
  inherited?: string;
}): string {
  const alias = options.name.trim().toLowerCase();
  if (!aliasNames.includes(alias)) return options.name.trim();
  if (alias === "inherit" && options.inherited !== undefined) return options.inherited;
  const key = alias === "inherit" ? "default" : (alias as ModelAlias);
  const configured = options.aliases?.[options.provider];
  const own =
    configured !== undefined && Object.hasOwn(configured, key) ? configured[key]?.trim() : undefined;
  return own || builtInAliases[options.provider]?.[key] || options.name.trim();
}

function wishOf({ flag, setting }: ModelWishes): { name: string; source: string } | undefined {
  if (flag !== undefined) return { name: flag, source: "--model" };
  if (setting !== undefined) return { name: setting, source: 'the setting "model"' };
  return undefined;
}

function providerPrefixOf(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash < 0 ? undefined : name.slice(0, slash).toLowerCase();
}

function chooseAnthropic(name: string, { env, aliases }: ModelWishes): ModelSelection {
  const id = resolveModelName({ name, provider: "anthropic", aliases });
  const baseUrl = isSet(env.ANTHROPIC_BASE_URL) ? env.ANTHROPIC_BASE_URL.trim() : undefined;
  const credential = credentialIn(env);
  if (credential) return { choice: { provider: "anthropic", id, credential, baseUrl } };
  const place = baseUrl === undefined ? "" : " ANTHROPIC_BASE_URL is set, but that is only the address.";
  return problem(
    "model-key-missing",
    `The model "${id}" needs a key, and there is none.${place} Export ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or use --model offline, which needs neither key nor network.`,
  );
}

function credentialIn(
  env: ModelWishes["env"],
): { variable: string; kind: "apiKey" | "authToken" } | undefined {
  if (isSet(env.ANTHROPIC_API_KEY)) return { variable: "ANTHROPIC_API_KEY", kind: "apiKey" };
  if (isSet(env.ANTHROPIC_AUTH_TOKEN)) return { variable: "ANTHROPIC_AUTH_TOKEN", kind: "authToken" };
  return undefined;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}

function problem(code: string, message: string): ModelSelection {
  return { problem: new CadreError({ code, message }) };
}
