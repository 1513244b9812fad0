import { describe, expect, it } from "vitest";
import { identityOf } from "./project-identity.ts";

const of = (path: string, text: string) => {
  const { name, description, licence } = identityOf(new Map([[path, text.split("\n")]]));
  return [name?.text, description?.text, licence?.text];
};

describe("identityOf", () => {
  it.each([
    ["package.json", '{ "name": "a", "description": "B.", "license": "MIT" }', ["a", "B.", "MIT"]],
    ["composer.json", '{ "name": "a/b", "description": "C." }', ["a/b", "C.", undefined]],
    [
      "Cargo.toml",
      '[workspace.package]\nlicense = "MIT OR Apache-2.0"',
      [undefined, undefined, "MIT OR Apache-2.0"],
    ],
    ["pyproject.toml", '[project]\nname = "t"\nlicense = { text = "BSD" }', ["t", undefined, "BSD"]],
    ["go.mod", "module example.com/x\n\ngo 1.22", ["example.com/x", undefined, undefined]],
    [
      "pom.xml",
      "<project>\n<parent><artifactId>p</artifactId><name>P</name></parent>\n<artifactId>ledger</artifactId>\n<description>Books.</description>\n<licenses><license><name>Apache-2.0</name></license></licenses>\n<dependencies><dependency><artifactId>d</artifactId></dependency></dependencies>\n</project>",
      ["ledger", "Books.", "Apache-2.0"],
    ],
    [
      "CMakeLists.txt",
      'project(vec VERSION 1.2\n  DESCRIPTION "Small vectors")',
      ["vec", "Small vectors", undefined],
    ],
    ["CMakeLists.txt", `project(${"$"}{NAME})`, [undefined, undefined, undefined]],
    [
      "parcel.gemspec",
      's.name = "parcel"\ns.summary = "Tracks"\ns.license = "MIT"',
      ["parcel", "Tracks", "MIT"],
    ],
    ["Shop.sln", "", ["Shop", undefined, undefined]],
  ])("reads %s", (path, text, claims) => {
    expect(of(path, text)).toEqual(claims);
  });

  it("reads only the manifests of the folder that is asked for", () => {
    const manifests = new Map([
      ["package.json", ['{ "name": "top" }']],
      ["packages/a/package.json", ['{ "name": "a" }']],
    ]);
    expect(identityOf(manifests, "packages/a").name).toEqual({ text: "a", from: "packages/a/package.json" });
    expect(identityOf(manifests).name?.text).toBe("top");
    expect(identityOf(manifests, "packages").name).toBeUndefined();
  });
});
