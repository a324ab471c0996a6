import { openBoundedThread } from "../../lib/bounded-thread.ts";
import type { MailFound, MailWork } from "./mail-worker.ts";

/**
 * What of a mail takes its parsers long. One of 10 MB in lines of a few words takes seconds, and so may the quotes in a
 * text that was made for it: nobody else has to wait for that.
 */
export const mailThread = openBoundedThread<MailWork, MailFound>(new URL("./mail-worker.ts", import.meta.url), {
  mostCpuMs: 2000,
  mostHeapMb: 256,
});
