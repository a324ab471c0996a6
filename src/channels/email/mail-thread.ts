import { openBoundedThread } from "../../lib/bounded-thread.ts";
import type { MailFound, MailWork } from "./mail-worker.ts";

/**
 * Parses mails in a thread of its own, because parsing can take long: seconds for a mail of 10 MB in short lines, or
 * for a text made to slow down the quote parser. Other requests do not wait for it.
 */
export const mailThread = openBoundedThread<MailWork, MailFound>(new URL("./mail-worker.ts", import.meta.url), {
  mostCpuMs: 2000,
  mostHeapMb: 256,
});
