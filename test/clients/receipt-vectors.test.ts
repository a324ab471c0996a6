import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, it } from "node:test";
import { ApprovalMismatch, Parley, ParleyError, type ParleyOptions } from "@parley/sdk";
import { consentDigest } from "../../sdk/src/consent.ts";
import { agentsOf } from "../../sdk/src/environment.ts";

interface Vector {
  name: string;
  passes?: boolean;
  fresh?: boolean;
  by?: "enrolled" | string[];
  signer?: "other";
  /** When the key was retired, in milliseconds from now. */
  retired?: number;
  header?: object;
  receipt?: object;
  reply?: object;
  text?: string;
}
type Vectors = { fn: string; args: object; id: string; agent: string; cases: Vector[] } & Record<
  "header" | "receipt" | "reply",
  Record<string, unknown>
>;

const VECTORS = JSON.parse(readFileSync(new URL("./receipt-vectors.json", import.meta.url), "utf8")) as Vectors;
const SERVER = generateKeyPairSync("ed25519");
const OTHER = generateKeyPairSync("ed25519");
const KEY = { ...SERVER.publicKey.export({ format: "jwk" }), kid: VECTORS.header["kid"] as string };
const KEYS = { keys: [KEY] };
const keysOf = ({ retired }: Vector) =>
  retired === undefined ? KEYS : { keys: [{ ...KEY, exp: Math.ceil((Date.now() + retired) / 1000) }] };

/** Returns the members that are not null, with the words for ids and digests filled in, and times made of now. */
function filled(members: object, words: Record<string, string>): Record<string, unknown> {
  const text = JSON.stringify(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)));
  const read = JSON.parse(text.replaceAll(/\$(ID|DIGEST|CHANGED)/g, (_, word: string) => words[word] ?? "")) as Record<
    string,
    unknown
  >;
  for (const at of ["asked_at", "settled_at"]) if (typeof read[at] === "number") read[at] += Date.now();
  return read;
}

function receiptOf(vector: Vector, words: Record<string, string>, key: KeyObject): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = encoded(filled({ ...VECTORS.header, ...vector.header }, words));
  const payload = encoded(filled({ ...VECTORS.receipt, ...vector.receipt }, words));
  const signature = sign(null, Buffer.from(`${head}.${payload}`), key).toString("base64url");
  const parts: Record<string, string> = { HEAD: head, PAYLOAD: payload, SIGNATURE: signature };
  return (vector.text ?? "$HEAD.$PAYLOAD.$SIGNATURE").replaceAll(/\$([A-Z]+)/g, (_, part: string) => parts[part] ?? "");
}

/** Somebody who stands between an agent and its server, and answers in the server's place. */
async function between(vector: Vector): Promise<typeof fetch> {
  const { fn, args } = VECTORS;
  const words: Record<string, string> = {
    ID: VECTORS.id,
    DIGEST: await consentDigest(fn, args),
    CHANGED: await consentDigest(fn, { ...args, to: "XX00" }),
  };
  const key = (vector.signer === "other" ? OTHER : SERVER).privateKey;
  return (input, init) => {
    if (String(input).includes("/receipts/")) return Promise.resolve(new Response(receiptOf(vector, words, key)));
    if (typeof init?.body === "string") words["ID"] = (JSON.parse(init.body) as { call_id: string }).call_id;
    const { call_id, editable, ...status } = filled({ ...VECTORS.reply, ...vector.reply }, words);
    const at = new Date().toISOString();
    const reply = {
      run_id: "sdk",
      call_id,
      spec: { fn, kwargs: args, editable },
      status: { requested_at: at, responded_at: at, ...status },
    };
    return Promise.resolve(Response.json(reply));
  };
}

describe("a receipt that an SDK is given", () => {
  const client = (fetch: typeof globalThis.fetch, options: ParleyOptions = {}) =>
    new Parley({ url: "http://127.0.0.1:9", agentId: VECTORS.agent, receiptKeys: KEYS, fetch, ...options });

  for (const vector of VECTORS.cases) {
    it(`${vector.name}: ${vector.passes ? "approves" : "approves nothing"}`, async () => {
      const parley = client(await between(vector), { receiptKeys: keysOf(vector) });
      const { fn, args, id } = VECTORS;
      const by = vector.by && { by: vector.by };
      const ways: (() => Promise<{ verified: boolean }>)[] = [
        () => parley.approve({ fn, args, ...by, ...(!vector.fresh && { idempotencyKey: id }) }),
      ];
      if (!vector.fresh) ways.push(() => parley.decision(id, by));
      for (const way of ways) {
        const end: unknown = await way().catch((error: unknown) => error);
        if (vector.passes) assert.equal((end as { verified?: boolean }).verified, true, String(end));
        else assert.ok(isRefusal(end), String(end));
      }
    });
  }

  it("is of the agent whose key it is, where that is told", async () => {
    const of = async (agent: string, options: ParleyOptions) =>
      client(await between({ name: "", receipt: { agent } }), options)
        .decision(VECTORS.id)
        .then(
          () => true,
          (error: unknown) => (isRefusal(error) ? false : Promise.reject(error as Error)),
        );
    const key = "parley_agent_x";
    assert.equal(await of("agent:shop", { key }), true);
    assert.equal(await of("open:shop", { key }), false);
    assert.equal(await of("agent:shop", { key, receiptAgent: "agent:shop" }), true);
    assert.equal(await of("agent:bank", { key, receiptAgent: "agent:shop" }), false);
    for (const client of [{ key }, { agentId: `shop:${key}` }, { agentId: key }, { url: "http://h/k/parley_agent_x/" }])
      assert.deepEqual(agentsOf({ url: "http://h", key: undefined, ...client }), ["agent:"]);
  });
});

function isRefusal(error: unknown): boolean {
  return error instanceof ApprovalMismatch || (error instanceof ParleyError && error.code === "BAD_REPLY");
}
