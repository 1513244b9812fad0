import { describe, expect, it } from "vitest";
import { HeaderList } from "./http-headers.ts";

describe("HeaderList", () => {
  it("behaves like the global Headers", () => {
    const pairs: [string, string][] = [
      ["X-B", "2"],
      ["content-Type", "text/plain"],
      ["x-b", "3"],
      ["Set-Cookie", "a=1"],
      ["set-cookie", "b=2"],
    ];
    const [ours, global] = [new HeaderList(pairs), new Headers(pairs)];
    for (const list of [ours, global]) {
      list.set("X-New", "1");
      list.append("x-new", "2");
      list.delete("CONTENT-TYPE");
    }
    expect([...ours]).toEqual([...global]);
    expect([...ours.keys()]).toEqual([...global.keys()]);
    expect([...ours.values()]).toEqual([...global.values()]);
    expect(ours.getSetCookie()).toEqual(global.getSetCookie());
    for (const name of ["x-b", "X-B", "content-type", "set-cookie", "missing"]) {
      expect([ours.get(name), ours.has(name)]).toEqual([global.get(name), global.has(name)]);
    }
    const seen: string[] = [];
    ours.forEach((value, name) => {
      seen.push(`${name}: ${value}`);
    });
    expect(seen).toEqual([...global].map(([name, value]) => `${name}: ${value}`));
  });

  it("takes every form in which headers are given", () => {
    const expected = [["a", "1"]];
    expect([...new HeaderList({ A: "1" })]).toEqual(expected);
    expect([...new HeaderList([["A", "1"]])]).toEqual(expected);
    expect([...new HeaderList(new Headers({ A: "1" }))]).toEqual(expected);
    expect([...HeaderList.fromRaw(["A", "1"])]).toEqual(expected);
    expect([...new HeaderList(undefined)]).toEqual([]);
  });
});
