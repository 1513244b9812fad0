/** Writes rules that a person granted for the project into its local settings. */
import { join } from "node:path";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import { replaceFile } from "../base/files.ts";
import type { FileInfo, World } from "../base/world.ts";

type RuleWorld = Pick<World, "files" | "random">;

export interface ProjectRules {
  /** Says where the rules went, or why they could not be written. They hold for the session in any case. */
  keep(rules: readonly string[]): Promise<string>;
}

/** Larger than any settings that a person writes. */
const maxBytes = 1024 * 1024;

export function createProjectRules(options: { world: RuleWorld; folder: string }): ProjectRules {
  const path = join(options.folder, ".cadre", "settings.local.json");
  let last: Promise<unknown> = Promise.resolve();
  return {
    async keep(rules) {
      // One after the other: each adds to what the one before has written.
      const writing = last.then(() =>
        addRules({ world: options.world, folder: options.folder, path, rules }),
      );
      last = writing.catch(() => {});
      try {
        await writing;
      } catch (error) {
        return `Allowed for this session only: ${path} could not be changed: ${messageOf(error)}`;
      }
      return `Allowed for this session, and written to ${path}. Rules of a project count in later sessions only where its folder is trusted.`;
    },
  };
}

async function addRules(options: {
  world: RuleWorld;
  folder: string;
  path: string;
  rules: readonly string[];
}): Promise<void> {
  const { world, folder, path, rules } = options;
  const { files, random } = world;
  const cadreFolder = join(folder, ".cadre");
  // A project could have put a link there that leads to the settings of the user.
  if ((await infoOf(world, cadreFolder, "folder")) === undefined) await files.makeFolder(cadreFolder);
  const info = await infoOf(world, path, "file");
  if (info !== undefined && info.size > maxBytes) throw refused("it is too large to be settings.");
  const settings = info === undefined ? {} : parse(await files.readText(path));
  const permissions = record(settings.permissions ?? {}, "permissions");
  const allow = permissions.allow ?? [];
  if (!Array.isArray(allow)) throw refused('"permissions.allow" in it is not a list.');
  const added = rules.filter((rule) => !allow.includes(rule));
  if (added.length === 0) return;
  const changed = {
    ...settings,
    permissions: { ...permissions, allow: [...(allow as unknown[]), ...added] },
  };
  await replaceFile({ files, random, path, data: `${JSON.stringify(changed, null, 2)}\n` });
}

async function infoOf(
  { files }: RuleWorld,
  path: string,
  kind: FileInfo["kind"],
): Promise<FileInfo | undefined> {
  let info: FileInfo;
  try {
    info = await files.lstat(path);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  if (info.kind !== kind)
    throw refused(`${path} is not a ${kind}${info.kind === "link" ? " but a link" : ""}.`);
  return info;
}

function parse(text: string): Record<string, unknown> {
  try {
    return record(JSON.parse(text.replace(/^\uFEFF/, "")) as unknown, "the whole");
  } catch (error) {
    if (error instanceof SyntaxError) throw refused(`it is not valid JSON (${error.message}).`);
    throw error;
  }
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw refused(`${what} in it is not an object.`);
}

function refused(message: string): CadreError {
  return new CadreError({ code: "project-settings-unusable", message });
}
