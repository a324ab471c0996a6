/** Everything that shows somebody a call, as text: what a person may approve must be the same on each. */
import { composeNotice } from "../../src/channels/email/compose.ts";
import type { Notice } from "../../src/channels/channel.ts";
import { askMessage, closedMessage } from "../../src/channels/slack/message.ts";
import { templateVariables, textOf } from "../../src/channels/twilio/message.ts";
import type { InboxRequestDetail } from "../../src/cli/inbox/client.ts";
import { listLines, wholeLines } from "../../src/cli/inbox/view.ts";
import { requestLines } from "../../src/cli/ask/asked-people.ts";
import { sha256Digest, canonicalExact } from "../../src/lib/json/exact-json.ts";
import { printableJson } from "../../src/lib/printable.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { viewInMessage } from "../../src/requests/model/message-view.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { wholeRequest } from "../../src/protocols/web/inbox/wire.ts";
import { askMarkup } from "../../src/protocols/web/links/view.ts";

export const OUR_URL = "https://parley.example";
export const OUR_LINK = `${OUR_URL}/r/${"k".repeat(43)}`;
export const OUR_CODE = "K7F3";

/** An open ask for the approval of a call. */
export function askOf(fn: string, kwargs: Record<string, unknown>, more: Partial<Request> = {}): Request {
  const text = canonicalExact(kwargs);
  return {
    id: "ask_1",
    door: "a2h",
    asker: "agent:support",
    ref: "call:1",
    title: fn,
    words: "",
    form: { kind: "approval", fn, kwargs: text, rejectOptions: [], editable: true },
    audience: { kind: "leaf", target: { via: "inbox" } },
    digest: sha256Digest(consentText(fn, text)),
    state: "open",
    version: 1,
    createdAt: 0,
    expiresAt: 3_600_000,
    settledAt: null,
    outcome: null,
    refused: null,
    wire: {},
    ...more,
  };
}

/** The message that goes out about an ask. */
export function noticeOf<Target>(ask: Request, target: Target): Notice<Target> {
  return {
    delivery: "dlv_1",
    target,
    view: viewInMessage(ask, OUR_URL),
    link: OUR_LINK,
    code: OUR_CODE,
    messageName: "dlv_nameOfTheMessage000000",
    replyToken: "a".repeat(26),
    informsOnly: false,
    whole: true,
    reminder: false,
    opening: null,
  };
}

const SLACK = (plain: boolean) => ({ via: "slack" as const, to: "U1", settings: { plain } });
const EMAIL = { via: "email" as const, to: "ana@example.com", informed: false, settings: { to: [], cc: [] } };
const FRAME = { domain: "parley.example", approvesByReply: true, isShaped: false };

const wireOf = async (ask: Request): Promise<InboxRequestDetail> => {
  const details = { humans: new Map(), deliveries: [], decisions: [], earlier: [], task: null };
  const who = { via: "web", person: "psn_1", identities: [], seesAll: true } as const;
  const whole = await wholeRequest(ask, details as unknown as Parameters<typeof wholeRequest>[1], {
    who,
    now: 0,
    language: "en",
  });
  return JSON.parse(JSON.stringify(whole)) as InboxRequestDetail;
};

/** The texts of messages, as their readers see them. */
export const MESSAGES: Readonly<Record<string, (ask: Request, opening?: string) => string>> = {
  "a text message": (ask, opening = "") => textOf("sms", { ...noticeOf(ask, null), opening }),
  WhatsApp: (ask, opening = "") => textOf("whatsapp", { ...noticeOf(ask, null), opening }),
  "a WhatsApp template": (ask) => Object.values(templateVariables(noticeOf(ask, null))).join("\n"),
  Slack: (ask, opening = "") => textsIn(askMessage({ ...noticeOf(ask, SLACK(false)), opening } as never, true)),
  "Slack without blocks": (ask, opening = "") =>
    askMessage({ ...noticeOf(ask, SLACK(true)), opening } as never, true).text,
  "Slack, closed": (ask) =>
    textsIn(closedMessage(viewInMessage(ask, OUR_URL), { says: "over.", at: 0 } as never, SLACK(true) as never)),
  "a mail's text": (ask, opening) => composeNotice({ ...noticeOf(ask, EMAIL), opening: opening ?? null }, FRAME).text,
  "a mail's HTML": (ask, opening) => composeNotice({ ...noticeOf(ask, EMAIL), opening: opening ?? null }, FRAME).html,
};

/** Everything that shows a call: the messages, our own pages, and the terminal. */
export const RENDERERS: Readonly<Record<string, (ask: Request) => string | Promise<string>>> = {
  ...MESSAGES,
  "the page of a link": (ask) => askMarkup(ask).text,
  "the inbox": async (ask) => {
    const { title, fn, arguments: rows, kwargs } = await wireOf(ask);
    return [title, fn, ...(rows ?? []).flatMap(({ name, text }) => [name, text]), kwargs].join("\n");
  },
  "the inbox, drawn": async (ask) => {
    const { title, fn, arguments: rows } = await wireOf(ask);
    const drawn = (rows ?? []).map(({ name, text, typed }) => `${name}\n${typed === null ? text : textsIn(typed)}`);
    return [title, fn, ...drawn].join("\n");
  },
  "the terminal": async (ask) => [...listLines([await wireOf(ask)]), ...wholeLines(await wireOf(ask), true)].join("\n"),
  "--json": async (ask) => printableJson(JSON.stringify(await wireOf(ask))),
  "parley check": (ask) => {
    const { form } = ask;
    if (form.kind !== "approval") return "";
    return requestLines({ spec: { fn: form.fn, kwargs: JSON.parse(form.kwargs) }, status: {} } as never).join("\n");
  },
};

/** Every text of a message, one below the other. */
function textsIn(of: unknown): string {
  if (typeof of === "string") return of;
  if (typeof of !== "object" || of === null) return "";
  return Object.entries(of)
    .filter(([key]) => !["type", "action_id", "style"].includes(key))
    .map(([, value]) => textsIn(value))
    .join("\n");
}
