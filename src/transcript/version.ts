/** Of what is written. A newer one is not guessed at. */
export const transcriptVersion = 1;
