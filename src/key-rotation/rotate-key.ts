import { existsSync, rmSync } from "node:fs";
import { forgetDecisions } from "../asks/store/decision-cache.ts";
import { OWNED_TABLES } from "../backup/store/owned-tables.ts";
import { judgeNewestSource } from "../backup/store/source-facts.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";
import { type Queryable, storeNow, type Tx } from "../core/store/db.ts";
import {
  finishKeyChange,
  makeNextKey,
  nextKeyFile,
  openInstallationKey,
  putKeyInPlace,
} from "../core/store/installation-key.ts";
import type { Clock } from "../lib/clock.ts";
import { type Keyring, openKeyring } from "../lib/secrets/keyring.ts";
import type { Random } from "../lib/random.ts";
import { makeSigningKey, publicPart, retiredPart } from "../lib/receipt.ts";
import { tokenHashes, tokensOf } from "../requests/links/delivery-tokens.ts";
import { ROTATED, SIGNING_SECRET } from "../requests/read/read-receipt.ts";
import { type ExclusiveStoreAddress, openAlone, type StoreAlone } from "./store/alone.ts";
import { changeTokens } from "../requests/store/token-hashes.ts";
import { changeSealed, countDependents, type Dependents } from "./store/sealed-rows.ts";

export interface KeyRotationInput extends ExclusiveStoreAddress {
  keyFile: string;
  /** A new file for the new key, where the old file is to stay as it is. */
  into?: string | undefined;
}

interface KeyHow {
  by: Actor;
  clock: Clock;
  random: Random;
}

/** The counts of what ended with the old key, and of the secrets that were sealed with the new one. */
export interface KeyChange extends Dependents {
  sealed: number;
}

/** Returns what would end with the installation key, beside servers that run. @throws {Error} one sentence for the operator */
export async function readDependents(on: Queryable, keyFile: string): Promise<Dependents> {
  await judgeNewestSource(on, { keyring: keyringIn(keyFile), keyFile });
  return countDependents(on);
}

/**
 * Gives the store a new installation key. Secrets sealed under the old key are sealed under the new one. Receipts are
 * signed by a new key, and the old ones still verify. Values that followed from the old key are worth nothing. If this
 * is killed anywhere, the next process that opens the store finds it with the one key or with the other, and the file
 * is that key's.
 *
 * @throws {Error} one sentence for the operator: a server runs on the store, the key is another store's, the new file
 *   cannot be written
 */
export async function rotateInstallationKey(place: KeyRotationInput, how: KeyHow): Promise<KeyChange> {
  const { keyFile, into } = place;
  const alone = await openAlone(place, how.clock);
  try {
    await finishKeyChange(alone.tx, keyFile);
    const old = keyringIn(keyFile, how.random);
    await judgeNewestSource(alone.tx, { keyring: old, keyFile });
    const next = into ?? nextKeyFile(keyFile);
    // One that an earlier change was killed beside is nobody's: the store is the old key's, and nobody else is at work.
    if (into === undefined && existsSync(next)) rmSync(next);
    const fresh = openKeyring(makeNextKey(next, how.random, keyFile), how.random);
    // point: rotate-key-written
    const change = await changeIn(alone, { old, fresh, by: how.by }).catch((error: unknown) => {
      rmSync(next, { force: true });
      throw error;
    });
    // point: rotate-before-commit
    await alone.commit();
    // point: rotate-committed
    if (into === undefined) putKeyInPlace(keyFile);
    return change;
  } finally {
    await alone.close();
  }
}

function keyringIn(keyFile: string, random?: Random): Keyring {
  if (!existsSync(keyFile)) {
    throw new Error(`There is no installation key at ${keyFile}; name the one of this database with PARLEY_KEY_FILE.`);
  }
  const chance = random ?? (() => new Uint8Array());
  return openKeyring(openInstallationKey(keyFile, chance), chance);
}

interface Keys {
  old: Keyring;
  fresh: Keyring;
  by: Actor;
}

async function changeIn(alone: StoreAlone, keys: Keys): Promise<KeyChange> {
  await alone.begin();
  const { tx } = alone;
  const dependents = await countDependents(tx);
  const nowMs = await storeNow(tx);
  let sealed = 0;
  for (const place of OWNED_TABLES.flatMap(({ sealed: places = [] }) => places)) {
    sealed += await changeSealed(tx, place, async (text, key) => {
      const found = place.find(text, key);
      if (!found) return text;
      const words = keys.old.open(found.sealed, found.rowId);
      const kept =
        place.table === "sealed_secrets" && key === SIGNING_SECRET ? await withFreshKey(words, nowMs) : words;
      return text.replaceAll(found.sealed, keys.fresh.seal(kept, found.rowId));
    });
  }
  await changeTokens(tx, (id) => tokenHashes(tokensOf({ keyring: keys.fresh }, id)));
  await noteIn(tx, { ...dependents, sealed }, keys.by);
  return { ...dependents, sealed };
}

/** A new key signs from now on; of the others only what verifies is kept, and the former one says until when it signed. */
async function withFreshKey(words: string, nowMs: number): Promise<string> {
  const [former, ...earlier] = JSON.parse(words) as Parameters<typeof publicPart>[0][];
  const retired = former ? [retiredPart(former, nowMs)] : [];
  return JSON.stringify([await makeSigningKey(), ...retired, ...earlier.map(publicPart)]);
}

async function noteIn(tx: Tx, { sealed, decisions }: KeyChange, by: Actor): Promise<void> {
  await forgetDecisions(tx, "all");
  await appendAudit(tx, { actor: by, action: ROTATED, data: { sealed, decisions } });
}
