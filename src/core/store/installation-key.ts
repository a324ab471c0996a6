import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder, syncFolder } from "../../lib/files/durable-files.ts";
import { type Keyring, openKeyring } from "../../lib/secrets/keyring.ts";
import type { Random } from "../../lib/random.ts";
import { codeOf, FILE_MODE, FOLDER_MODE, REASONS } from "./data-dir.ts";
import { type Db, first, type Queryable } from "./db.ts";
import { insertSecretIfNew } from "./sealed-secrets.ts";
import { sql } from "./sql.ts";

const KEY_BYTES = 32;
/**
 * The secret that a server seals before anything else. It settles the key when several servers start at once on an
 * empty store.
 */
const KEY_MARK = "installation_key";

/**
 * Returns the 32-byte installation key, making the file when it is missing. If two servers make it at once, both return
 * the key that is in the file.
 *
 * @throws {Error} one sentence for the operator
 */
export function openInstallationKey(path: string, random: Random): Uint8Array {
  try {
    if (!existsSync(path)) makeKeyFile(path, random(KEY_BYTES));
    const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64url");
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    const reason = REASONS[codeOf(error)];
    if (!reason) throw error;
    throw new Error(`The installation key ${path} cannot be used: ${reason}; set PARLEY_KEY_FILE to one that can.`);
  }
  throw new Error(`${path} holds no installation key; restore it from where it was copied to.`);
}

/** The file holds the key, and survives a loss of power; where there is one already, it is left as it is. */
function makeKeyFile(path: string, key: Uint8Array): void {
  const folder = dirname(path);
  makeFolder(folder, FOLDER_MODE);
  // Written in full beside its place and linked there, so that nobody ever reads half a key or replaces one.
  const draft = join(folder, `.${basename(path)}.${process.pid}`);
  const descriptor = openSync(draft, "wx", FILE_MODE);
  try {
    writeSync(descriptor, `${Buffer.from(key).toString("base64url")}\n`);
    fsyncSync(descriptor);
    // point: first-start-key-written
    linkSync(draft, path);
    // point: first-start-key-linked
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
  syncFolder(folder);
}

/** Nothing needs chance that only opens. */
const NO_RANDOM: Random = () => {
  throw new Error("a keyring that only opens was to seal");
};

const findSealed = (on: Queryable) =>
  first<{ name: string; sealed: string }>(on, sql`SELECT name, sealed FROM sealed_secrets LIMIT 1`);

/** Returns whether the store is this key's: something that is sealed in it opens. True where nothing is sealed yet. */
export async function isSealedWith(on: Queryable, keyring: Pick<Keyring, "open">): Promise<boolean> {
  const row = await findSealed(on);
  try {
    if (row) keyring.open(row.sealed, row.name);
    return true;
  } catch {
    return false;
  }
}

/**
 * The database is the installation key's from now on. One opened with another key would take every person and every
 * agent for a stranger.
 *
 * @throws {Error} when it is another key's, also when that one's server is first starting on it at this very moment
 */
export async function checkedKeyring(db: Db, keyFile: string, random: Random): Promise<Keyring> {
  await finishKeyChange(db, keyFile);
  const keyring = openKeyring(openInstallationKey(keyFile, random), random);
  // On PostgreSQL this waits for the row of another server that does the same, and leaves that one.
  if (!(await findSealed(db))) await db.transact((tx) => insertSecretIfNew(tx, keyring, KEY_MARK, KEY_MARK));
  if (await isSealedWith(db, keyring)) return keyring;
  throw new Error(
    `${keyFile} is not the installation key of this database; put that one in its place, or name it with PARLEY_KEY_FILE. Where parley keys rotate-installation has changed it, the new one is in the key file of the machine on which that was done.`,
  );
}

/** Returns where the key stands that is to take the place of the one in `keyFile`, while that is being changed. */
export function nextKeyFile(keyFile: string): string {
  return `${existsSync(keyFile) ? realpathSync(keyFile) : keyFile}.next`;
}

/** A new file holds a new key, and is the old file's owner's. Returns the key. @throws {Error} one sentence for the operator */
export function makeNextKey(path: string, random: Random, oldFile: string): Uint8Array {
  if (existsSync(path)) throw new Error(`There is a file ${path} already; name a new one for the new key.`);
  try {
    makeKeyFile(path, random(KEY_BYTES));
    const [old, made] = [statSync(oldFile), statSync(path)];
    if (made.uid !== old.uid || made.gid !== old.gid) chownSync(path, old.uid, old.gid);
  } catch (error) {
    const reason = REASONS[codeOf(error)];
    if (!reason) throw error;
    throw new Error(`The new key cannot be written to ${path}: ${reason}; name a file that can with --into.`);
  }
  return openInstallationKey(path, random);
}

/** The new key is in the place of the old one, for good. */
export function putKeyInPlace(keyFile: string): void {
  const next = nextKeyFile(keyFile);
  try {
    // Not by lib/files/durable-files.ts, which takes away what cannot be renamed: nothing else holds this key.
    // eslint-disable-next-line no-restricted-syntax
    renameSync(next, next.replace(/\.next$/, ""));
  } catch (error) {
    // Another process has done the same at this moment.
    if (codeOf(error) !== "ENOENT") throw error;
  }
  syncFolder(dirname(next));
}

/**
 * A change of the installation key that was ended after the store had the new one is finished: the file has it, too. One
 * that was ended earlier has changed nothing, and nothing is done.
 */
export async function finishKeyChange(on: Queryable, keyFile: string): Promise<void> {
  const next = nextKeyFile(keyFile);
  if (!existsSync(next)) return;
  const key = Buffer.from(readFileSync(next, "utf8").trim(), "base64url");
  if (await isSealedWith(on, openKeyring(key, NO_RANDOM))) putKeyInPlace(keyFile);
}
