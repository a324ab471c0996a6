import { DeliveryError, type Channel, type FieldError } from "../channel.ts";
import type { Target } from "../../requests/model/request.ts";
import { phoneNumber } from "../../lib/phone-number.ts";
import { kindOf, type PhoneChannel } from "../kinds.ts";
import { createMessage } from "./api.ts";
import { STATUS_PATH, addressOf, twilioHooks } from "./inbound.ts";
import { showsWhole, templateVariables, textOf, WHOLE_LIMIT } from "./message.ts";
import type { TwilioAccount, TwilioOutside, TwilioSettings } from "./settings.ts";

export type PhoneTarget = Extract<Target, { via: PhoneChannel }>;

const TWILIO_API = "https://api.twilio.com";
/** So long after a person's last message WhatsApp carries anything; later only what was approved before. */
const WINDOW_MS = 86_400_000;
const LONGEST_CONTEXT = 500;

/**
 * Returns the channels for text messages and WhatsApp, as far as they are set up: without an account, its token, allowed
 * countries and a public URL there is neither, and their entries answer nobody (spec/channels 5.5).
 *
 * Two HTTP calls and one HMAC, written out: Twilio's own package is 21 MB, and what it does not do (a header given
 * twice, the URL as configured) would have to be written beside it all the same. It computes what the tests expect.
 */
export function twilioChannels(
  settings: TwilioSettings & { publicUrl: string | undefined },
  outside: TwilioOutside,
): Channel<PhoneTarget>[] {
  const { accountSid, authToken, countries, publicUrl, smsFrom, whatsappFrom } = settings;
  if (!accountSid || !authToken || !publicUrl || countries.length === 0) return [];
  const { whatsappTemplateSid, apiUrl = TWILIO_API } = settings;
  const account = { accountSid, authToken, countries, publicUrl, whatsappTemplateSid, apiUrl };
  const ours = { ...(smsFrom && { sms: smsFrom }), ...(whatsappFrom && { whatsapp: whatsappFrom }) };

  const channels = Object.entries(ours).map(([kind, from]) =>
    phoneChannel(kind === "sms" ? "sms" : "whatsapp", from, account, outside),
  );
  // One pair of entries serves both kinds.
  const hooks = twilioHooks(account, ours, outside, async (kind, to, words) => {
    const from = ours[kind];
    if (!from || (await outside.memory.charge(kind, to))) return;
    const fields = { From: addressOf(kind, from), To: addressOf(kind, to), Body: words };
    await createMessage(account, outside, fields, AbortSignal.any([])).catch(() => undefined);
  });
  return channels.map((channel, i) => (i === 0 ? { ...channel, inbound: { hooks } } : channel));
}

function phoneChannel(
  kind: PhoneChannel,
  from: string,
  account: TwilioAccount,
  outside: TwilioOutside,
): Channel<PhoneTarget> {
  const { memory } = outside;

  async function post(to: string, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string> {
    if (await memory.isOptedOut(kind, to))
      throw new DeliveryError("the person wants no messages", { retry: false, providerCode: "opted_out" });
    const full = await memory.charge(kind, to);
    if (full) {
      const more = { retry: true, providerCode: "hourly_limit", retryAfterMs: full.waitMs };
      throw new DeliveryError("the number has had its messages for this hour", more);
    }
    const parties = { From: addressOf(kind, from), To: addressOf(kind, to) };
    try {
      return await createMessage(account, outside, { ...parties, ...fields }, signal);
    } catch (error) {
      if (error instanceof DeliveryError && error.providerCode === "21610") await memory.setOptedOut(kind, to, true);
      throw error;
    }
  }

  return {
    name: kind,
    via: kind,
    fields: kindOf(kind).fields,
    wholeLimit: WHOLE_LIMIT[kind],
    showsWhole: (notice) => showsWhole(kind, notice, account.whatsappTemplateSid !== undefined),
    parse: (input) => parsePhone(kind, input, account.countries),
    async send(notice, signal) {
      const { to } = notice.target;
      const template =
        kind === "whatsapp" && !(await memory.hasWritten(kind, to, WINDOW_MS))
          ? account.whatsappTemplateSid
          : undefined;
      const content: Record<string, string> = template
        ? { ContentSid: template, ContentVariables: JSON.stringify(templateVariables(notice)) }
        : { Body: textOf(kind, notice) };
      const StatusCallback = `${account.publicUrl}${STATUS_PATH}?delivery=${notice.delivery}`;
      const sid = await post(to, { ...content, StatusCallback }, signal);
      const thread = `${addressOf(kind, to)}|${addressOf(kind, from)}`;
      return { externalIds: { message_sid: sid, thread } };
    },
    async tell({ to }, _sent, words, signal) {
      await post(to, { Body: words }, signal);
    },
  };
}

function parsePhone(
  kind: PhoneChannel,
  input: Readonly<Record<string, unknown>>,
  countries: readonly string[],
): { target: PhoneTarget } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const refuse = (name: string, code: FieldError["code"], message: string) =>
    void errors.push({ path: `/${kind}/${name}`, code, message });

  for (const name of Object.keys(input))
    if (name !== "phone_number" && name !== "context_about_user")
      refuse(name, "unknown_field", `is not a field of ${kind}`);
  const about = input["context_about_user"] ?? undefined;
  if (about !== undefined && typeof about !== "string") refuse("context_about_user", "type", "must be a string");
  else if (about !== undefined && about.length > LONGEST_CONTEXT)
    refuse("context_about_user", "too_long", `must be at most ${LONGEST_CONTEXT} characters`);

  const given = input["phone_number"] ?? undefined;
  const number = typeof given === "string" ? phoneNumber(given) : undefined;
  if (given === undefined) refuse("phone_number", "required", "is required");
  else if (typeof given !== "string") refuse("phone_number", "type", "must be a string");
  else if (number === undefined)
    refuse("phone_number", "pattern", "must be a number with its country as dialled from abroad, such as +4930901820");
  else if (!countries.some((prefix) => number.startsWith(prefix)))
    refuse("phone_number", "recipient_not_allowed", "is in a country that this server does not send to");
  if (errors.length > 0 || number === undefined) return { errors };
  return { target: { via: kind, to: number, settings: {} } };
}
