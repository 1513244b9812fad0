import { afterEach, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createSampleRepository, type SampleRepository, sampleKinds } from "./sample-repositories.ts";

const { files } = createNodeWorld();
const made: SampleRepository[] = [];
afterEach(async () => {
  for (const repository of made.splice(0)) await repository.remove();
});

it.each(sampleKinds)("writes a repository of kind %s, committed whole", async (kind) => {
  const repository = await createSampleRepository(kind, { git: true });
  made.push(repository);
  expect(await repository.git("status", "--porcelain")).toBe("");
  const known = (await repository.git("ls-files", "-z")).split("\0").filter((path) => path !== "");
  expect(known.sort()).toEqual([...repository.files].sort());
});

it("makes no repository unless asked", async () => {
  const repository = await createSampleRepository("documents");
  made.push(repository);
  expect((await files.readFolder(repository.path)).map((entry) => entry.name)).not.toContain(".git");
});
