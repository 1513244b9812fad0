/** The field of a tool's input that tells most, by the order of telling. */
const tellingFields = [
  "command",
  "file_path",
  "notebook_path",
  "pattern",
  "url",
  "query",
  "to",
  "task_id",
  "description",
  "path",
  "prompt",
];

/** What a call is about: a file, a command, a pattern and where it is looked for. Not yet safe for anything. */
export function subjectOf(input: Readonly<Record<string, unknown>>): string {
  for (const field of tellingFields) {
    const value = input[field];
    if (typeof value !== "string" || value.trim() === "") continue;
    const place = field === "pattern" ? input.path : undefined;
    return typeof place === "string" && place !== "" ? `${value} in ${place}` : value;
  }
  return Object.keys(input).length === 0 ? "" : (JSON.stringify(input) ?? "");
}
