/** Ids become names of files, and some come from a model. */
export function isAgentId(id: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(id);
}
