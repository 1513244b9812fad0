import { expect, it } from "vitest";
import { isoTime } from "./iso-time.ts";

it("tells each millisecond as it is, also when time goes back", () => {
  const times = [0, 0, 1_700_000_000_123, 1_700_000_000_124, 0];
  expect(times.map(isoTime)).toEqual(times.map((ms) => new Date(ms).toISOString()));
});
