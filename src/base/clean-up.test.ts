import { expect, it } from "vitest";
import { createCleanUp } from "./clean-up.ts";

it("undoes the last first, all of it, and says what failed", async () => {
  const done: string[] = [];
  const cleanUp = createCleanUp();
  cleanUp.add("the first", () => void done.push("first"));
  cleanUp.add("the second", async () => {
    done.push("second");
    throw new Error("stuck");
  });
  cleanUp.add("the third", () => {
    done.push("third");
    throw new Error("broken");
  });
  expect(await cleanUp.run()).toEqual(["the third: broken", "the second: stuck"]);
  expect(done).toEqual(["third", "second", "first"]);
  expect(await cleanUp.run()).toEqual([]);
  expect(done).toHaveLength(3);
});

it("also undoes what was added while it ran", async () => {
  const done: string[] = [];
  const cleanUp = createCleanUp();
  cleanUp.add("outer", () => cleanUp.add("inner", () => void done.push("inner")));
  await cleanUp.run();
  expect(done).toEqual(["inner"]);
});
