import { loopErrors } from "../core/loops/errors.ts";
import { startOutbox } from "../core/loops/outbox.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { type FcmAccount, readFcmAccount } from "../channels/push/fcm.ts";
import { openPush } from "../channels/push/push.ts";
import type { GuardedFetch } from "../lib/network/guarded-fetch.ts";
import { startLoop, type Loop } from "../lib/loop.ts";
import { openNotify } from "../notices/loops/notify.ts";
import { noticeOutbox } from "../notices/loops/send.ts";
import { readVapidPair } from "../notices/read-vapid-key.ts";

/** By what the server is known to push services. */
export interface PushAccounts {
  vapid: { publicKey: string; privateKey: string };
  fcm: FcmAccount | null;
}

const NOTIFY_EVERY_MS = 1000;
/**
 * The address to which push services can complain where the settings name nobody; some services refuse such an address
 * (docs/how-to/push.md).
 */
const NOBODY = "mailto:nobody@parley.invalid";

/** Returns the server's key pair, and its Firebase account where one is configured. @throws {Error} one sentence */
export async function readPushAccounts(ctx: Context, config: Config): Promise<PushAccounts> {
  const { fcmKeyFile } = config.push;
  return { vapid: await readVapidPair(ctx), fcm: fcmKeyFile === undefined ? null : readFcmAccount(fcmKeyFile) };
}

/** Tells devices of what is asked, until stopped. `config` is read again for each message: its public URL settles late. */
export function startPush(
  ctx: Context,
  config: Config,
  { vapid, fcm }: PushAccounts,
  guardedFetch: GuardedFetch,
): Loop[] {
  const { clock } = ctx;
  const subject = config.push.subject ?? (config.publicUrl.startsWith("https:") ? config.publicUrl : NOBODY);
  const send = openPush(
    { publicUrl: () => config.publicUrl, vapid: { ...vapid, subject }, fcm },
    { guardedFetch, fetch: ctx.fetch, now: () => clock.now() },
  );
  const kinds = fcm ? (["web", "fcm"] as const) : (["web"] as const);
  const rules = { factor: config.notify.factor, catchUpMs: config.notify.catchUpMinutes * 60_000 };
  return [
    startLoop(openNotify(ctx, { rules, kinds }), {
      clock,
      idleMs: NOTIFY_EVERY_MS,
      onError: loopErrors(ctx, "notify"),
    }),
    startOutbox(ctx, noticeOutbox(ctx, { send, kinds, shows: config.push.lockScreen })),
  ];
}
