let lastMs = Number.NaN;
let lastText = "";

/** ISO 8601. What happens in one millisecond shares one text: with many agents that is a lot of texts. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
