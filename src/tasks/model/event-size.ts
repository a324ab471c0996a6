import type { NewTaskEvent } from "./task.ts";

/** Followers receive events whole. So each event is small compared with the buffer for a slow reader. */
const MOST_BYTES = 131_072;
const MOST_TEXT = 8192;
const MOST_NAMED = 20;

/** Returns an event as it is. If it is too large, its texts are cut, or only its first texts are kept. */
export function sizedEvent({ type, data }: NewTaskEvent): NewTaskEvent {
  if (isSmall(data)) return { type, data };
  const texts = Object.entries(data).slice(0, MOST_NAMED);
  const cut = texts.map(
    ([name, value]) => [name, typeof value === "string" ? cutText(value) : cutValue(value)] as const,
  );
  const named = Object.fromEntries(cut.filter(([name, value]) => name.length <= MOST_NAMED && value !== undefined));
  return { type, data: isSmall(named) ? { ...named, cut: true } : { cut: true } };
}

function cutText(text: string): string {
  return text.length <= MOST_TEXT
    ? text
    : `${text.slice(0, MOST_TEXT).toWellFormed()} [cut: ${text.length} characters]`;
}

/** Returns a large object as the beginning of its JSON; undefined for a value that is nested too deeply. */
function cutValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  try {
    const text = JSON.stringify(value);
    return text.length <= MOST_TEXT ? value : cutText(text);
  } catch {
    return undefined;
  }
}

function isSmall(data: unknown): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(data)) <= MOST_BYTES;
  } catch {
    // Too deep.
    return false;
  }
}
