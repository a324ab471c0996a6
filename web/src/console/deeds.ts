/**
 * Returns an action of the record or an event of a webhook in words: `function_call.delivery_failed` is "Function call:
 * delivery failed". A part without words of its own keeps its name.
 */
export function deedIn(words: Readonly<Record<string, string>>, action: string): string {
  const said = action.split(".").map((part) => words[part] ?? part.replaceAll("_", " "));
  const line = said.join(": ");
  return line.slice(0, 1).toUpperCase() + line.slice(1);
}
