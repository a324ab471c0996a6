import { mailThread } from "./mail-thread.ts";
import type { OwnNames } from "./own-quote.ts";

/** More than any answer may hold; a quote follows. */
const READ_MOST = 60_000;

/**
 * Returns what somebody wrote above, below or between what they quote, without their signature; empty where nothing
 * is left, or where finding it out takes too long.
 */
export async function replyText(
  { text }: { text: string },
  own: OwnNames,
  noteCost?: (cpuMs: number) => void,
): Promise<string> {
  const plain = text
    .slice(0, READ_MOST)
    .replace(/^\ufeff|\0/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, (end) => (end === " " ? " " : ""))
    .replace(/\n{4,}/g, "\n\n\n");
  // The library's patterns can take a time that grows with the cube of a text made for it.
  return ((await mailThread.work({ text: plain, own }, noteCost))?.words ?? "").trim();
}
