/** Long proofs run as a sample with `npm test` and in full with `npm run prove`. */
export const provesInFull = process.env.CADRE_PROVE === "full";

export function runs(counts: { sample: number; full: number }): number {
  return provesInFull ? counts.full : counts.sample;
}
