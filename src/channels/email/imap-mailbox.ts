import type { ImapFlow } from "imapflow";
import type { Logger } from "pino";
import { pauseAfter } from "../../lib/back-off.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Receive } from "../channel.ts";
import type { TakeMail } from "./inbound.ts";
import { MailPutOff, type SenderBudget } from "./sender-budget.ts";
import { LARGEST_MAIL_BYTES } from "./smtp-listener.ts";
import { mailServerAt } from "./smtp-out.ts";

const SWEEP_EVERY_MS = 60_000;

/** The services that reading a mailbox needs, and the receiver of each mail. */
interface Watch {
  url: string;
  clock: Clock;
  log: Logger;
  budget: SenderBudget;
  take: TakeMail;
  receive: Receive;
  signal: AbortSignal;
}

/**
 * Reads a mailbox until aborted: whatever is unseen is taken in, and marked as seen once what it changed is on disk. News
 * comes by IDLE, and the mailbox is looked through each minute besides; a broken connection is opened again after a
 * pause that doubles up to a minute (spec/channels 5.4).
 *
 * The mailbox is this server's own: what somebody else marks as seen is not read.
 */
export async function watchMailbox(
  { url, clock, log, budget }: Pick<Watch, "url" | "clock" | "log" | "budget">,
  take: TakeMail,
  receive: Receive,
  signal: AbortSignal,
): Promise<void> {
  const watch: Watch = { url, clock, log, budget, take, receive, signal };
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await readUntilBroken(watch, () => {
        failures = 1;
      });
    } catch (error) {
      const pauseMs = pauseAfter(failures);
      if (!signal.aborted) log.warn({ ...reasonOf(error), pauseMs }, "the mailbox cannot be read; trying again");
    }
    await clock.sleep(pauseAfter(failures), signal);
  }
}

/** Reads over one connection for as long as it holds; `onOpen` is called once the mailbox is open. */
async function readUntilBroken(watch: Watch, onOpen: () => void): Promise<void> {
  const { url, log, signal } = watch;
  const client = await openClient(url);
  // An abort closes the socket whatever is under way, and so does the end of this connection.
  const broken = new AbortController();
  const onAbort = () => client.close();
  client.on("close", () => broken.abort());
  client.on("error", (error) => log.debug(reasonOf(error), "the mailbox's connection failed"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) return;
    await client.connect();
    await client.mailboxOpen(mailServerAt(url, PORTS).path || "INBOX");
    onOpen();
    while (!broken.signal.aborted && !signal.aborted) await readAndAwaitNews(watch, client, broken.signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
    client.close();
  }
}

/** Takes in what is unseen, and waits until there is more, a minute has passed, or the connection is over. */
async function readAndAwaitNews(watch: Watch, client: ImapFlow, broken: AbortSignal): Promise<void> {
  const { clock, log, signal } = watch;
  const news = new AbortController();
  const onNews = () => news.abort();
  client.on("exists", onNews);
  try {
    await readUnseen(watch, client);
    // Idling ends by itself when the next command is sent.
    client.idle().catch((error: unknown) => log.debug(reasonOf(error), "the mailbox does not idle"));
    await clock.sleep(SWEEP_EVERY_MS, AbortSignal.any([news.signal, broken, signal]));
  } finally {
    client.off("exists", onNews);
  }
}

async function readUnseen(watch: Watch, client: ImapFlow): Promise<void> {
  const found = await client.search({ seen: false }, { uid: true });
  for (const uid of found || []) {
    if (watch.signal.aborted) return;
    const about = await client.fetchOne(uid, { size: true, headers: ["from"] }, { uid: true });
    // One that waits for its sender's hour is not fetched each minute.
    if (about && about.headers && (await watch.budget.isUsedUp(about.headers))) continue;
    if (about && (await isTaken(watch, client, uid, about.size ?? 0)))
      await client.messageFlagsAdd([uid], ["\\Seen"], { uid: true });
  }
}

/** A mail that could not be taken stays unseen and comes again with the next look; the others do not wait for it. */
async function isTaken({ take, receive, log }: Watch, client: ImapFlow, uid: number, size: number): Promise<boolean> {
  if (size > LARGEST_MAIL_BYTES) {
    log.warn({ size }, "a mail is too large and was not read");
    return true;
  }
  // Fetched with BODY.PEEK, which leaves it unseen.
  const mail = await client.fetchOne(uid, { source: true }, { uid: true });
  if (!mail || !mail.source) return false;
  try {
    await take({ raw: mail.source, recipients: [], fromNobody: false }, receive);
    return true;
  } catch (error) {
    if (!(error instanceof MailPutOff)) log.error({ err: error }, "a mail could not be taken");
    return false;
  }
}

/** The library's errors carry the command that failed, and so the account; none of that is logged. */
function reasonOf(error: unknown): { code?: string; reason: string } {
  const { code, message } = error as { code?: string; message?: string };
  return { ...(code !== undefined && { code }), reason: message ?? "unknown" };
}

const PORTS = { plain: 143, secure: 993 };

/** Off this computer no password is sent before the connection is encrypted. */
async function openClient(url: string): Promise<ImapFlow> {
  const { ImapFlow } = await import("imapflow");
  const { host, port, secure, loopback, auth } = mailServerAt(url, PORTS);
  return new ImapFlow({
    host,
    port,
    secure,
    ...(auth && { auth }),
    ...(!secure && { doSTARTTLS: !loopback }),
    disableAutoIdle: true,
    logger: false,
    maxLiteralSize: 2 * LARGEST_MAIL_BYTES,
  });
}
