import { phoneNumber } from "../../lib/phone-number.ts";
import type { ChannelKind } from "../kind.ts";

const phone = {
  identity: "phone",
  fields: {
    phoneNumber: { type: "string", description: "Number of the person to ask, such as +4930901820.", required: true },
    contextAboutUser: { type: "string", description: "Who the person is, in a few words.", required: false },
  },
  address: {
    max: 40,
    read: phoneNumber,
    says: "must be a number such as +14155550123",
  },
  sendsResult: true,
  remedy: "the twilio settings, public_url, and that the number's country is allowed (docs/how-to/phones.md)",
} as const satisfies Omit<ChannelKind, "title">;

export const sms = { ...phone, title: "SMS" } as const;
export const whatsapp = { ...phone, title: "WhatsApp" } as const;
