import { describe, expect, it } from "vitest";
import { permissionsOfAgent, permissionsOfKind } from "./agent-permissions.ts";

const selection = { tools: [], within: new Map(), denied: [], unknown: [] };
const nothing = { ownFolders: [], allowedTools: undefined };

describe("what an agent's calls are judged by", () => {
  it("is nothing where its definition says nothing", () => {
    expect(permissionsOfAgent(permissionsOfKind({}, selection), nothing)).toBeUndefined();
  });

  it("is one value for all agents of a kind that have nothing of their own", () => {
    const kind = permissionsOfKind({ traits: { readOnlyTools: ["Bash"] } }, selection);
    expect(kind).toEqual({ readOnlyTools: new Set(["Bash"]) });
    expect(permissionsOfAgent(kind, nothing)).toBe(kind);
  });

  it("is, for one alone, its folders and rules that stand instead of others", () => {
    const own = { ownFolders: ["/own"], allowedTools: ["Read"] };
    expect(permissionsOfAgent({ denied: ["Bash(rm:*)"] }, own)).toEqual({
      denied: ["Bash(rm:*)"],
      ownFolders: ["/own"],
      allowInstead: ["Read"],
    });
  });

  it("grants the tools that it names only where the definition is trusted with it", () => {
    const tools = ["WebFetch"];
    expect(permissionsOfKind({ tools }, selection)).toBeUndefined();
    expect(permissionsOfKind({ tools, traits: { grantsItsTools: true } }, selection)).toEqual({
      grantedTools: new Set(tools),
    });
  });
});
