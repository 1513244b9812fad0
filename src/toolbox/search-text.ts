/** What a search for text in files asks and answers, whoever carries it out. */
export interface TextSearch {
  /** The folder that globs and result paths are relative to. */
  readonly root: string;
  /** A file name in `root`; absent: everything below `root`. */
  readonly fileName?: string;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Matches may span lines. */
  readonly multiline: boolean;
  /** `.` matches line ends too. */
  readonly dotMatchesAll: boolean;
  readonly glob?: string;
  readonly type?: string;
  readonly linesBefore: number;
  readonly linesAfter: number;
  /** `lines` costs most: it is only asked for when lines will be shown. */
  readonly wanted: "lines" | "files" | "counts";
}

export interface TextSearchResult {
  /** By path. */
  readonly files: readonly FileMatches[];
  /** What went wrong on the way, for instance folders that could not be read. */
  readonly notes: readonly string[];
}

export interface FileMatches {
  /** Relative to the search's root. */
  readonly path: string;
  /** Lines with matches; with `multiline`, matches. */
  readonly count: number;
  /** Empty unless `lines` were wanted. */
  readonly lines: readonly FoundLine[];
}

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  /** False for a line shown only as context. */
  readonly isMatch: boolean;
}

export const maxFoundLineChars = 1000;

export function sortByPath(files: readonly FileMatches[]): FileMatches[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
