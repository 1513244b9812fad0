import { describe, expect, it } from "vitest";
import { foldersAmong, type Listing, listFiles } from "./list-files.ts";
import type { Call, CallResult, Task } from "./playbook.ts";

const listingLimit = 1_000;

/** The tools, as far as they are asked, over a list of paths. */
function answerFrom(paths: readonly string[], call: Call): string {
  const { command, pattern, path = "" } = call.input as Record<string, string | undefined>;
  if (command?.startsWith("git") === true) return "Exit code 128";
  if (command !== undefined) {
    const folder = (/'(.*)'$/.exec(command)?.[1] ?? "").replace(/^\.$/, "");
    return foldersAmong(paths, folder)
      .map((name) => `${name}/`)
      .join("\n");
  }
  const below = paths.filter((each) => path === "" || each.startsWith(`${path}/`));
  const names = /^\{(.*)\}\/\*\*\/\*$/.exec(pattern ?? "")?.[1]?.split(",");
  const rest = (each: string) => (path === "" ? each : each.slice(path.length + 1));
  const found = below.filter((each) => {
    if (pattern === "*") return !rest(each).includes("/");
    return names === undefined || names.includes(rest(each).split("/")[0] ?? "");
  });
  if (found.length === 0) return `No files match ${pattern} in here.`;
  const shown = found.slice(0, listingLimit);
  const more = found.length - shown.length;
  return [...shown, ...(more > 0 ? [`(${more} more files: use a narrower pattern.)`] : [])].join("\n");
}

function list(paths: readonly string[], tools: readonly string[]): { listing: Listing; calls: number } {
  const task: Task = { prompt: "", heard: [], offers: (name) => tools.includes(name) };
  const asking = listFiles(task);
  let calls = 0;
  let step = asking.next([]);
  while (step.done !== true) {
    const results = (step.value.calls ?? []).map((call): CallResult => {
      calls += 1;
      const text = answerFrom(paths, call);
      return { text, isError: text.startsWith("Exit code"), blocks: [] };
    });
    step = asking.next(results);
  }
  return { listing: step.value, calls };
}

const paths = (count: number, nameOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => nameOf(index));

describe("listFiles", () => {
  it.each([
    ["few files", paths(10, (n) => `a/f${n}`)],
    ["many small folders", paths(4_000, (n) => `d${n % 700}/f${n}`)],
    [
      "one large folder among small ones",
      [...paths(50, (n) => `s${n}/f`), ...paths(9_000, (n) => `big/p${n % 30}/f${n}`)],
    ],
    ["deep folders", paths(5_000, (n) => `a/b/c/d${n % 20}/f${n}`)],
  ])("finds all of %s, with and without a shell", (_what, all) => {
    const { listing, calls } = list(all, ["Glob", "Bash"]);
    expect(listing.complete).toBe(true);
    expect([...listing.paths].sort()).toEqual([...all].sort());
    expect(calls).toBeLessThan(100);
    expect(list(all, ["Glob"]).listing.total).toBe(all.length);
  });

  it("says that it is not complete where a folder holds too many files itself", () => {
    const { listing } = list(
      paths(3_000, (n) => `flat/f${n}`),
      ["Glob", "Bash"],
    );
    expect(listing).toMatchObject({ complete: false, total: 3_000 });
    expect(listing.totals.get("flat")).toBe(3_000);
  });

  it("hands on the complaint of a tool that failed", () => {
    const asking = listFiles({ prompt: "", heard: [], offers: () => true });
    asking.next([]);
    const end = asking.next([{ text: "There are too many files", isError: true, blocks: [] }]);
    expect(end).toMatchObject({
      done: true,
      value: { complete: false, problem: "There are too many files" },
    });
  });
});
