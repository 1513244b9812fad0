import { describe, expect, it } from "vitest";
import { readWording } from "../wording.ts";
import { backgroundWish } from "./background-wording.ts";

const wishOf = (prompt: string) => backgroundWish(readWording(prompt));

describe("a request for work in the background", () => {
  it.each([
    ["map this repository in the background", "map this repository"],
    ["Could you run the tests in background, please?", "run the tests"],
    ["in the background, list TODOs in src/", "list TODOs in src/"],
    ["run the tests in the background and tell me when they are done", "run the tests"],
    ["run the tests in the background and report back", "run the tests"],
    ["start a background task to list TODOs", "list TODOs"],
    ["list TODOs as a background job", "list TODOs"],
  ])("says what is to be done: %s", (prompt, task) => {
    expect(wishOf(prompt)).toEqual({ task });
  });

  it.each(["run `npm run build` in the background", 'start the command "npm run build" in the background'])(
    "may hold a command, in quotes: %s",
    (prompt) => {
      expect(wishOf(prompt)).toMatchObject({ command: "npm run build" });
    },
  );

  it.each([
    "run the tests",
    "find background",
    "find the word background in src",
    "run the tests in the background and tell me what this project does",
    "in the background",
  ])("is not seen where there is none: %s", (prompt) => {
    expect(wishOf(prompt)).toBeUndefined();
  });

  it("holds no command where the words are not in quotes", () => {
    expect(wishOf("run rm -rf x in the background")).toEqual({ task: "run rm -rf x" });
  });
});
