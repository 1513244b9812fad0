import { describe, expect, it } from "vitest";
import { createFileReads } from "./file-reads.ts";

describe("file reads", () => {
  it("remember the last state of each file, the most recent last", () => {
    const reads = createFileReads();
    reads.record("/a", "1");
    reads.record("/b", "2");
    reads.record("/a", "3");
    expect(reads.hashOf("/a")).toBe("3");
    expect(reads.hashOf("/c")).toBeUndefined();
    expect(reads.paths()).toEqual(["/b", "/a"]);
  });

  it("are copied, not shared", () => {
    const parent = createFileReads([["/a", "1"]]);
    const child = parent.copy();
    child.record("/a", "2");
    parent.record("/b", "3");
    expect(parent.hashOf("/a")).toBe("1");
    expect(child.hashOf("/a")).toBe("2");
    expect(child.hashOf("/b")).toBeUndefined();
  });
});
