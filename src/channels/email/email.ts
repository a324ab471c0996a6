import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import { mailbox } from "../../lib/mail-address.ts";
import { LONGEST_IN_MESSAGE } from "../../requests/model/view.ts";
import type { Channel } from "../channel.ts";
import { systemDns, type ResolveDns } from "./authenticity.ts";
import { composeNotice, composeTell, type MailFrame } from "./compose.ts";
import { watchMailbox } from "./imap-mailbox.ts";
import { openInbox } from "./inbound.ts";
import { email } from "./kind.ts";
import { mailHook } from "./mail-hook.ts";
import type { FailedMail } from "./bounce.ts";
import { listenForMail } from "./smtp-listener.ts";
import { openSmtp } from "./smtp-out.ts";
import { openSenderBudget, SENDER_LIMITS, type SenderLimits } from "./sender-budget.ts";
import { parseEmail, type EmailTarget } from "./target.ts";
import type { Templates } from "./template-words.ts";

export interface EmailSettings {
  smtpUrl?: string | undefined;
  /** An address, or `Name <address>`. */
  from?: string | undefined;
  /** The domain of reply addresses and Message-IDs; by default that of `from`. */
  domain?: string | undefined;
  /** Such as `127.0.0.1:2525`. */
  listen?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  imapUrl?: string | undefined;
  hookSecret?: string | undefined;
  approveByReply: "verified" | "never";
  trustedAuthservIds: readonly string[];
  /** How much of one sender is read an hour: mails, and seconds of a processor. */
  mailsPerSender?: number;
  readingSecondsPerSender?: number;
  /** Addresses of agents, in lower case, at which people may begin conversations. */
  entries?: readonly string[];
  /** Left out, off. */
  templates?: Templates;
}

/** The doors to the outside. */
export interface EmailOutside {
  clock: Clock;
  log: Logger;
  /** Left out, this machine's own. */
  resolve?: ResolveDns;
  /** Receives the Message-IDs of sent messages that will never arrive, and the status of the report, as `5.1.1`. */
  onFailed: (of: FailedMail, providerCode: string) => Promise<void>;
  /** Receives the address at which mail is taken, once it is. */
  onListening?: (port: number) => void;
}

/**
 * Returns the mail channel, or nothing while the settings lack the server to send through or the address to write from.
 * Each way in is open where its own setting is there; libraries are loaded when they are first needed
 * (spec/channels 5.4).
 */
export function emailChannel(settings: EmailSettings, outside: EmailOutside): Channel<EmailTarget> | undefined {
  const { smtpUrl, listen, imapUrl, hookSecret, trustedAuthservIds, entries = [] } = settings;
  const { clock, log } = outside;
  const from = mailbox(settings.from ?? "");
  if (smtpUrl === undefined || from === undefined) return undefined;
  const domain = (settings.domain ?? from.address.slice(from.address.lastIndexOf("@") + 1)).toLowerCase();
  const approvesByReply = settings.approveByReply === "verified";
  const { templates = "off" } = settings;
  const frame: MailFrame = { domain, approvesByReply, isShaped: templates === "sanitized" };
  const post = openSmtp(smtpUrl, from);
  const budget = openSenderBudget(clock, log, limitsOf(settings));
  const take = openInbox({
    domain,
    agent: from.address,
    display: from.name,
    entries,
    approvesByReply,
    trustedAuthservIds,
    clock,
    log,
    resolve: outside.resolve ?? systemDns(),
    onFailed: outside.onFailed,
    budget,
  });

  return {
    name: "email",
    via: "email",
    fields: fieldsFor(templates),
    wholeLimit: LONGEST_IN_MESSAGE,
    parse: (input) => parseEmail(input, templates),
    async send(notice, signal) {
      const mail = composeNotice(notice, frame);
      await post(mail, signal);
      return { externalIds: { thread: mail.messageId, subject: mail.subject.replace(/^(Re: )+/, "") } };
    },
    async tell(target, sent, words, signal) {
      await post(composeTell(target, sent, words, frame), signal);
    },
    inbound: {
      hooks: hookSecret === undefined ? [] : [mailHook(hookSecret, take, clock)],
      async listen(receive, signal) {
        const { certFile, keyFile } = settings;
        const onListening = outside.onListening ?? ((port) => log.info({ port }, "taking mail"));
        const listener = { certFile, keyFile, domain, agents: [from.address, ...entries], log, onListening };
        // Where one way in cannot be opened, the other is let go of: the caller opens both again.
        const failed = new AbortController();
        const until = AbortSignal.any([signal, failed.signal]);
        const ways = [
          ...(listen === undefined ? [] : [listenForMail({ listen, ...listener }, take, receive, until)]),
          ...(imapUrl === undefined ? [] : [watchMailbox({ url: imapUrl, clock, log, budget }, take, receive, until)]),
        ];
        try {
          await Promise.all(ways);
        } finally {
          failed.abort();
          await Promise.allSettled(ways);
        }
      },
    },
  };
}

function limitsOf({ mailsPerSender, readingSecondsPerSender }: EmailSettings): SenderLimits {
  return {
    mails: mailsPerSender ?? SENDER_LIMITS.mails,
    readingMs: readingSecondsPerSender === undefined ? SENDER_LIMITS.readingMs : readingSecondsPerSender * 1000,
  };
}

function fieldsFor(templates: Templates): Channel["fields"] {
  if (templates === "off") return email.fields;
  const description = "HTML with {{ event.spec.fn }} and the like; what it says stands below what Parley shows.";
  return { ...email.fields, template: { ...email.fields.template, description } };
}
