import { numberForms } from "../../lib/phone-number.ts";
import type { Choice, InboundMessage, InboundResult, ThreadContext } from "../../requests/model/inbound-message.ts";
import { phoneCommand } from "../../requests/model/reply-grammar.ts";
import { isUnwritten } from "../../requests/model/unwritten-text.ts";
import type { Hook, HookReply, RawRequest, Receive } from "../channel.ts";
import type { PhoneChannel } from "../kinds.ts";
import type { TwilioAccount, TwilioOutside } from "./settings.ts";
import { fieldOf, verifiedForm, type FormFields } from "./signature.ts";

const MESSAGE_PATH = "/hooks/twilio/message";
export const STATUS_PATH = "/hooks/twilio/status";
const MAX_BYTES = 65_536;

const NOTHING: HookReply = { status: 200, type: "text/xml", body: "<Response/>" };
const REFUSED: HookReply = { status: 401 };
const HELP = "Programs ask you for decisions here. Answer as the message says. Send STOP and you get no more messages.";
const BUTTON = /^(dlv_[0-9A-Za-z]{1,40}):(approve|reject|opt:(\d{1,2}))$/;

interface Party {
  kind: PhoneChannel;
  number: string;
  /** As Twilio writes it, and as messages are matched by. */
  address: string;
}

/** Sends words to a number, as far as its hour allows. */
export type SendWords = (kind: PhoneChannel, to: string, words: string) => Promise<void>;

/** The entries for what people write, and for what became of messages (spec/channels 4 and 5.5). */
export function twilioHooks(
  account: TwilioAccount,
  ours: Readonly<Partial<Record<PhoneChannel, string>>>,
  { now, memory, onFailed }: Pick<TwilioOutside, "now" | "memory" | "onFailed">,
  sendWords: SendWords,
): Hook[] {
  const verified = (http: RawRequest, path: string): FormFields | undefined => {
    const form = verifiedForm(http, `${account.publicUrl}${path}`, account.authToken);
    return form && fieldOf(form, "AccountSid") === account.accountSid ? form : undefined;
  };

  async function hearMessage(http: RawRequest, receive: Receive): Promise<HookReply> {
    const form = verified(http, MESSAGE_PATH);
    if (!form) return REFUSED;
    const [sid, from, to] = [fieldOf(form, "MessageSid"), partyOf(form, "From"), partyOf(form, "To")];
    if (!sid || !from || !to || ours[to.kind] !== to.number || isNobodysWords(form)) return NOTHING;
    const { kind, number } = from;
    const [text = "", optOutType] = [fieldOf(form, "Body"), fieldOf(form, "OptOutType")];
    const press = pressOf(fieldOf(form, "ButtonPayload"));
    // The words on a button are not the person's own.
    const command = press ? null : phoneCommand(text, optOutType);
    const message: InboundMessage = {
      provider: "twilio",
      id: sid,
      at: now(),
      match: press ? { delivery: press.delivery } : { threads: threadsOf(from, to) },
      sender: { kind: "phone", id: number },
      trust: "signed",
      content: press ? { choice: press.choice } : { text },
      ...(command && { optionOnly: true }),
      ...(!command && !press && { talk: talkOf(from, to, sid, account.countries) }),
    };

    await memory.noteMessageFrom(kind, number);
    if (!command?.certain) {
      const result = await receive(message);
      // The core itself tells its person whatever is about one message; a list of several is about none.
      if (isAboutNone(result)) await sendWords(kind, number, result.says);
      if (command?.kind === "start" && result.kind === "accepted") await memory.setOptedOut(kind, number, false);
      if (!command || result.kind !== "no_match") return NOTHING;
    }
    if (!(await memory.isNew(sid))) return NOTHING;
    if (command.kind !== "help") await memory.setOptedOut(kind, number, command.kind === "stop");
    // Twilio has explained it already where it says that this was asked.
    else if (!optOutType) await sendWords(kind, number, HELP);
    return NOTHING;
  }

  async function hearStatus(http: RawRequest): Promise<HookReply> {
    const form = verified(http, STATUS_PATH);
    if (!form) return REFUSED;
    const [delivery] = new URLSearchParams(http.query).getAll("delivery");
    const status = fieldOf(form, "MessageStatus");
    if (delivery && (status === "failed" || status === "undelivered")) {
      const code = fieldOf(form, "ErrorCode") ?? status;
      const to = partyOf(form, "To");
      if (code === "21610" && to) await memory.setOptedOut(to.kind, to.number, true);
      await onFailed(delivery, code);
    }
    return NOTHING;
  }

  return [
    { path: MESSAGE_PATH, maxBytes: MAX_BYTES, handle: hearMessage },
    { path: STATUS_PATH, maxBytes: MAX_BYTES, handle: hearStatus },
  ];
}

/** True of a result that the core tells nobody about, because it is about no single message. */
function isAboutNone({ kind, link }: InboundResult): boolean {
  return kind === "frozen" || (kind === "not_understood" && link === undefined);
}

/**
 * Twilio documents no message for a reaction of WhatsApp. Should one come, it would have the type that WhatsApp itself
 * calls it by, and an emoji as its words.
 */
function isNobodysWords(form: FormFields): boolean {
  if (pressOf(fieldOf(form, "ButtonPayload"))) return false;
  return fieldOf(form, "MessageType") === "reaction" || isUnwritten(fieldOf(form, "Body") ?? "");
}

/** A number and one of ours are one conversation; none is begun where an answer could not be sent. */
function talkOf(from: Party, to: Party, sid: string, countries: readonly string[]): ThreadContext {
  const thread = `${from.address}|${to.address}`;
  return {
    at: { channel: from.kind },
    begins: countries.some((prefix) => from.number.startsWith(prefix)),
    goesOn: true,
    threads: threadsOf(from, to),
    thread,
    source: `twilio ${sid}`,
    proved: true,
    raw: {},
    target: { via: from.kind, to: from.number, settings: {} },
  };
}

/** Returns a number as Twilio writes it. */
export function addressOf(kind: PhoneChannel, number: string): string {
  return kind === "whatsapp" ? `whatsapp:${number}` : number;
}

/** Returns the thread of a person's number and ours, by each form in which the person's may have been asked. */
function threadsOf(from: Party, to: Party): string[] {
  return numberForms(from.number).map((number) => `${addressOf(from.kind, number)}|${to.address}`);
}

function partyOf(form: FormFields, name: "From" | "To"): Party | undefined {
  const address = fieldOf(form, name) ?? "";
  const found = /^(whatsapp:)?(\+[1-9]\d{6,14})$/.exec(address);
  return found?.[2] === undefined ? undefined : { kind: found[1] ? "whatsapp" : "sms", number: found[2], address };
}

/** Returns the delivery and the choice that a template's button carries; together they replace the code. */
function pressOf(payload: string | undefined): { delivery: string; choice: Choice } | undefined {
  const [, delivery, words, option] = BUTTON.exec(payload ?? "") ?? [];
  if (delivery === undefined || words === undefined) return undefined;
  if (option !== undefined) return { delivery, choice: { kind: "option", index: Number(option) } };
  return { delivery, choice: { kind: words === "approve" ? "approve" : "reject" } };
}
