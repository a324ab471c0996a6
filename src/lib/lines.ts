/**
 * Yields the lines of a stream of UTF-8, without their ends; what follows the last end is the last line. Only a line
 * feed ends a line: a JSON text may hold every other character that is taken for one elsewhere. A line longer than
 * `longest` is cut there.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  { longest = Number.MAX_SAFE_INTEGER }: { longest?: number } = {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of bytes) {
    const [first = "", ...more] = decoder.decode(part, { stream: true }).split("\n");
    rest = (rest + first).slice(0, longest);
    for (const next of more) {
      yield rest.replace(/\r$/, "");
      rest = next.slice(0, longest);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
