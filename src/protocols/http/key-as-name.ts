import { beginsAsKey } from "../../lib/secrets/key-text.ts";
import { Refusal } from "../../refusals.ts";

/**
 * A name or an id that a client chose is stored and shown to others. One that begins as a key does is a credential in
 * the wrong place, and gets no further (spec/security 3).
 *
 * @throws {Refusal} `key_required`
 */
export function refuseKeyAsName(...texts: readonly unknown[]): void {
  if (texts.some((text) => typeof text === "string" && beginsAsKey(text.trim()))) throw new Refusal("key_required");
}
