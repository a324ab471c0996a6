import type { Context } from "../context.ts";
import { readKeyText, type Scope } from "../lib/secrets/key-text.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { findKeyNamed, findLiveKey, touchKey } from "./store/keys.ts";
import { transact } from "../core/store/transact.ts";

/** The identity that a key stands for. */
export interface KeyIdentity {
  keyId: string;
  scope: Scope;
  name: string;
  /**
   * The owner of the key's objects: all keys of one name and scope share it, and no open caller's `open:<id>` can equal
   * it.
   */
  principal: string;
  person: string | null;
  selfRespond: boolean;
  /** The addressee of its requests that name nobody. */
  channel: string | null;
  /** The one conversation it is good for. */
  conversation: number | null;
  /** The repositories it is good for, of an `assign` key; null for all. */
  repos: readonly string[] | null;
}

/**
 * Returns who holds a presented key, or null for anything but a live key.
 *
 * It is looked up each time, by hash: a revoked key is refused by the very next request, on every server. Once an hour it
 * is written down that the key is in use.
 */
export async function findKey(ctx: Pick<Context, "db" | "wake">, presented: string): Promise<KeyIdentity | null> {
  if (readKeyText(presented).kind !== "key") return null;
  const key = await findLiveKey(ctx.db, sha256Hex(presented));
  if (!key) return null;
  if (key.isSightingDue) await transact(ctx, (tx) => touchKey(tx, key.id));
  const { id: keyId, scope, name, person, selfRespond, channel, conversation, repos } = key;
  return { keyId, scope, name, principal: `${scope}:${name}`, person, selfRespond, channel, conversation, repos };
}

/** True for a name that a key was ever made for, in whatever case. */
export async function isNameOfKey({ db }: Pick<Context, "db">, name: string): Promise<boolean> {
  return (await findKeyNamed(db, name)) !== undefined;
}
