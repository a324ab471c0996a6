/** Where a server listens, as its log says it. */
export interface Greeting {
  url: string;
  version: string;
  data: string;
  store: string;
  msg: string;
}

/** Returns where each server listens, by these lines of standard output, in their order. */
export function greetingsIn(text: string): Greeting[] {
  return completeLines(text)
    .filter((line) => line.includes('"msg":"Parley listens'))
    .map((line) => JSON.parse(line) as Greeting);
}

/** Returns what lines of a log say, one under the other; any other line stays as it is. */
export function messagesOf(text: string): string {
  const said = completeLines(text).map((line) => (line.startsWith("{") ? (JSON.parse(line) as Greeting).msg : line));
  return said.map((line) => `${line}\n`).join("");
}

/** The last one may still be under way. */
const completeLines = (text: string) => text.split("\n").slice(0, -1);
