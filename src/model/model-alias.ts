/** Names that mean another model with every provider, so that agent files run on any of them (LO-10). */
import type { Provider } from "./provider-choice.ts";

export type ModelAlias = "opus" | "sonnet" | "haiku" | "default";

/** Per provider, the ids that the aliases stand for; what is missing is built in. */
export type AliasSettings = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const builtIn: Readonly<Record<Provider["type"], Readonly<Record<ModelAlias, string>>>> = {
  anthropic: {
    opus: "claude-opus-5-5",
    sonnet: "claude-sonnet-5-5",
    haiku: "claude-haiku-5-5",
    default: "claude-sonnet-5-5",
  },
  openai: {
    opus: "gpt-6.1-sol",
    sonnet: "gpt-6.1-terra",
    haiku: "gpt-6-luna",
    default: "gpt-6.1-sol",
  },
};

/** `inherit` means the parent's model; at the top there is no parent, so it is the default. */
const aliasNames = ["opus", "sonnet", "haiku", "default", "inherit"];

export function isAlias(name: string): boolean {
  return aliasNames.includes(name.trim().toLowerCase());
}

/** Undefined: nobody has said what it means with this provider. */
export function meaningOfAlias(options: {
  alias: string;
  provider: Provider;
  aliases: AliasSettings | undefined;
}): string | undefined {
  const { provider } = options;
  const alias = options.alias.trim().toLowerCase();
  const key = alias === "inherit" ? "default" : (alias as ModelAlias);
  const configured = ownOf(options.aliases, provider.name);
  const told = (name: string) => ownOf(configured, name)?.trim() || undefined;
  return told(key) ?? (hasUsualModels(provider) ? builtIn[provider.type][key] : undefined) ?? told("default");
}

/** A server of one's own has the models that were put there; a gateway to Claude has Claude. */
function hasUsualModels({ name, type, elsewhere, local }: Provider): boolean {
  const isBuiltIn = name.toLowerCase() === type;
  if (type === "anthropic") return isBuiltIn || !local;
  return isBuiltIn ? !local : !elsewhere;
}

function ownOf<Value>(record: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  if (record === undefined) return undefined;
  const found = Object.keys(record).find((each) => each.toLowerCase() === key.toLowerCase());
  return found === undefined ? undefined : record[found];
}
