/** The providers there are: two built in, and those that the settings name. */
import type { Settings } from "../contracts/settings.ts";
import { isLoopback } from "./loopback.ts";

export type ProviderSettings = NonNullable<Settings["providers"]>;
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Provider {
  /** As the settings spell it. */
  readonly name: string;
  readonly type: "anthropic" | "openai";
  readonly settings: ProviderSettings[string];
  readonly baseUrl: string | undefined;
  /** The variable or setting that holds the address, for messages. */
  readonly addressName: string;
  /** Not the address of the company that made the dialect. */
  readonly elsewhere: boolean;
  readonly local: boolean;
}

/** The variable that holds a key. Its value stays where it is until the model is made. */
export interface Credential {
  readonly variable: string;
  readonly kind: "apiKey" | "authToken";
}

const baseUrlVariables = { anthropic: "ANTHROPIC_BASE_URL", openai: "OPENAI_BASE_URL" } as const;
const keyVariables = {
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
  openai: ["OPENAI_API_KEY"],
} as const;

export function findProvider(
  wanted: string,
  { providers = {}, env }: { providers?: ProviderSettings; env: Environment },
): Provider | undefined {
  const name = Object.keys(providers).find((key) => key.toLowerCase() === wanted.toLowerCase());
  const builtIn = builtInTypeOf(wanted);
  if (name === undefined && builtIn === undefined) return undefined;
  const settings = (name === undefined ? undefined : providers[name]) ?? {};
  const type = settings.type ?? builtIn ?? "openai";
  const variable = baseUrlVariables[type];
  const fromEnv = builtIn === type ? variableIn(env, variable) : undefined;
  const baseUrl = settings.baseUrl ?? fromEnv;
  return {
    name: name ?? wanted.toLowerCase(),
    type,
    settings,
    baseUrl,
    addressName:
      builtIn === type && settings.baseUrl === undefined
        ? variable
        : `the setting "providers.${name}.baseUrl"`,
    elsewhere: baseUrl !== undefined && !/^https:\/\/api\.(openai|anthropic)\.com(\/|$)/.test(baseUrl),
    local: baseUrl !== undefined && isLoopback(baseUrl),
  };
}

/** The key to send, or the name of the variable that is missing. Neither: it is asked without a key. */
export function credentialOf(
  provider: Provider,
  env: Environment,
): { credential?: Credential; missing?: string } {
  const { type, settings } = provider;
  const isBuiltIn = builtInTypeOf(provider.name) === type;
  // A key from the environment does not go to an address that it was not meant for.
  if (settings.keyEnv === undefined && !isBuiltIn && provider.elsewhere) return {};
  const candidates = settings.keyEnv === undefined ? keyVariables[type] : [settings.keyEnv];
  const variable = candidates.find((each) => variableIn(env, each) !== undefined);
  if (variable !== undefined) return { credential: { variable, kind: kindOf(variable, type) } };
  const canDoWithout = settings.keyEnv === undefined && type === "openai" && provider.elsewhere;
  return canDoWithout ? {} : { missing: candidates.join(" or ") };
}

function kindOf(variable: string, type: Provider["type"]): Credential["kind"] {
  return type === "anthropic" && /AUTH_TOKEN$/.test(variable) ? "authToken" : "apiKey";
}

function builtInTypeOf(name: string): Provider["type"] | undefined {
  const lower = name.toLowerCase();
  return lower === "anthropic" || lower === "openai" ? lower : undefined;
}

/** A variable that is empty is not set. */
export function variableIn(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}
