/** A command that a project's files name, and what the rules that find it may look at. */
export interface ProjectCommand {
  readonly purpose: "build" | "test";
  readonly command: string;
  /** The file that says so. */
  readonly from: string;
  /** Where to run it, relative; empty for here. */
  readonly folder: string;
}

export type FoundCommand = Omit<ProjectCommand, "folder">;

/** What holds for one folder of a project. */
export interface FolderView {
  readonly folder: string;
  /** The lines of a manifest in this folder. */
  lines(name: string): readonly string[] | undefined;
  has(name: string): boolean;
  /** Whether a file below this folder fits. */
  some(fits: (path: string) => boolean): boolean;
  /** A file in this folder itself, by its name. */
  named(fits: (name: string) => boolean): string | undefined;
}
