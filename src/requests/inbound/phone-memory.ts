import type { PhoneChannel } from "../../channels/kinds.ts";
import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import { insertInboundIfNew } from "../store/deliveries.ts";
import { findPhone, notePhoneContact, setOptedOut } from "../store/phones.ts";
import { transact } from "../../core/store/transact.ts";
import { chargeOnce } from "../../core/limits.ts";

/** Every message costs money, and more than this an hour helps nobody. */
const MESSAGES_PER_HOUR = 10;
const HOUR_MS = 3_600_000;

/** Returns what the phone channels remember of numbers: rows, so that every node knows it (spec/channels 5.5). */
export function phoneMemory(ctx: Context) {
  return {
    /** The person has sent STOP, or START again. */
    async setOptedOut(kind: PhoneChannel, number: string, optedOut: boolean): Promise<void> {
      await transact(ctx, (tx) => setOptedOut(tx, kind, number, optedOut));
    },
    async isOptedOut(kind: PhoneChannel, number: string): Promise<boolean> {
      return (await findPhone(ctx.db, kind, number))?.optedOut ?? false;
    },
    /** The person has written just now. */
    async noteMessageFrom(kind: PhoneChannel, number: string): Promise<void> {
      await transact(ctx, (tx) => notePhoneContact(tx, kind, number));
    },
    async hasWritten(kind: PhoneChannel, number: string, withinMs: number): Promise<boolean> {
      const phone = await findPhone(ctx.db, kind, number);
      return phone?.lastMessageAt != null && phone.now - phone.lastMessageAt < withinMs;
    },
    /** Counts one message to the number; returns how long to wait when there were too many this hour. */
    async charge(kind: PhoneChannel, number: string): Promise<{ waitMs: number } | null> {
      try {
        await chargeOnce(ctx, "phone messages", `${kind}:${number}`, MESSAGES_PER_HOUR);
        return null;
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== "rate_limited") throw error;
        const seconds = error.details["retry_after"];
        return { waitMs: typeof seconds === "number" ? seconds * 1000 : HOUR_MS };
      }
    },
    /** Returns whether Twilio's id of a message is seen for the first time, ever. */
    async isNew(messageSid: string): Promise<boolean> {
      return transact(ctx, (tx) => insertInboundIfNew(tx, "twilio", messageSid));
    },
  };
}
