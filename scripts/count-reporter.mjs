// A vitest reporter that writes how many tests passed, failed and were skipped to $CADRE_TEST_COUNTS.
// A file that cannot be loaded and an error outside of any test count as failures.
import { writeFileSync } from "node:fs";

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) counts[countedAs(test.result().state)] += 1;
    }
    writeFileSync(process.env.CADRE_TEST_COUNTS, JSON.stringify(counts));
  }
}

function countedAs(state) {
  if (state === "passed" || state === "failed") return state;
  // Pending: the run was broken off before it came to this test.
  return state === "skipped" ? "skipped" : "failed";
}
