import type { PhoneChannel } from "../kinds.ts";

/** The operator's settings for text messages (spec/channels 7). */
export interface TwilioSettings {
  accountSid?: string | undefined;
  authToken?: string | undefined;
  smsFrom?: string | undefined;
  whatsappFrom?: string | undefined;
  whatsappTemplateSid?: string | undefined;
  /** Prefixes of the numbers that may be sent to, such as `+49`. */
  countries: readonly string[];
  apiUrl?: string | undefined;
}

/** Everything there must be before a text message can be sent or believed. */
export interface TwilioAccount {
  accountSid: string;
  authToken: string;
  countries: readonly string[];
  apiUrl: string;
  whatsappTemplateSid: string | undefined;
  /** As it was configured: what Twilio signs, and never what a request says of itself. */
  publicUrl: string;
}

/** The stored facts about phone numbers. They are rows, so that every node has them and they survive a restart. */
export interface PhoneMemory {
  /** The person has sent STOP, or START again. */
  setOptedOut(kind: PhoneChannel, number: string, optedOut: boolean): Promise<void>;
  isOptedOut(kind: PhoneChannel, number: string): Promise<boolean>;
  /** The person has written just now. */
  noteMessageFrom(kind: PhoneChannel, number: string): Promise<void>;
  /** True when the person has written within the last `withinMs`. */
  hasWritten(kind: PhoneChannel, number: string, withinMs: number): Promise<boolean>;
  /** Counts one message to the number; returns how long to wait when there were too many this hour. */
  charge(kind: PhoneChannel, number: string): Promise<{ waitMs: number } | null>;
  /** Returns whether this id of Twilio's is seen for the first time, ever. */
  isNew(messageSid: string): Promise<boolean>;
}

export interface TwilioOutside {
  fetch: typeof globalThis.fetch;
  now: () => number;
  memory: PhoneMemory;
  /** A message that was taken has not arrived after all. */
  onFailed: (delivery: string, providerCode: string) => Promise<void>;
}
