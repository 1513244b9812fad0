/** The names that someone who wrote `wanted` may have meant, best first. */
export function similarNames(wanted: string, names: readonly string[]): string[] {
  const target = wanted.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(target, name.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= Math.max(2, Math.floor(target.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, maxSuggestions)
    .map((candidate) => candidate.name);
}

const maxSuggestions = 3;

function distanceOf(wanted: string, name: string): number {
  // Another extension is the most common slip, however long the extension is.
  if (stemOf(wanted) === stemOf(name)) return wanted === name ? 0 : 1;
  if (Math.abs(wanted.length - name.length) > wanted.length / 3 + 2) return Number.POSITIVE_INFINITY;
  return editDistance(wanted, name);
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substituted = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current[column] = Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
