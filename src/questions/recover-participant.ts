import type { Context } from "../context.ts";
import { base62 } from "../lib/id.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import type { Caller } from "./model/participant.ts";
import { Refusal } from "../refusals.ts";
import { eraseParticipant, setRecovery, spendRecovery } from "./store/participants.ts";
import { transact } from "../core/store/transact.ts";
import { identifyForRead, welcome } from "./identify.ts";

const RECOVERY_MS = 30 * 86_400_000;
/** 20 characters are 119 bits: not to be guessed at five tries an hour, still short enough to write down. */
const CODE_LENGTH = 20;

/**
 * Gives the participant a code that moves it to another device, once, within 30 days; an earlier code ends.
 *
 * @throws {Refusal} `invalid_input` for somebody with a name: only a session or a key speaks for them
 */
export async function makeRecoveryCode(
  ctx: Context,
  caller: Caller,
): Promise<{ code: string; expiresAt: number; issue: string | null }> {
  if (caller.person !== undefined) {
    throw new Refusal("invalid_input", {}, "You are signed in: sign in on the other device as well.");
  }
  const code = base62(ctx.random, CODE_LENGTH);
  return transact(ctx, async (tx) => {
    const { identity, issue } = await welcome(ctx, tx, caller);
    const id = caller.participant ?? issue ?? identity.person;
    return { code, expiresAt: await setRecovery(tx, id, sha256Hex(code), RECOVERY_MS), issue };
  });
}

/** Returns the participant a recovery code stands for, and spends the code. @throws {Refusal} `recovery_refused` */
export async function redeemRecoveryCode(ctx: Context, code: string): Promise<string> {
  return transact(ctx, async (tx) => {
    const participant = await spendRecovery(tx, sha256Hex(code.replaceAll(/[\s-]/g, "")));
    if (!participant) throw new Refusal("recovery_refused");
    return participant;
  });
}

/**
 * Erases the caller, and for a signed-in person also this browser's participant: subscriptions, statistics. Answers
 * stay.
 */
export async function eraseMe(ctx: Context, caller: Caller): Promise<void> {
  const identity = await identifyForRead(ctx, caller);
  if (!identity) return;
  const strangers = new Map(identity.names.map((name) => [name, ctx.newId("gone")]));
  await transact(ctx, (tx) => eraseParticipant(tx, identity.names, (name) => strangers.get(name) ?? ctx.newId("gone")));
}
