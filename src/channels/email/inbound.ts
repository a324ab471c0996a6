import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import type { Receive } from "../channel.ts";
import { isReactionLine } from "./automatic.ts";
import { isProvedTo, provedReference, type ResolveDns } from "./authenticity.ts";
import type { FailedMail } from "./bounce.ts";
import { readMail, type Arrived } from "./read-mail.ts";
import { recipientsAmong, referenceIn, type Reference } from "./references.ts";
import { replyText } from "./reply-text.ts";
import type { ChargedMail, SenderBudget } from "./sender-budget.ts";
import { talkOf } from "./thread.ts";

/** The result of an inbound mail. */
export type Fate = "received" | "bounced" | "automatic" | "ours" | "unaddressed" | "unreadable";

/**
 * Takes one mail in; resolves after what it changed is on disk. Rejects only where it should come again, with
 * `MailPutOff` where its sender has had enough of the hour.
 */
export type TakeMail = (arrived: Arrived, receive: Receive) => Promise<Fate>;

interface Inbox {
  domain: string;
  /** The address that this server writes from. */
  agent: string;
  /** The name beside it. */
  display: string;
  /** Where people may begin conversations with agents. */
  entries: readonly string[];
  approvesByReply: boolean;
  trustedAuthservIds: readonly string[];
  clock: Clock;
  log: Logger;
  resolve: ResolveDns;
  budget: SenderBudget;
  /** Called for messages of ours that will never arrive. */
  onFailed: (of: FailedMail, providerCode: string) => Promise<void>;
}

/** A reply address is known to its recipient; a Message-ID is known to everybody who gets a reply to all. */
function trustOf(named: Reference | undefined, proved: Reference | undefined, approvesByReply: boolean) {
  if (proved) return approvesByReply ? "verified" : "weak";
  return named && "token" in named ? "weak" : "none";
}

/**
 * Returns the intake that all kinds of inbound mail share: it reads a mail, drops it if a program wrote it, matches it
 * to the message that it answers, and passes it on as words of its author, proved or not (spec/channels 5.4).
 *
 * A mail is dropped without a reply where it cannot be read, or where it neither answers a message of this server nor
 * goes to an agent's own address: a reply would go to any address that a forger names.
 */
export function openInbox(inbox: Inbox): TakeMail {
  const { domain, log, clock } = inbox;

  return async (arrived, receive) => {
    const charged = await inbox.budget.charge(arrived.raw);
    const fate = await take(arrived, receive, charged);
    if (fate !== "received") log.debug({ fate }, "a mail was dropped");
    return fate;
  };

  async function take(arrived: Arrived, receive: Receive, charged: ChargedMail): Promise<Fate> {
    const mail = await readMail(arrived, domain, inbox.agent, charged.cost).catch(() => undefined);
    if (!mail) return "unreadable";
    if (mail.bounce) {
      const { of, permanent, code } = mail.bounce;
      log.info({ code }, permanent ? "a mail came back" : "a mail is late");
      if (permanent) await inbox.onFailed(of, code);
      return "bounced";
    }
    if (mail.ours) return "ours";
    if (mail.automatic || mail.report) return "automatic";
    const named = referenceIn(mail.header, arrived.recipients, domain);
    const entries = recipientsAmong(inbox.entries, mail.header, arrived.recipients);
    if (!named && entries.length === 0) return "unaddressed";
    const { from } = mail;
    if (from === undefined) return "unreadable";

    const proved = named && (await judged(() => provedReference(arrived.raw, mail, inbox)));
    const isProved = entries.length > 0 && (await judged(() => isProvedTo(entries, arrived.raw, mail, inbox))) === true;
    const own = { agent: inbox.agent, domain, display: inbox.display };
    const words = await replyText(mail, own, charged.cost);
    if (isReactionLine(words)) return "automatic";
    const talk = inbox.entries.length > 0 && talkOf({ ...mail, from }, arrived, { entries, words, proved: isProved });
    const { kind } = await receive({
      provider: "email",
      id: mail.id,
      at: clock.now(),
      sender: { kind: "email", id: from },
      match: proved ?? named ?? { thread: `<${mail.id}>` },
      trust: trustOf(named, proved, inbox.approvesByReply),
      content: { text: words },
      ...(talk && { talk }),
    });
    if (proved || isProved || kind === "accepted") charged.know();
    return "received";
  }

  /** A signature that cannot be judged proves nothing; the mail still says what it says. */
  async function judged<T>(judge: () => Promise<T>): Promise<T | undefined> {
    try {
      return await judge();
    } catch (error) {
      log.warn({ err: error }, "a mail's signature could not be judged");
      return undefined;
    }
  }
}
