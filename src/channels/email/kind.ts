import { mailAddress } from "../../lib/mail-address.ts";
import type { ChannelKind } from "../kind.ts";

export const email = {
  title: "Email",
  identity: "email",
  /** `email.ts` replaces the description of `template` where templates are used. */
  fields: {
    address: { type: "string", description: "Address of the person to ask.", required: true },
    contextAboutUser: { type: "string", description: "Who the person is, in a few words.", required: false },
    additionalRecipients: {
      type: "array",
      description: "Up to 20 more people, each {address, field: to, cc or bcc}; who is in bcc is told, not asked.",
      required: false,
    },
    subject: { type: "string", description: "Subject of the mail.", required: false },
    inReplyToMessageId: { type: "string", description: "Message-ID of the mail this one answers.", required: false },
    referencesMessageId: { type: "string", description: "Message-ID of a mail of the same thread.", required: false },
    template: { type: "string", description: "Accepted and not used: the standard mail is sent.", required: false },
  },
  aliases: {
    experimental_subject_line: "subject",
    experimental_in_reply_to_message_id: "in_reply_to_message_id",
    experimental_references_message_id: "references_message_id",
  },
  address: {
    max: 320,
    read: mailAddress,
    says: "must be one mail address",
    rest: (address) => ({ informed: false, settings: { to: [address], cc: [] } }),
  },
  sendsResult: true,
  remedy: "email.smtp_url and email.from of the settings, and the person's address (docs/how-to/email.md)",
} as const satisfies ChannelKind;
