import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { makeSigningKey, publicPart, type Receipt, retiredPart, signReceipt } from "../../src/lib/receipt.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { parley } from "../support/program.ts";
import { openWorld, type World } from "../support/world.ts";

const NOWHERE = "http://127.0.0.1:9";
const KWARGS = { order: "A-1007", amount: 49.9 };

/** A page of a server that is not Parley. */
type Page = { status?: number; location?: string; text?: string };

describe("parley verify with a receipt's address", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-verify-"));
  let world: World;
  let adminKey = "";
  let ids: string[] = [];
  before(async () => {
    world = await openWorld({ on: "sqlite", running: true });
    const { ctx } = world.server;
    adminKey = (await createKey(ctx, { name: "boss", scope: "admin" })).text;
    const ana = await enrol(ctx, "Ana Ruiz");
    const responder = await responderOf(ctx.db, ana, "web");
    ids = [];
    for (const asker of ["open:default", "open:default", "open:another-bot"]) {
      const { id } = await askPeople(ctx, { asker, audience: toPerson(ana), kwargs: KWARGS });
      await decideRequest(ctx, { requestId: id, responder, decision: { kind: "approve" } });
      ids.push(id);
    }
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const addressOf = (n: number, server = world.url) => `${server}/receipts/${ids[n]}`;
  const textAt = async (path: string) => (await world.call("GET", path)).text;
  const verify = (words: string[], env: Record<string, string> = {}) =>
    parley(["verify", ...words], { PARLEY_URL: NOWHERE, ...env });

  /** Runs the command with the address of a receipt on a server that says what the test has it say. */
  async function verifyAt(pages: Readonly<Record<string, Page>>, env: Record<string, string> = {}) {
    const heard: IncomingHttpHeaders[] = [];
    const server = createServer((request, reply) => {
      heard.push(request.headers);
      const { status = 200, location, text = "" } = pages[request.url ?? ""] ?? { status: 404 };
      reply.writeHead(status, { connection: "close", ...(location !== undefined && { location }) }).end(text);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const done = await verify([addressOf(0, url)], env);
    await new Promise((resolve) => server.close(resolve));
    return { ...done, heard, url };
  }

  it("needs nothing else, and says who vouched for the key", async () => {
    const { code, out, err } = await verify([addressOf(0)]);
    assert.equal(code, 0, err);
    assert.match(out, /^approved at \S+ by person \d+ via web; sha256:\w{64}\n$/);
    assert.ok(err.startsWith(`Signed by a key of ${world.url}`), err);
    const kwargs = join(folder, "kwargs.json");
    const call = ["--fn", "issue_refund", "--kwargs", kwargs];
    writeFileSync(kwargs, JSON.stringify(KWARGS));
    assert.equal((await verify([addressOf(0), ...call])).code, 0);
    writeFileSync(kwargs, JSON.stringify({ ...KWARGS, amount: 4990 }));
    const other = await verify([addressOf(0), ...call]);
    assert.deepEqual([other.code, /digests differ/.test(other.err)], [1, true], other.err);
  });

  it("must be by one of those whom --by names", async () => {
    const number = /by person (\d+) /.exec((await verify([addressOf(0)])).out)?.[1] ?? "";
    for (const by of [number, `999,${number}`, "enrolled"]) {
      assert.equal((await verify([addressOf(0), "--by", by])).code, 0, by);
    }
    const other = await verify([addressOf(0), "--by", "999"]);
    assert.deepEqual([other.code, /not approved by whom it must be/.test(other.err)], [1, true], other.err);
    for (const wrong of ["ana", "3;7", "0", "3,", ""]) {
      assert.equal((await verify([addressOf(0), "--by", wrong])).code, 2, wrong);
    }
  });

  it("must be by somebody enrolled for --by enrolled, and says who is not", async () => {
    const { ctx } = world.server;
    const target = { via: "email", to: "eve@attacker.example", informed: false, settings: {} } as const;
    const { id } = await askPeople(ctx, { audience: { kind: "leaf", target } });
    const identities = [{ kind: "email", value: target.to }] as const;
    const responder = { via: "email", person: null, identities, seesAll: false } as const;
    await decideRequest(ctx, { requestId: id, responder, decision: { kind: "approve" } });
    const place = `${world.url}/receipts/${id}`;
    const env = { PARLEY_URL: world.url, PARLEY_KEY: adminKey };
    const said = await verify([place], env);
    assert.match(said.out, /^approved at \S+ by somebody not enrolled, address email via email;/, said.err);
    assert.equal((await verify([place, "--by", "enrolled"], env)).code, 1);
  });

  it("is asked of no server where receipt and keys are files", async () => {
    const [receipt, keys] = [join(folder, "receipt.jws"), join(folder, "keys.json")];
    writeFileSync(receipt, await textAt(`/receipts/${ids[0]}`));
    writeFileSync(keys, await textAt("/.well-known/jwks.json"));
    const { code, err } = await verify([receipt, "--keys", keys]);
    assert.deepEqual([code, err.startsWith(`Signed by a key of ${keys}`)], [0, true], err);
    assert.equal((await verify([addressOf(0), "--keys", keys])).code, 0);
  });

  it("shows the key in the environment to the environment's server alone", async () => {
    const refused = await verify([addressOf(2)], { PARLEY_KEY: adminKey });
    assert.equal(refused.code, 2);
    assert.match(refused.err, /no receipt at .*, or not for you: only who asked, who decided and an admin may read it/);
    assert.ok(refused.err.includes(`PARLEY_KEY goes only to the server of PARLEY_URL: set that to ${world.url}`));
    const read = await verify([addressOf(2)], { PARLEY_URL: `${world.url}/`, PARLEY_KEY: adminKey });
    assert.equal(read.code, 0, read.err);

    const stranger = await verifyAt({ [`/receipts/${ids[0]}`]: { status: 401 } }, { PARLEY_KEY: adminKey });
    assert.deepEqual([stranger.code, stranger.heard.length], [2, 1]);
    assert.equal(stranger.heard[0]?.authorization, undefined);
    assert.match(stranger.err, /wants to know who reads .*; PARLEY_KEY goes only to the server of PARLEY_URL/);
  });

  it("by a retired key is good as a file where the decision is older than its end", async () => {
    const own = await makeSigningKey();
    const keys = join(folder, "retired-jwks.json");
    writeFileSync(keys, JSON.stringify({ keys: [publicPart(await makeSigningKey()), retiredPart(own, 1000)] }));
    const receipt = JSON.parse(
      Buffer.from((await textAt(`/receipts/${ids[0]}`)).split(".")[1] ?? "", "base64url").toString(),
    ) as Receipt;
    for (const [settled_at, code] of [
      [1999, 0],
      [2000, 1],
    ] as const) {
      const file = join(folder, `retired-${settled_at}.jws`);
      writeFileSync(file, await signReceipt({ ...receipt, settled_at }, own));
      const done = await verify([file, "--keys", keys]);
      assert.equal(done.code, code, done.err);
    }
  });

  it("follows nobody who sends it on", async () => {
    const { code, err, url } = await verifyAt({ [`/receipts/${ids[0]}`]: { status: 302, location: addressOf(0) } });
    assert.equal(code, 2);
    assert.ok(err.includes(`${addressOf(0, url)} sends on to ${addressOf(0)}, which is not followed`), err);
  });

  it("says in a sentence what is wrong with what stands there", async () => {
    const receipt = await textAt(`/receipts/${ids[0]}`);
    const keys = { text: await textAt("/.well-known/jwks.json") };
    const [head = "", payload = "", signature = ""] = receipt.split(".");
    const said = JSON.parse(Buffer.from(payload, "base64url").toString()) as Receipt;
    const changed = Buffer.from(JSON.stringify({ ...said, settled_at: 0 })).toString("base64url");
    const own = await makeSigningKey();
    const retired = JSON.stringify({ keys: [retiredPart(own, 1000)] });
    const cases: [string, Page | undefined, number, RegExp][] = [
      [[head, changed, signature].join("."), keys, 1, /^The signature does not match/],
      [
        await signReceipt(said, own),
        keys,
        1,
        /^The text names a key that is none of http:\S+: \S{43}\. Another server/,
      ],
      [await textAt(`/receipts/${ids[1]}`), keys, 1, /^At that address stands the receipt of another request, ask_/],
      ["<!doctype html><title>Sign in</title>", keys, 1, /^This is no receipt/],
      ["", keys, 1, /^This is no receipt/],
      [
        await signReceipt({ ...said, settled_at: 2000 }, own),
        { text: retired },
        1,
        /^It names a retired key: \S{43}\./,
      ],
      [await signReceipt({ ...said, settled_at: 999 }, own), { text: retired }, 1, /^It names a retired key: \S{43}\./],
      [receipt, undefined, 2, /keys cannot be had at .*jwks\.json: it was answered with status 404/],
      [receipt, { text: "null" }, 2, /jwks\.json holds no JWK set/],
      [receipt, { text: JSON.stringify({ keys: [publicPart(own)] }) }, 1, /names a key that is none of/],
    ];
    for (const [text, known, code, says] of cases) {
      const pages = { [`/receipts/${ids[0]}`]: { text }, ...(known && { "/.well-known/jwks.json": known }) };
      const done = await verifyAt(pages);
      assert.equal(done.code, code, done.err);
      assert.match(done.err.replace("parley verify: ", ""), says);
      assert.equal(done.out, "");
    }
    const failing = await verifyAt({ [`/receipts/${ids[0]}`]: { status: 503 } });
    assert.deepEqual([failing.code, /answered with status 503, and no receipt/.test(failing.err)], [2, true]);
  });

  it("is refused at once for an address whose word could not be taken", async () => {
    for (const [address, says] of [
      ["http://parley.example/receipts/ask_1", /another computer by plain HTTP, .*: use https, or files/],
      ["http://10.0.0.7:3415/receipts/ask_1", /another computer by plain HTTP/],
      ["https://ana:secret@parley.example/receipts/ask_1", /parley\.example holds a name or password/],
      [`${world.url}/asks/ask_1`, /is not the address of a receipt, which ends in \/receipts\/ID/],
      [`${world.url}/receipts/`, /is not the address of a receipt/],
      ["https://", /is no address/],
      [`${NOWHERE}/receipts/ask_1`, /nothing answers at http:\/\/127\.0\.0\.1:9\/receipts\/ask_1/],
    ] as const) {
      const { code, out, err } = await verify([address]);
      assert.deepEqual([code, out], [2, ""], err);
      assert.match(err, says);
      assert.doesNotMatch(err, /secret/);
    }
    const keys = await verify([addressOf(0), "--keys", "http://parley.example/.well-known/jwks.json"]);
    assert.deepEqual([keys.code, /plain HTTP/.test(keys.err)], [2, true], keys.err);
  });
});
