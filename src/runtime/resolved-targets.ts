/** Where the paths in a call's input lead at this moment. */
import { createPathLocator } from "../permissions/locate-path.ts";
import type { ToolContext } from "../tools/tool-context.ts";

const pathFields = ["file_path", "notebook_path", "path"];

/** Links of the longest existing part resolved. Two answers differ when a path has come to lead elsewhere. */
export async function resolvedTargets(
  input: Readonly<Record<string, unknown>>,
  { world, agent }: ToolContext,
): Promise<string[]> {
  const locator = createPathLocator({ files: world.files, homeFolder: world.homeFolder });
  const paths = pathFields.flatMap((field) => {
    const value = Object.hasOwn(input, field) ? input[field] : undefined;
    return typeof value === "string" ? [value] : [];
  });
  const located = await Promise.all(
    paths.map((path) => locator.locate(path, { folder: agent.folder.current })),
  );
  return located.map(({ named, real }) => `${named}\0${real ?? "(unknown)"}`);
}
