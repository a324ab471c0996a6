import type { Clock } from "../../lib/clock.ts";
import { verifiedWebhookId } from "../../lib/network/standard-webhooks.ts";
import type { Hook } from "../channel.ts";
import type { TakeMail } from "./inbound.ts";
import { MailPutOff } from "./sender-budget.ts";
import { LARGEST_MAIL_BYTES } from "./smtp-listener.ts";

/**
 * Returns the entry for mails that another server passes on: the raw mail as `message/rfc822`, signed as Standard
 * Webhooks says. It answers 204 once what the mail changed is on disk, and 429 where it should come again
 * later (spec/channels 4).
 */
export function mailHook(secret: string, take: TakeMail, clock: Clock): Hook {
  return {
    path: "/hooks/email",
    maxBytes: LARGEST_MAIL_BYTES,
    async handle(http, receive) {
      if (verifiedWebhookId(http, [secret], clock.now()) === undefined) return { status: 401 };
      const type = http.headers["content-type"];
      if (typeof type !== "string" || !/^message\/rfc822\s*(;|$)/i.test(type)) return { status: 415 };
      try {
        await take({ raw: http.body, recipients: [], fromNobody: false }, receive);
      } catch (error) {
        if (error instanceof MailPutOff) return { status: 429 };
        throw error;
      }
      return { status: 204 };
    },
  };
}
