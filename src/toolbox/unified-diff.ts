/** A unified diff for people and programs; undefined where it would be too large or too slow to make. */
export async function unifiedDiff(options: {
  path: string;
  oldText: string;
  newText: string;
}): Promise<string | undefined> {
  const { path, oldText, newText } = options;
  if (oldText.length + newText.length > maxDiffedChars) return undefined;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  return createTwoFilesPatch(path, path, oldText, newText, undefined, undefined, {
    context: 3,
    // The time grows with the square of the number of changes.
    maxEditLength: 2000,
    headerOptions: FILE_HEADERS_ONLY,
  });
}

const maxDiffedChars = 2_000_000;
