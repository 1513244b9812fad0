import { describe, expect, test } from "vitest";
import { createRedactor } from "../base/secrets.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createShellLog } from "./shell-log.ts";

const secret = "sk-0123456789abcdef-and-é-more";
const redactor = createRedactor([{ name: "THE_KEY", value: secret }]);

function createLog(options: { withoutSecrets?: boolean } = {}) {
  const clock = createManualClock();
  const written: Buffer[] = [];
  const log = createShellLog({
    clock,
    redactor: options.withoutSecrets ? undefined : redactor,
    write: (text) => written.push(Buffer.from(text as string)),
  });
  return {
    clock,
    log,
    text: () => Buffer.concat(written).toString(),
    bytes: () => written.reduce((sum, { length }) => sum + length, 0),
  };
}

/** In pieces of so many bytes, wherever that cuts. */
function* piecesOf(text: string, bytes: number): Generator<Uint8Array> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
}

describe("a log", () => {
  test.each([1, 2, 3, 7, 1000])("in pieces of %i bytes is whole and without secrets", (bytes) => {
    const { log, text } = createLog();
    const line = (word: string) => `é ${word} 😀 and ${word}\nprogress 1%\rprogress 2%\r\n`;
    for (const piece of piecesOf(line(secret).repeat(20), bytes)) log.add(piece);
    log.end();
    expect(text()).toBe(line("[redacted: THE_KEY]").repeat(20));
  });

  test.each([1_000, 65_536, 1_000_000])(
    "of one endless line, in pieces of %i bytes, holds back little and no part of a secret",
    (bytes) => {
      const { log, text, bytes: kept } = createLog();
      const part = (word: string) => `${"😀".repeat(3_333)}${word}`;
      let given = 0;
      for (const piece of piecesOf(part(secret).repeat(60), bytes)) {
        log.add(piece);
        given += piece.length;
        expect(given - kept()).toBeLessThan(300_000);
      }
      log.end();
      expect(text()).toBe(part("[redacted: THE_KEY]").repeat(60));
    },
  );

  test("shows no half of a secret, wherever a line is too long to be held back", () => {
    for (let half = 1; half < secret.length; half++) {
      const { log, text } = createLog();
      log.add(Buffer.from(`${"x".repeat(70_000)}${secret.slice(0, half)}`));
      log.add(Buffer.from(`${secret.slice(half)}y`));
      log.end();
      expect(text()).toBe(`${"x".repeat(70_000)}[redacted: THE_KEY]y`);
    }
  });

  test("shows a line without an end when nothing has come for a second", async () => {
    const { clock, log, text } = createLog();
    log.add(Buffer.from("first\nGo on? "));
    expect(text()).toBe("first\n");
    await clock.advance(900);
    log.add(Buffer.from("[y/N] "));
    await clock.advance(900);
    expect(text()).toBe("first\n");
    await clock.advance(100);
    expect(text()).toBe("first\nGo on? [y/N] ");
    log.add(Buffer.from("yes\n"));
    log.end();
    expect(text()).toBe("first\nGo on? [y/N] yes\n");
    expect(clock.pendingMs()).toEqual([]);
  });

  test("passes everything on at once, byte for byte, where there are no secrets", () => {
    const { log, text } = createLog({ withoutSecrets: true });
    log.add(Buffer.from("no end"));
    expect(text()).toBe("no end");
  });
});
