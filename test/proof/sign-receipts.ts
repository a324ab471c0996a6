import { CompactSign, generateKeyPair, importJWK, type JSONWebKeySet, type JWK } from "jose";
import { canVerify, isSigned, payloadOf } from "../../sdk/src/receipts.ts";
import {
  makeSigningKey,
  openReceipt,
  publicPart,
  retiredPart,
  signReceipt,
  type Receipt,
} from "../../src/lib/receipt.ts";
import type { Dice } from "./sim-dice.ts";
import { otherText, type Scheme, type Shown } from "./sign-forge.ts";

/** Keys cost more to make than anything else here: each is used for a while. */
const MADE_PER_KEY = 40;

/** A receipt as a compact JWS, and the keys that the reader goes by. */
interface Kept {
  jws: string;
  keys: JSONWebKeySet;
}

interface Signer {
  key: JWK;
  former: JWK;
  foreign: JWK;
  made: number;
}

let signer: Signer | null = null;

/** Receipts (RFC 7515), as `parley verify` reads them and as the TypeScript SDK does: both must say the same. */
export const receipts: Scheme<Kept> = {
  name: "receipts",
  share: 100,
  async make(dice) {
    if (!signer || signer.made >= MADE_PER_KEY) {
      const [key, former, foreign] = await Promise.all([makeSigningKey(), makeSigningKey(), makeSigningKey()]);
      signer = { key, former, foreign, made: 0 };
    }
    signer.made += 1;
    const { key, former, foreign } = signer;
    const receipt = receiptOf(dice);
    const keys = { keys: dice.shuffle([publicPart(key), retiredPart(former, receipt.settled_at)]) };
    const jws = await signReceipt(receipt, dice.pick([key, former]));
    const later = { ...receipt, settled_at: receipt.settled_at + 1000 + dice.int(1e9) };
    const forgeries: [string, string][] = [
      ...(await resigned(jws, { key, foreign })),
      ["a retired key, of a later decision", await signReceipt(later, former)],
    ];
    return {
      form: { jws, keys },
      read: readBoth,
      forge: (one) => forge(one, { jws, keys }, forgeries),
    };
  },
};

async function readBoth({ jws, keys }: Kept): Promise<string | null> {
  const read = await openReceipt(jws, keys);
  const bySdk = (await canVerifyHere()) ? ((await isSigned(jws, keys as never)) ? payloadOf(jws) : null) : read;
  const [one, other] = [read, bySdk].map((receipt) => (receipt === null ? null : JSON.stringify(receipt)));
  // A receipt counts as accepted if only one of the two accepts it.
  return one === other ? (one ?? null) : `one reads ${one}, the other ${other}`;
}

let canHere: Promise<boolean> | undefined;
const canVerifyHere = (): Promise<boolean> => (canHere ??= canVerify());

/** Receipts that say more than the true one does, signed by whatever is not the server's key for it. */
async function resigned(jws: string, { key, foreign }: Pick<Signer, "key" | "foreign">): Promise<[string, string][]> {
  const [head = "", body = ""] = jws.split(".");
  const payload = Buffer.from(textOf(body).replace('"rejected"', '"approved"').replace('"jti":"', '"jti":"x'));
  const header = JSON.parse(textOf(head)) as { alg: "EdDSA"; kid: string };
  const eddsa = async (by: JWK, more: object) =>
    new CompactSign(payload).setProtectedHeader({ ...header, ...more }).sign(await importJWK(by, "EdDSA"));
  const mac = async (secret: string) =>
    new CompactSign(payload).setProtectedHeader({ ...header, alg: "HS256" }).sign(Buffer.from(secret));
  const { privateKey } = await generateKeyPair("ES256");
  const none = `${base64({ ...header, alg: "none" })}.${payload.toString("base64url")}.`;
  return [
    ["another key under the same id", await eddsa(foreign, {})],
    ["another key that the header brings", await eddsa(foreign, { jwk: publicPart(foreign) })],
    ["another key under its own id", await eddsa(foreign, { kid: foreign.kid })],
    ["another key without an id", await eddsa(foreign, { kid: undefined })],
    ["the public key as a secret", await mac(key.x ?? "")],
    ["the public key as a secret, as JSON", await mac(JSON.stringify(publicPart(key)))],
    [
      "another algorithm",
      await new CompactSign(payload).setProtectedHeader({ ...header, alg: "ES256" }).sign(privateKey),
    ],
    ["no algorithm", none],
    ["no algorithm, in capitals", none.replace(/^[^.]*/, base64({ ...header, alg: "NONE" }))],
  ];
}

function forge(dice: Dice, { jws, keys }: Kept, resignedOnes: readonly [string, string][]): Shown<Kept> {
  const parts = jws.split(".");
  const part = dice.int(3);
  const withPart = (text: string) => parts.map((one, i) => (i === part ? text : one)).join(".");
  const header = JSON.parse(textOf(parts[0] ?? "")) as object;
  const withHeader = (more: object) => [base64({ ...header, ...more }), ...parts.slice(1)].join(".");
  const [why, forged] = dice.pick(resignedOnes);
  const ways: [string, string, boolean?][] = [
    [`part ${part} differs`, withPart(otherText(dice, parts[part] ?? "")), true],
    [`part ${part} is missing`, parts.filter((_, i) => i !== part).join(".")],
    [`part ${part} is empty`, withPart("")],
    ["parts stand in another order", [parts[1], parts[0], parts[2]].join(".")],
    ["a part more", `${jws}.${parts[2]}`],
    ["five parts", `${jws}.${parts[1]}.${parts[2]}`],
    ["another header", withHeader(dice.pick([{ alg: "none" }, { alg: "HS256" }, { crit: ["exp"] }, { b64: false }]))],
    ["another type", withHeader({ typ: "JWT" })],
    ["said outside", withPart(`${parts[part]}\n`), true],
    [why, forged],
    [why, forged],
    [why, forged],
  ];
  const [says, text, mayMeanTheSame = false] = dice.pick(ways);
  if (dice.chance(0.05)) return { says: "no key is known", form: { jws, keys: { keys: [] } }, mayMeanTheSame: false };
  return { says, form: { jws: text, keys }, mayMeanTheSame };
}

function receiptOf(dice: Dice): Receipt {
  return {
    v: 1,
    iss: "https://parley.example.com",
    jti: `ask_${dice.int(1e9)}`,
    door: "a2h",
    call_id: dice.pick([null, `call-${dice.int(1e6)}`]),
    agent: "agent:ana-bot",
    consent_digest: `sha256:${Buffer.from(dice.bytes(32)).toString("hex")}`,
    outcome: dice.pick(["approved", "rejected"]),
    expired: false,
    decided: [{ kind: "person", id: String(dice.int(9)), via: "web", at: dice.int(1e9), shown: null }],
    asked_at: dice.int(1e9),
    settled_at: dice.int(1e9),
  };
}

const textOf = (base64url: string): string => Buffer.from(base64url, "base64url").toString("utf8");
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
