/** The kinds of channel. Shared code reads their facts here, and names a kind where that one alone differs. */
import { email } from "./email/kind.ts";
import type { ChannelKind } from "./kind.ts";
import { slack } from "./slack/kind.ts";
import { sms, whatsapp } from "./twilio/kind.ts";
import { webhook } from "./webhook/kind.ts";

/** In the order in which they are listed. */
const KINDS = {
  slack,
  email,
  sms,
  whatsapp,
  webhook,
} satisfies Readonly<Record<string, ChannelKind>>;

/** A way to reach people outside of Parley. */
export type OutsideChannel = keyof typeof KINDS;
export const OUTSIDE_CHANNELS = Object.keys(KINDS) as readonly OutsideChannel[];

/** Every way to reach people but the inbox, which is this server itself. */
export const CHANNELS = ["push", ...OUTSIDE_CHANNELS] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** The channels that reach a telephone by its number. */
export type PhoneChannel = {
  [Name in OutsideChannel]: (typeof KINDS)[Name]["identity"] extends "phone" ? Name : never;
}[OutsideChannel];
export const PHONE_CHANNELS = OUTSIDE_CHANNELS.filter((name): name is PhoneChannel => KINDS[name].identity === "phone");

/** Returns the facts of a channel; undefined for any other name, such as `push` or `inbox`. */
export function kindOf(name: OutsideChannel): ChannelKind;
export function kindOf(name: string): ChannelKind | undefined;
export function kindOf(name: string): ChannelKind | undefined {
  return isOutside(name) ? KINDS[name] : undefined;
}

export function isOutside(name: string): name is OutsideChannel {
  return Object.hasOwn(KINDS, name);
}

/** Returns the names of a channel's fields as requests have them, in snake_case; the first is the address. */
export function membersOf(name: OutsideChannel): readonly string[] {
  return Object.keys(KINDS[name].fields).map((field) =>
    field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
}
