import { findLiveKey } from "../../src/access/store/keys.ts";
import { findSignIn } from "../../src/access/store/sign-ins.ts";
import { beginEpoch } from "../../src/backup/begin-epoch.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { findGateCall, startIfAsked } from "../../src/gate/store/gate-calls.ts";
import { sha256Hex } from "../../src/lib/secrets/keyring.ts";
import { gateClient } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import type { ConsentStory } from "./consent-story.ts";
import { equip, signIn } from "./consent-taken.ts";

/** Ends a transaction of which nothing is to stay. */
class NothingStays extends Error {}

/**
 * A backup of this moment is restored, in a transaction that is rolled back. Somebody had a session and a key, which may
 * have been ended since, and a gated call was approved, which may have been run since.
 */
export async function restoreBackup(story: ConsentStory): Promise<void> {
  const { world } = story.on;
  const who = await equip(story);
  const { session } = await signIn(story, OPERATOR);
  const gate = await gateClient(world, story.fresh("gate"));
  const requestId = (await gate.ask("wipe", { path: story.fresh("path") })).body.id as string;
  const whole = await world.call("GET", `/people/me/asks/${requestId}`, { headers: session });
  const body = { approved: true, digest: whole.body.digest as string };
  const { status } = await world.call("POST", `/people/me/asks/${requestId}/decision`, { body, headers: session });
  story.note(`has a gated call approved -> ${status}, and restores a backup`);

  const token = /^[^=]+=([^;]+)/.exec(who.session["cookie"] ?? "")?.[1] ?? "";
  const key = (who.key["authorization"] ?? "").replace("Bearer ", "");
  let [before, after] = [{}, {}];
  const look = async (tx: Tx) => {
    before = {
      ...(await inForce(tx, { token, key })),
      approval: (await findGateCall(tx, requestId))?.state === "asked",
    };
    await beginEpoch(tx, { madeAt: "now" }, { clock: world.clock, keeps: [] });
    after = { ...(await inForce(tx, { token, key })), approval: await starts(tx, requestId) };
    throw new NothingStays();
  };
  await world.server.ctx.db.transact(look).catch((error: unknown) => {
    if (!(error instanceof NothingStays)) throw error;
  });
  for (const [what, was] of Object.entries(before)) if (!was) story.broke(`the ${what} of a backup is none`);
  for (const [what, is] of Object.entries(after))
    if (is) story.broke(`a restored store takes the ${what} of its backup`);
}

const inForce = async (tx: Tx, { token, key }: { token: string; key: string }) => ({
  session: (await findSignIn(tx, sha256Hex(token))) !== undefined,
  key: (await findLiveKey(tx, sha256Hex(key))) !== undefined,
});

async function starts(tx: Tx, requestId: string): Promise<boolean> {
  const call = await findGateCall(tx, requestId);
  const run = { run: "again", consentDigest: "sha256:00", heldMs: 60_000 };
  return call !== undefined && (await startIfAsked(tx, call, run)) !== undefined;
}
