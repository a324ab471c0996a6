import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import { mailAddress, mailboxOf } from "../../lib/mail-address.ts";

const HOUR_MS = 3_600_000;
/** All senders that are not known may together cost as much as so many. */
const UNKNOWN_SENDERS = 10;
/** Headers of real mails are a tenth of it. */
const LONGEST_HEADER = 65_536;
const LONGEST_FROM = 1000;

export interface SenderLimits {
  /** Mails that are read an hour. */
  mails: number;
  /** Time of a processor that reading them may take an hour. */
  readingMs: number;
}

export const SENDER_LIMITS: SenderLimits = { mails: 120, readingMs: 60_000 };

/** A mail was not read, because its sender's hour is used up. It is taken when it comes again. */
export class MailPutOff extends Error {}

/** One mail that is read. */
export interface ChargedMail {
  /** Adds time that a processor took for it. */
  cost(ms: number): void;
  /** Its author is proved, or it was a person's answer: they count by themselves until the hour is over. */
  know(): void;
}

/** Decides how many mails of whom are read. */
export interface SenderBudget {
  /** True where a mail with this header would be put off now. */
  isUsedUp(header: Buffer): Promise<boolean>;
  /** Counts one mail. @throws {MailPutOff} */
  charge(header: Buffer): Promise<ChargedMail>;
}

interface Used {
  mails: number;
  readingMs: number;
  isTold: boolean;
  isKnown: boolean;
}

/**
 * Opens the budgets of senders, in memory. A sender is the mailbox that `From` names, which anybody can write: so all
 * those that have not been known within the hour share one more budget. The hour is the same for everybody, and begins
 * with the first mail (spec/channels 5.4).
 */
export function openSenderBudget(clock: Clock, log: Logger, limits: SenderLimits = SENDER_LIMITS): SenderBudget {
  const together = { mails: limits.mails * UNKNOWN_SENDERS, readingMs: limits.readingMs * UNKNOWN_SENDERS };
  let begunAt = clock.monotonic();
  let senders = new Map<string, Used>();
  let unknown = unused();

  function usedBy(sender: string): Used {
    if (clock.monotonic() - begunAt >= HOUR_MS) [begunAt, senders, unknown] = [clock.monotonic(), new Map(), unused()];
    return senders.get(sender) ?? unused();
  }

  function isPutOff(sender: string, used: Used): boolean {
    const up = isUp(used, limits) ? used : !used.isKnown && isUp(unknown, together) ? unknown : null;
    if (up && !up.isTold) tell(sender, up);
    return up !== null;
  }

  /** Once for each budget and hour. */
  function tell(sender: string, up: Used): void {
    up.isTold = true;
    const { mails, readingMs } = up;
    const who = up === unknown ? {} : { domain: sender.split("@").at(-1) };
    const says = up === unknown ? "mails of unknown senders wait" : "mails of a sender wait";
    log.warn({ ...who, mails, readingMs: Math.round(readingMs) }, `${says}: this hour's budget is used up`);
  }

  return {
    async isUsedUp(header) {
      const sender = await senderIn(header);
      return isPutOff(sender, usedBy(sender));
    },
    async charge(header) {
      const sender = await senderIn(header);
      const used = usedBy(sender);
      if (isPutOff(sender, used)) throw new MailPutOff("a sender's mails wait until their hour is over");
      // A mail may be read for longer than the rest of its hour.
      const shared = unknown;
      used.mails += 1;
      if (!used.isKnown) shared.mails += 1;
      senders.set(sender, used);
      return {
        cost(ms) {
          used.readingMs += ms;
          if (!used.isKnown) shared.readingMs += ms;
        },
        know() {
          used.isKnown = true;
        },
      };
    },
  };
}

const unused = (): Used => ({ mails: 0, readingMs: 0, isTold: false, isKnown: false });

function isUp(used: Used, { mails, readingMs }: SenderLimits): boolean {
  return used.mails >= mails || used.readingMs >= readingMs;
}

/** Returns the mailbox of the one author that a header names, else an empty text; the mail is not parsed for it. */
async function senderIn(header: Buffer): Promise<string> {
  const { addressParser } = await import("postal-mime");
  const [lines = ""] = header
    .subarray(0, LONGEST_HEADER)
    .toString("latin1")
    .split(/\r?\n\r?\n/, 1);
  const [from, ...others] = lines.replace(/\r?\n[ \t]/g, " ").match(/^from[ \t]*:.*$/gim) ?? [];
  if (from === undefined || others.length > 0 || from.length > LONGEST_FROM) return "";
  const [author, ...more] = addressParser(from.slice(from.indexOf(":") + 1));
  return more.length > 0 ? "" : mailboxOf(mailAddress(author?.address ?? "") ?? "");
}
