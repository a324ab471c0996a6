import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import type { JSONWebKeySet } from "jose";
import { readTables } from "../../src/backup/store/tables.ts";
import { boundKeyOf, keepMessage } from "../../src/conversations/keep-message.ts";
import { cleanWords } from "../../src/requests/create/clean-words.ts";
import { findConversation } from "../../src/conversations/store/conversations.ts";
import { keepSecret } from "../../src/core/keep-secret.ts";
import { findSecret } from "../../src/core/store/sealed-secrets.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { callOf } from "../../src/asks/respond/put-to-people.ts";
import { findAsk } from "../../src/asks/store/asks.ts";
import { rotateInstallationKey } from "../../src/key-rotation/rotate-key.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { type Keyring, openKeyring } from "../../src/lib/secrets/keyring.ts";
import { openReceipt } from "../../src/lib/receipt.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { createEndpoint, readEndpoint, secretsOf } from "../../src/notices/webhook-endpoints.ts";
import { readVapidKey } from "../../src/notices/read-vapid-key.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { ROTATED, SIGNING_SECRET } from "../../src/requests/read/read-receipt.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readLink } from "../../src/requests/links/open-link.ts";
import { askPeople, enrol, providerOf, toPerson, until } from "../support/addressed.ts";
import { openJobs, pendingAsk } from "../support/jobs.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const BY = { kind: "server", id: "cli:ana" } as const;
const CALL = { fn: "deploy", kwargs: '{"to":"production"}' };
const ENTRY = { name: "desk", agent: "helper", about: null, slack: [], email: null, sms: false, whatsapp: false };

const keyOf = (world: World) => Buffer.from(readFileSync(world.config.keyFile, "utf8").trim(), "base64url");

async function rotate(world: World, clock: Clock = world.clock): ReturnType<typeof rotateInstallationKey> {
  await world.server.stop();
  const change = await rotateInstallationKey(world.config, { by: BY, clock, random: systemRandom });
  await world.restart();
  return change;
}

/** Returns every place of the database in which the key opens something. */
async function openedBy(world: World, keyring: Keyring): Promise<string[]> {
  const { db } = world.server.ctx;
  const found = new Set<string>();
  for (const { name } of await readTables(db)) {
    for (const row of await db.all<Record<string, unknown>>(raw(`SELECT * FROM "${name}"`))) {
      const ids = Object.values(row).flatMap((value) => [String(value), `conversation:${String(value)}`]);
      for (const [column, text] of Object.entries(row)) {
        const tokens = typeof text === "string" ? (text.match(/[\w-]{40,}/g) ?? []) : [];
        if (tokens.some((token) => ids.some((id) => opens(keyring, token, id)))) found.add(`${name}.${column}`);
      }
    }
  }
  return [...found].sort();
}

function opens(keyring: Keyring, token: string, id: string): boolean {
  try {
    keyring.open(token, id);
    return true;
  } catch {
    return false;
  }
}

for (const on of DATABASES) {
  describe(`another installation key on ${on}`, () => {
    it("opens all that the old one had sealed, which opens nothing any more", async () => {
      await using scene = await openJobs(on, { running: true });
      const { world } = scene;
      const old = openKeyring(keyOf(world), systemRandom);
      let { ctx } = world.server;
      const token = await keepSecret(ctx, "bot_token", "xoxb-one");
      const input = {
        url: "http://127.0.0.1:9/",
        format: "v1beta3",
        events: [],
        description: "",
        enabled: true,
      } as const;
      const { endpoint, secret } = await createEndpoint(ctx, "agent:helper", input, BY);
      const ana = await enrol(ctx, "Ana Ruiz");
      const words = { words: "Ship it?", raw: {} };
      const clean = await cleanWords(ctx, words, { person: ana, identities: [], requestId: null });
      const said = await transact(ctx, (tx) =>
        keepMessage(ctx, tx, {
          entry: { ...ENTRY, inbox: true, from: "people", responseSchema: null } as never,
          channel: "inbox",
          goesOnWith: null,
          thread: null,
          person: ana,
          opener: null,
          target: { via: "person", person: ana },
          cleanWords: clean,
          source: "one",
          via: "web",
        }),
      );
      const number = said?.conversation.number ?? assert.fail("nothing was kept");
      const conversation = async () => (await findConversation(ctx.db, number)) ?? assert.fail("no conversation");
      const bound = boundKeyOf(ctx, await conversation());
      const { id: job } = await scene.claimed();
      const ask = await pendingAsk(scene, job, scene.ana, { type: "APPROVAL", call: CALL });
      const vapid = await readVapidKey(ctx);
      await world.call("GET", "/.well-known/jwks.json");
      // The endpoint cannot be reached; its event was stored, sealed, before that was tried.
      const told = sql`SELECT 1 AS one FROM webhook_events WHERE body LIKE 'sealed:%'`;
      await until(async () => (await ctx.db.all(told)).length > 0);
      const places = [
        "asks.wire",
        "conversations.sealed_key",
        "sealed_secrets.sealed",
        "webhook_endpoints.secrets",
        "webhook_events.body",
      ];
      assert.deepEqual(await openedBy(world, old), places);

      const { sealed } = await rotate(world, systemClock);
      ctx = world.server.ctx;
      assert.deepEqual(await openedBy(world, old), []);
      assert.deepEqual(await openedBy(world, openKeyring(keyOf(world), systemRandom)), places);
      assert.equal(await findSecret(ctx.db, ctx.keyring, token), "xoxb-one");
      assert.deepEqual(secretsOf(ctx, await readEndpoint(ctx, endpoint.id, undefined)), [secret]);
      assert.equal(boundKeyOf(ctx, await conversation()), bound);
      assert.deepEqual(callOf(ctx, (await findAsk(ctx.db, ask)) ?? assert.fail("no ask")), CALL);
      assert.equal(await readVapidKey(ctx), vapid);
      // Keys of programs are not derived from it.
      assert.equal((await scene.ana.get(`/asks/${ask}`)).status, 200);
      const { items } = (await scene.admin.get("/humanlayer/v1/audit?action=installation_key.rotated")).body;
      assert.deepEqual([items.length, items[0].actor, items[0].data.sealed], [1, BY, sealed]);
    });

    it("leaves old receipts good, and signs the next by a new key", async () => {
      await using scene = await openJobs(on);
      const { world } = scene;
      const settle = async () => {
        const { ctx } = world.server;
        const ana = await enrol(ctx, "Ana Ruiz");
        const { id: requestId } = await askPeople(ctx, { asker: "open:ana-bot", audience: toPerson(ana) });
        const responder = await responderOf(ctx.db, ana, "web");
        await decideRequest(ctx, { requestId, responder, decision: { kind: "approve" } });
        return requestId;
      };
      const receiptOf = async (id: string) =>
        (await world.call("GET", `/receipts/${id}`, { headers: { "x-agent-id": "ana-bot" } })).text;
      const keys = async () => (await world.call("GET", "/.well-known/jwks.json")).body as JSONWebKeySet;
      const first = await settle();
      const [before, keysBefore] = [await receiptOf(first), await keys()];

      await rotate(world);
      const keysAfter = await keys();
      assert.equal(keysAfter.keys.length, 2);
      const { exp, ...retired } = keysAfter.keys[1] as { exp?: number };
      assert.deepEqual(retired, keysBefore.keys[0]);
      assert.ok(exp !== undefined && exp * 1000 >= world.clock.now());
      assert.equal((await openReceipt(before, keysAfter))?.jti, first);
      const after = await receiptOf(await settle());
      assert.ok(await openReceipt(after, keysAfter));
      assert.equal(await openReceipt(after, keysBefore), null);
      // The former signing key is kept without its private part.
      const { ctx } = world.server;
      const kept = JSON.parse((await findSecret(ctx.db, ctx.keyring, "receipts")) ?? "") as { d?: string }[];
      assert.deepEqual(
        kept.map(({ d }) => d !== undefined),
        [true, false],
      );
    });

    it("says until when a retired key signed that a former version kept without that, and else that it proves nothing", async () => {
      await using world = await openWorld({ on });
      const keys = async () => {
        const { body } = await world.call("GET", "/.well-known/jwks.json");
        return (body as { keys: { kid: string; exp?: number }[] }).keys;
      };
      await keys();
      const times: number[] = [];
      for (let i = 0; i < 2; i += 1) {
        await world.advance(3_600_000);
        await rotate(world);
        times.unshift(world.clock.now());
      }
      const timed = await keys();
      assert.deepEqual(
        timed.map(({ exp }) => exp),
        [undefined, ...times.map((ms) => Math.floor(ms / 1000) + 1)],
      );

      const { ctx } = world.server;
      const kept = JSON.parse((await findSecret(ctx.db, ctx.keyring, SIGNING_SECRET)) ?? "") as { exp?: number }[];
      for (const key of kept) delete key.exp;
      const sealed = ctx.keyring.seal(JSON.stringify(kept), SIGNING_SECRET);
      await transact(ctx, (tx) =>
        tx.all(sql`UPDATE sealed_secrets SET sealed = ${sealed} WHERE name = ${SIGNING_SECRET}`),
      );
      assert.deepEqual(await keys(), timed);
      await transact(ctx, (tx) => tx.all(sql`UPDATE audit SET action = 'forgotten' WHERE action = ${ROTATED}`));
      assert.deepEqual(
        (await keys()).map(({ exp }) => exp),
        [undefined, 1, 1],
      );
    });

    it("ends the links of messages that were sent, and later ones have new ones", async () => {
      const slack = providerOf("slack");
      await using scene = await openJobs(on, { channels: [slack] });
      const { world } = scene;
      let { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [{ channel: "slack", target: { to: "U0ANA" } }], {
        identities: [{ kind: "slack", value: "U0ANA" }],
      });
      await askPeople(ctx, { audience: toPerson(ana) });
      await until(async () => {
        await world.advance(500);
        return slack.sent.length === 1;
      });
      const delivery = slack.sent[0]?.delivery ?? assert.fail("nothing was sent");
      await until(
        async () => (await ctx.db.all(sql`SELECT 1 AS one FROM deliveries WHERE state = 'sent'`)).length === 1,
      );
      const { link } = tokensOf(ctx, delivery);
      assert.equal((await readLink(ctx, link)).delivery.id, delivery);

      const { messages } = await rotate(world);
      assert.equal(messages, 1);
      ctx = world.server.ctx;
      const isDead = (error: unknown) => error instanceof Refusal && error.code === "link_dead";
      await assert.rejects(readLink(ctx, link), isDead);
      assert.equal((await readLink(ctx, tokensOf(ctx, delivery).link)).delivery.id, delivery);
    });

    it("is refused while a server runs, which goes on with the one it has", async () => {
      await using scene = await openJobs(on);
      const { world } = scene;
      const before = keyOf(world);
      await assert.rejects(
        rotateInstallationKey(world.config, { by: BY, clock: world.clock, random: systemRandom }),
        on === "sqlite" ? /A Parley server is running on .*; stop it with parley stop/ : /stop every server, so that/,
      );
      assert.deepEqual(keyOf(world), before);
      await keepSecret(world.server.ctx, "bot_token", "xoxb-two");
      await world.restart();
    });
  });
}

it("knows every place of the program in which something is sealed", () => {
  const root = resolve(import.meta.dirname, "../..");
  const sealing = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => /\.seal\(/.test(readFileSync(resolve(root, path), "utf8")))
    .sort();
  // The first test above checks that the rows of each of these files are sealed anew. A new file that seals must be
  // added to it.
  assert.deepEqual(sealing, [
    "src/asks/create/post-ask.ts",
    "src/conversations/keep-message.ts",
    "src/core/store/open-store.ts",
    "src/core/store/sealed-secrets.ts",
    "src/key-rotation/rotate-key.ts",
    "src/notices/loops/tell-agents.ts",
    "src/notices/webhook-endpoints.ts",
  ]);
});
