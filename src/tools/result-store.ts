/**
 * Where large results are put away whole, while the model gets a cut with a note that says where the rest is.
 */
export interface ResultStore {
  /** The folder; made when it is first needed. Readable by the session's tools without asking. */
  readonly folder: string;
  /** Keeps `text` and answers with the path of the file. */
  keep(name: string, text: string): Promise<string>;
}
