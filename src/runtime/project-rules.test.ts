import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createProjectRules } from "./project-rules.ts";

let project: TempWorkspace;
let other: TempWorkspace;
const world = createNodeWorld();
beforeEach(async () => {
  project = await createTempWorkspace();
  other = await createTempWorkspace();
});
afterEach(async () => {
  await project.remove();
  await other.remove();
});

const file = ".cadre/settings.local.json";
const keep = (...rules: string[]) => createProjectRules({ world, folder: project.path }).keep(rules);
const settings = async () => JSON.parse(await project.read(file)) as unknown;

describe("a rule for the project", () => {
  it("makes the file, private, and says when it will count", async () => {
    const note = await keep("Bash(npm test:*)");
    expect(await settings()).toEqual({ permissions: { allow: ["Bash(npm test:*)"] } });
    expect((await world.files.stat(`${project.path}/${file}`)).mode & 0o777).toBe(0o600);
    expect(note).toContain(`${project.path}/${file}`);
    expect(note).toContain("trusted");
  });

  it("is added to what is there, and every other key stays", async () => {
    await project.write(
      file,
      '{"model":"opus","permissions":{"deny":["Bash(rm:*)"],"allow":["Edit",{"tool":"Task"}]},"__proto__":{"a":1}}',
    );
    await keep("Edit", "Bash(ls)");
    expect(await project.read(file)).toContain('"__proto__"');
    expect(await settings()).toMatchObject({
      model: "opus",
      permissions: { deny: ["Bash(rm:*)"], allow: ["Edit", { tool: "Task" }, "Bash(ls)"] },
    });
  });

  it("is not lost when several are granted at once", async () => {
    const rules = createProjectRules({ world, folder: project.path });
    await Promise.all(["a", "b", "c"].map((rule) => rules.keep([rule])));
    expect(await settings()).toEqual({ permissions: { allow: ["a", "b", "c"] } });
  });

  it.each(["not json", "[]", '{"permissions":7}', '{"permissions":{"allow":"Bash"}}', ""])(
    "leaves a file alone that it does not understand: %j",
    async (text) => {
      await project.write(file, text);
      expect(await keep("Edit")).toContain("for this session only");
      expect(await project.read(file)).toBe(text);
    },
  );

  it("is never written through a link, which could lead to the settings of the user", async () => {
    await other.write("settings.local.json", "{}");
    await world.files.symlink(other.path, `${project.path}/.cadre`);
    expect(await keep("Bash")).toContain("a link");
    await world.files.remove(`${project.path}/.cadre`);
    await world.files.makeFolder(`${project.path}/.cadre`);
    await world.files.symlink(`${other.path}/settings.local.json`, `${project.path}/${file}`);
    expect(await keep("Bash")).toContain("a link");
    expect(await other.read("settings.local.json")).toBe("{}");
  });
});
