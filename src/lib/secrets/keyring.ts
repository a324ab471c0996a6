import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { keepResults } from "../kept-results.ts";
import type { Random } from "../random.ts";

/** The purpose of a derived key. Each purpose has a label, so that no key serves two purposes (spec/security 3). */
export type KeyLabel =
  "participant" | "fingerprint" | "cursor" | "feed" | "network" | "secrets" | "delivery" | "trace" | "address";

/** Each request of a person takes the MACs of the same texts again. The tokens of messages are never among them. */
const OFTEN: ReadonlySet<KeyLabel> = new Set(["participant", "fingerprint", "network"]);
const MOST_KEPT = 5000;

/** Keys derived from the 32-byte installation key. */
export interface Keyring {
  /** HMAC-SHA-256 of `text` under the key of `label`, base64url. */
  mac(label: KeyLabel, text: string): string;
  /** HMAC-SHA-256 of what a decision depends on, lower-case hex (spec/relay 9). */
  decisionMac(text: string): string;
  /** Encrypts `text` (AES-256-GCM) so that only the row it was sealed for opens it. */
  seal(text: string, rowId: string): string;
  /** Returns what `seal` was given. @throws when the key, the row or a byte differs. */
  open(sealed: string, rowId: string): string;
}

/** Derives the keyring by HKDF-SHA-256. */
export function openKeyring(installationKey: Uint8Array, random: Random): Keyring {
  const derived = new Map<KeyLabel, KeyObject>();
  const keyFor = (label: KeyLabel): KeyObject => {
    let key = derived.get(label);
    if (!key) {
      const bytes = hkdfSync("sha256", installationKey, "", `parley:${label}`, 32);
      // Bytes alone would be made into a key object for every MAC, which takes four times as long as the MAC.
      derived.set(label, (key = createSecretKey(Buffer.from(bytes))));
    }
    return key;
  };

  const macOf = (label: KeyLabel, text: string): string =>
    createHmac("sha256", keyFor(label)).update(text).digest("base64url");
  const kept = new Map([...OFTEN].map((label) => [label, keepResults(MOST_KEPT, (text) => macOf(label, text))]));
  const decisionKey = createSecretKey(Buffer.from(hkdfSync("sha256", installationKey, "", "decision-cache/v1", 32)));

  return {
    decisionMac: (text) => createHmac("sha256", decisionKey).update(text).digest("hex"),
    mac: (label, text) => kept.get(label)?.(text) ?? macOf(label, text),
    seal(text, rowId) {
      const nonce = random(12);
      const cipher = createCipheriv("aes-256-gcm", keyFor("secrets"), nonce).setAAD(Buffer.from(rowId));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, rowId) {
      const bytes = Buffer.from(sealed, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", keyFor("secrets"), bytes.subarray(0, 12));
      decipher.setAAD(Buffer.from(rowId)).setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
    },
  };
}

/** Returns the hex SHA-256 under which a high-entropy secret is stored. */
export function sha256Hex(text: string): string {
  return hash("sha256", text);
}

/** Compares two texts in a time that does not depend on where they differ. */
export function sameText(one: string, other: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(one), digest(other));
}
