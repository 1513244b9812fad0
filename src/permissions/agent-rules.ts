/** The rules that one agent brings along, put together with those of the session. */
import type { Rule, SourcedRules } from "../contracts/permission.ts";
import type { ParsedRule } from "./rule.ts";
import { createRuleBook, type RuleBook, type RuleBookOptions } from "./rule-book.ts";

export interface AgentRules {
  /** `allow` stands instead of all allow rules but those a person granted for the session; `deny` comes on top. */
  inForce(rules: { allow?: readonly Rule[] | undefined; deny?: readonly Rule[] | undefined }): RuleBook;
  /** These alone, for asking what they cover. */
  alone(rules: readonly Rule[]): RuleBook;
}

/** Remembers what was parsed by the identity of the list: it is the same for each call of an agent. */
export function createAgentRules(
  book: RuleBook,
  options: Pick<RuleBookOptions, "ignoreCase" | "policyOnly">,
): AgentRules {
  const { ignoreCase } = options;
  const allowing = remember((allow) => createRuleBook({ ...options, rules: [{ source: "command", allow }] }));
  const denying = remember((deny) => createRuleBook({ ...options, rules: [{ source: "agent", deny }] }));
  const alone = remember((allow) => {
    const rules: SourcedRules[] = [{ source: "agent", allow }];
    return createRuleBook({ ignoreCase, policyOnly: false, rules });
  });

  return {
    alone,
    inForce({ allow, deny }) {
      if (allow === undefined && deny === undefined) return book;
      return {
        ...book,
        rulesFor(behavior, names): readonly ParsedRule[] {
          const ofSession = book.rulesFor(behavior, names);
          if (behavior === "allow" && allow !== undefined)
            return [
              ...allowing(allow).rulesFor("allow", names),
              ...ofSession.filter((rule) => rule.source === "session"),
            ];
          if (behavior === "deny" && deny !== undefined)
            return [...ofSession, ...denying(deny).rulesFor("deny", names)];
          return ofSession;
        },
      };
    },
  };
}

function remember(make: (rules: readonly Rule[]) => RuleBook): (rules: readonly Rule[]) => RuleBook {
  const made = new WeakMap<readonly Rule[], RuleBook>();
  return (rules) => {
    const book = made.get(rules) ?? make(rules);
    made.set(rules, book);
    return book;
  };
}
