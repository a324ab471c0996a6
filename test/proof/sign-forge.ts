import type { Dice } from "./sim-dice.ts";

/** A proof of identity. It has another form for each way of signing. */
export interface Shown<Form> {
  /** The change that was made to the true proof, in a few words. */
  says: string;
  form: Form;
  /**
   * True where it may be believed as long as it says what the true one said, such as headers in another order; what is
   * false must be refused, whatever it says.
   */
  mayMeanTheSame: boolean;
}

/** One true proof, signed by its rightful signer. */
export interface Signed<Form> {
  form: Form;
  /** Returns what the server takes it to say, as a text that holds all that counts; null where it is refused. */
  read(form: Form): Promise<string | null> | string | null;
  /** Returns one forgery that is made of the true one. */
  forge(dice: Dice): Shown<Form>;
}

/** A way of signing: what makes true things, each time another. */
export interface Scheme<Form = unknown> {
  name: string;
  /** How many of a thousand forgeries are of this scheme. */
  share: number;
  make(dice: Dice): Promise<Signed<Form>>;
}

const ALIKE: Readonly<Record<string, string>> = { a: "а", e: "е", o: "о", p: "р", c: "с", "0": "O", "1": "l", l: "1" };

/** Returns bytes that differ from these in one place: flipped, left out, put in, cut off, or twice there. */
export function otherBytes(dice: Dice, bytes: Buffer): Buffer {
  const at = dice.int(Math.max(1, bytes.length));
  const changed = dice.pick([
    () => flipped(dice, bytes),
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
    () => Buffer.concat([bytes.subarray(0, at), Buffer.from(dice.bytes(1)), bytes.subarray(at)]),
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes, bytes.subarray(at)]),
    () => Buffer.concat([bytes, Buffer.from(dice.pick(["\0", " ", "\n", "\r\n", "}", "&a=b"]))]),
  ])();
  return changed.equals(bytes) ? flipped(dice, Buffer.concat([bytes, Buffer.from(" ")])) : changed;
}

function flipped(dice: Dice, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = dice.int(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << dice.int(8));
  return copy;
}

/** Returns a text that differs from this one, as somebody who tries things would write it. */
export function otherText(dice: Dice, text: string): string {
  const at = dice.int(Math.max(1, text.length));
  const char = text.charAt(at);
  const next = dice.pick([..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/="]);
  const changed = dice.pick([
    () => text.slice(0, at) + next + text.slice(at + 1),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + next + text.slice(at),
    () => text.slice(0, at) + text.charAt(at + 1) + char + text.slice(at + 2),
    () => text.slice(0, at),
    () => text + dice.pick(["=", "==", ".", "\0", " ", "A", ",", ";", "%00", "\u200b"]),
    () => dice.pick([" ", "\t", "\0", ".", "\ufeff"]) + text,
    () => text.slice(0, at) + (ALIKE[char] ?? "\u0301") + text.slice(at + 1),
    () =>
      text.slice(0, at) + (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()) + text.slice(at + 1),
    () => text.toUpperCase(),
    () => text + text,
    () => [...text].reverse().join(""),
    () =>
      text.slice(0, at) +
      encodeURIComponent(char).replace(/^(.)$/, (c) => `%${c.charCodeAt(0).toString(16)}`) +
      text.slice(at + 1),
    () => "",
  ])();
  return changed === text ? `${text}x` : changed;
}

/** Returns another key that somebody might try: none, a part of it, one bit off, the key twice, its text encoded. */
export function otherSecret(dice: Dice, secret: string): string {
  return dice.pick([
    "",
    secret.slice(0, -1),
    secret.slice(1),
    flipped(dice, Buffer.from(secret)).toString("latin1"),
    secret + secret,
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("hex"),
    "undefined",
    "null",
  ]);
}
