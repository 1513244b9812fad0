/** The word that was probably meant, or undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  const letters = word.replace(/^-+/, "").length;
  const limit = letters < 3 ? 0 : Math.ceil(letters / 3);
  return best !== undefined && best.distance <= limit ? best.candidate : undefined;
}

/** The words that were probably meant, the closest first. Capitals do not count, and a part of a word is close. */
export function nearestFew(word: string, candidates: readonly string[], most = 3): string[] {
  const asked = word.toLowerCase();
  const limit = Math.max(1, Math.ceil(asked.length / 3));
  return candidates
    .map((candidate) => {
      const other = candidate.toLowerCase();
      const isPart = asked.length > 2 && other.length > 2 && (other.includes(asked) || asked.includes(other));
      const distance = editDistance(asked, other);
      return { candidate, distance: isPart ? Math.min(distance, 1) : distance };
    })
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
