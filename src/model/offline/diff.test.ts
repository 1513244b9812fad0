import { describe, expect, it } from "vitest";
import { filesInDiff } from "./diff.ts";

const diff = `Please look at this.

diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@
 one
-two
+TWO
+three
 four
diff --git a/old name.txt b/old name.txt
deleted file mode 100644
--- a/old name.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/p.png b/p.png
new file mode 100644
Binary files /dev/null and b/p.png differ
`;

describe("filesInDiff", () => {
  it("reads each file with what was added and where", () => {
    const [changed, deleted, binary, ...rest] = filesInDiff(diff);
    expect(rest).toEqual([]);
    expect(changed).toMatchObject({ path: "src/a.ts", addedCount: 2, removedCount: 1, isNew: false });
    expect(changed?.added).toEqual([
      { line: 2, text: "TWO" },
      { line: 3, text: "three" },
    ]);
    expect(deleted).toMatchObject({ path: "old name.txt", isDeleted: true, addedCount: 0, removedCount: 1 });
    expect(binary).toMatchObject({ path: "p.png", isNew: true, isBinary: true });
  });

  it("finds nothing in a text that is no diff", () => {
    expect(filesInDiff("review this change\n\n+ a list\n- of things")).toEqual([]);
  });
});
