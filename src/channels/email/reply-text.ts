import { htmlText } from "./html-text.ts";
import { mailThread } from "./mail-thread.ts";

/** More than any answer may hold, and what follows is quoted anyway. */
const READ_MOST = 60_000;

/**
 * Returns what somebody wrote above, below or between what they quote, without their signature; empty where nothing
 * is left, or where finding it out takes too long.
 */
export async function replyText(mail: { text?: string | undefined; html?: string | undefined }): Promise<string> {
  const written = mail.text?.trim() ? mail.text : htmlText((mail.html ?? "").slice(0, 4 * READ_MOST));
  const plain = written
    .slice(0, READ_MOST)
    .replaceAll("\0", "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\S\n]+$/gm, (end) => (end === " " ? " " : ""))
    .replace(/\n{4,}/g, "\n\n\n");
  // The library's patterns can take a time that grows with the cube of a text made for it.
  return ((await mailThread.work({ text: plain }))?.words ?? "").trim();
}
