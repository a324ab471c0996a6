import { z } from "zod";
import { kindOf, PHONE_CHANNELS, type PhoneChannel } from "../channels/kinds.ts";
import { mailAddress } from "../lib/mail-address.ts";
import type { EntryPoint } from "../conversations/model/entry-point.ts";
import { setting } from "./setting.ts";

const PHONE_TITLES = PHONE_CHANNELS.map((name) => kindOf(name).title).join(" and ");
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const CHANNELS = { error: "a block of names, each with a contact channel such as { human: { id: 12 } }" };
const USUAL = { error: "the name of a channel, a human's id, or a contact channel such as { human: { id: 12 } }" };
const ENTRIES = {
  error:
    `a block of names, each with agent, where people begin (inbox, slack, ${PHONE_CHANNELS.join(", ")}: true; ` +
    "email: an address), and if wanted from (enrolled, anyone), about and response_schema",
};

const beginsThere = z.boolean(ENTRIES).default(false);
type Phones = Record<PhoneChannel, typeof beginsThere>;
const PHONES = Object.fromEntries(PHONE_CHANNELS.map((name) => [name, beginsThere])) as Phones;

const EntryPointEntry = z.strictObject(
  {
    agent: z.string(ENTRIES).regex(/^[\x21-\x7e]{1,128}$/, ENTRIES),
    about: z.string(ENTRIES).max(200, ENTRIES).optional(),
    slack: z.union([z.boolean(), z.string().regex(/^A[A-Z0-9]{2,}$/)], ENTRIES).default(false),
    email: z
      .string(ENTRIES)
      .refine((address) => mailAddress(address) !== undefined, ENTRIES)
      .optional(),
    ...PHONES,
    inbox: beginsThere,
    from: z.enum(["enrolled", "anyone"], ENTRIES).default("enrolled"),
    response_schema: z.record(z.string(), z.unknown(), ENTRIES).optional(),
  },
  ENTRIES,
);

/** The settings for the default addressee of agents' requests, and for conversations that people begin. */
export const CONVERSATION_SETTINGS = {
  defaultChannel: setting(
    z.union([z.string().min(1), z.int(), z.record(z.string(), z.unknown())], USUAL).optional(),
    "Whom requests ask that name nobody; left out, everybody who sees all there is in the inbox.",
    { example: "billing" },
  ),
  channels: setting(
    z.record(z.string().regex(NAME, CHANNELS), z.record(z.string(), z.unknown(), CHANNELS), CHANNELS).optional(),
    "Channels by names of your own, which agents use as channel_id.",
    { example: "{ billing: { slack: { channel_or_user_id: C0BILLING } } }" },
  ),
  entryPoints: setting(
    z
      .record(z.string().regex(NAME, ENTRIES), EntryPointEntry, ENTRIES)
      .refine((entries) => areApart(entryPointsOf(entries)), {
        error: `such that each Slack app, mail address, ${PHONE_TITLES} belongs to one entry point`,
      })
      .optional(),
    "Where people may begin a conversation with an agent, by name; without any nobody can.",
    { example: "{ support: { agent: support, inbox: true, slack: true, email: support@example.com } }" },
  ),
};

type Entry = z.output<typeof EntryPointEntry>;

/** Returns whether each place to write to belongs to one agent. */
function areApart(points: readonly EntryPoint[]): boolean {
  const places = points.flatMap(({ slack, email, phones }) => [
    ...(slack === false ? [] : [`slack ${String(slack)}`]),
    ...(email === null ? [] : [email]),
    ...phones,
  ]);
  return new Set(places).size === places.length;
}

/** Returns the entry points as the rules know them. */
export function entryPointsOf(entries: Readonly<Record<string, Entry>> = {}): EntryPoint[] {
  return Object.entries(entries).map(([name, entry]) => ({
    name,
    agent: entry.agent,
    about: entry.about ?? null,
    slack: entry.slack,
    email: entry.email === undefined ? null : (mailAddress(entry.email) ?? null),
    phones: PHONE_CHANNELS.filter((name) => entry[name]),
    inbox: entry.inbox,
    from: entry.from,
    responseSchema: entry.response_schema ?? null,
  }));
}
