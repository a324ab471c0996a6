import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sweep } from "../../src/server/loops/sweep.ts";
import type { Audience } from "../../src/requests/model/request.ts";
import type { Identity } from "../../src/access/model/identity.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { findBrokenAudit, type AuditEntry } from "../../src/core/store/audit.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { decideByLink } from "../../src/requests/links/open-link.ts";
import { addressMac } from "../../src/requests/decide/decision-origin.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { readReceipt } from "../../src/requests/read/read-receipt.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { verifyAudit } from "../../src/core/verify-audit.ts";
import { askPeople, enrol, leaf, providerOf, toPerson, until, type Provider } from "../support/addressed.ts";
import { parley } from "../support/program.ts";
import { ONE_DATABASE, openWorld, type DatabaseName, type World } from "../support/world.ts";

const BY = { kind: "server", id: "test" } as const;
const MAIL: Identity = { kind: "email", value: "carla.canary@people.example" };
const SLACK: Identity = { kind: "slack", value: "U0CANARY77" };
const PHONE: Identity = { kind: "phone", value: "+4930901820" };

type Name = "email" | "slack" | "sms" | "whatsapp";

interface Scene extends AsyncDisposable {
  world: World;
  sent: Readonly<Record<Name, Provider>>;
}

async function openScene(on: DatabaseName): Promise<Scene> {
  const sent = {
    email: providerOf("email"),
    slack: providerOf("slack"),
    sms: providerOf("sms"),
    whatsapp: providerOf("whatsapp"),
  };
  const world = await openWorld({ on, running: true, channels: Object.values(sent) });
  return { world, sent, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** The audience of an ask on each channel whose recipient nobody has enrolled. */
const AUDIENCES: Record<Name, Audience> = {
  email: leaf({ via: "email", to: MAIL.value, informed: false, settings: {} }),
  slack: leaf({ via: "slack", to: SLACK.value, settings: {} }),
  sms: leaf({ via: "sms", to: PHONE.value, settings: {} }),
  whatsapp: leaf({ via: "whatsapp", to: PHONE.value, settings: {} }),
};

/** Waits for the message about an ask, and approves by it as its provider would tell. */
async function approve({ world, sent }: Scene, requestId: string, name: Name, how: "reply" | "link"): Promise<string> {
  const { ctx } = world.server;
  const noticeOf = () => sent[name].sent.find(({ view }) => view.requestId === requestId);
  await until(async () => {
    return noticeOf() !== undefined && (await listDeliveries(ctx.db, requestId)).some(({ state }) => state === "sent");
  });
  const { delivery, link, code } = noticeOf() ?? assert.fail("nothing was sent");
  if (how === "link") {
    await decideByLink(ctx, link.split("/r/")[1] ?? "", { decision: { kind: "approve" }, code });
    return delivery;
  }
  const said = (sender: InboundMessage["sender"], more: Pick<InboundMessage, "content">): InboundMessage => ({
    provider: name,
    id: `heard ${delivery}`,
    at: 0,
    match: { delivery, ts: delivery },
    trust: "verified",
    sender,
    ...more,
  });
  const message = {
    email: () => said({ kind: "email", id: MAIL.value }, { content: { text: "approve" } }),
    slack: () =>
      said(
        { kind: "slack", id: SLACK.value, team: "T1", member: true, channel: "D1" },
        { content: { choice: { kind: "approve" } } },
      ),
    sms: () => said({ kind: "phone", id: PHONE.value }, { content: { text: `YES ${code}` } }),
    whatsapp: () => said({ kind: "phone", id: PHONE.value }, { content: { text: `YES ${code}` } }),
  }[name]();
  const result = await handleInbound(ctx, "http://parley.test", message);
  assert.equal(result.kind, "accepted", result.says);
  return delivery;
}

async function entriesOf(world: World, requestId: string, action: string): Promise<AuditEntry[]> {
  const { items } = await readAudit(world.server.ctx, { subjectId: requestId, action, afterSeq: 0, limit: 10 });
  return items;
}

const payloadOf = (jws: string) => JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString());

async function receiptOf({ server: { ctx } }: World, requestId: string): Promise<string> {
  return (await readReceipt(ctx, await readRequest(ctx, requestId), "http://parley.test")).jws;
}

/** Retention deletes everything that is over, at once. */
async function retain({ server: { ctx } }: World): Promise<void> {
  const kept = { ...ctx, addressed: { ...ctx.addressed, keptMs: 0 } };
  while (await sweep(kept));
}

/** Returns every table in which a text stands anywhere. */
async function tablesWith({ on, server: { ctx } }: World, text: string): Promise<string[]> {
  const names = await ctx.db.all<{ name: string }>(
    on === "sqlite"
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table'`
      : sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
  );
  const found: string[] = [];
  for (const { name } of names) {
    const rows = await ctx.db.all(raw(`SELECT * FROM ${name}`));
    if (JSON.stringify(rows).includes(text)) found.push(name);
  }
  return found;
}

const WAYS = [
  ["email", "reply", MAIL],
  ["email", "link", MAIL],
  ["slack", "reply", SLACK],
  ["sms", "reply", PHONE],
  ["sms", "link", PHONE],
  ["whatsapp", "reply", PHONE],
] as const;

for (const on of ONE_DATABASE) {
  describe(`who pressed, on ${on}`, () => {
    it("stays in the record and the receipt of whoever is not enrolled, and the address in no table", async () => {
      await using scene = await openScene(on);
      const { world } = scene;
      const { ctx } = world.server;
      const pressed: { requestId: string; delivery: string; name: Name; from: Identity; receipt: string }[] = [];
      for (const [name, how, from] of WAYS) {
        const { id: requestId } = await askPeople(ctx, { audience: AUDIENCES[name] });
        const delivery = await approve(scene, requestId, name, how);
        pressed.push({ requestId, delivery, name, from, receipt: await receiptOf(world, requestId) });
      }
      assert.notDeepEqual(await tablesWith(world, MAIL.value), []);

      await retain(world);
      for (const { requestId, delivery, name, from, receipt } of pressed) {
        await assert.rejects(readRequest(ctx, requestId), { code: "request_not_found" });
        const mac = addressMac(ctx, requestId, from);
        const [entry] = await entriesOf(world, requestId, "function_call.approved");
        const { kind } = from;
        assert.deepEqual(
          [entry?.["actor"], entry?.["via"], entry?.["delivery"], entry?.["address_mac"]],
          [{ kind: "address", id: kind }, name, delivery, mac],
        );
        const { decided } = payloadOf(receipt);
        assert.deepEqual(
          decided.map(({ at: _, shown: __, ...who }: Record<string, unknown>) => who),
          [{ kind: "address", id: kind, via: name, delivery, address_mac: mac }],
        );
      }
      const macs = pressed.map(({ requestId, from }) => addressMac(ctx, requestId, from));
      assert.equal(new Set(macs).size, macs.length, "decisions from one address look like each other");
      for (const { value } of [MAIL, SLACK, PHONE]) assert.deepEqual(await tablesWith(world, value), []);
      assert.equal((await verifyAudit(ctx)).brokenAt, null);
    });

    it("stays of everybody who had to agree, also once they are removed and forgotten", async () => {
      await using scene = await openScene(on);
      const { world } = scene;
      const { ctx } = world.server;
      const channel = (via: Name, { value: to }: Identity) =>
        ({ channel: via, target: { to, settings: {}, ...(via === "email" && { informed: false }) } }) as const;
      const carla = await enrol(ctx, "Carla", [channel("email", MAIL)], { identities: [MAIL] });
      const uwe = await enrol(ctx, "Uwe", [channel("slack", SLACK)], { identities: [SLACK] });
      const eve = await enrol(ctx, "Eve");
      const { id: requestId } = await askPeople(ctx, {
        audience: { kind: "all", of: [carla, uwe, eve].map(toPerson) },
      });
      const byMail = await approve(scene, requestId, "email", "reply");
      const bySlack = await approve(scene, requestId, "slack", "reply");
      await decideRequest(ctx, {
        requestId,
        responder: await responderOf(ctx.db, eve, "web"),
        decision: { kind: "approve" },
      });
      for (const person of [carla, uwe, eve]) await removeHuman(ctx, Number(person), BY);
      await retain(world);

      const counted = await entriesOf(world, requestId, "function_call.approval_counted");
      const [last] = await entriesOf(world, requestId, "function_call.approved");
      assert.deepEqual(
        [...counted, last].map((entry) => [
          (entry?.["actor"] as { id?: string } | undefined)?.id,
          entry?.["delivery"],
          entry?.["address_mac"],
        ]),
        [
          [carla, byMail, addressMac(ctx, requestId, MAIL)],
          [uwe, bySlack, addressMac(ctx, requestId, SLACK)],
          [eve, undefined, undefined],
        ],
      );
      for (const { value } of [MAIL, SLACK, PHONE]) assert.deepEqual(await tablesWith(world, value), []);
    });

    it("is part of the chain, which shows that it was changed", async () => {
      await using scene = await openScene(on);
      const { world } = scene;
      const { ctx } = world.server;
      const { id: requestId } = await askPeople(ctx, { audience: AUDIENCES.email });
      await approve(scene, requestId, "email", "reply");
      const [entry] = await entriesOf(world, requestId, "function_call.approved");
      const mac = addressMac(ctx, requestId, MAIL);
      const forged = addressMac(ctx, requestId, { kind: "email", value: "mallory@people.example" });
      assert.equal(await findBrokenAudit(ctx.db), undefined);
      await transact(ctx, (tx) =>
        tx.all(sql`UPDATE audit SET entry = replace(entry, ${mac}, ${forged}) WHERE seq = ${entry?.seq ?? 0}`),
      );
      assert.equal(await findBrokenAudit(ctx.db), entry?.seq);
    });

    it("is told by parley verify and parley record, to whoever already knows the address", async () => {
      await using scene = await openScene(on);
      const { world } = scene;
      const { ctx, url } = world.server;
      const folder = mkdtempSync(join(tmpdir(), "parley-pressed-"));
      const store = {
        PARLEY_DATA_DIR: world.config.dataDir,
        ...(on === "postgres" && { DATABASE_URL: world.config.databaseUrl ?? "" }),
      };
      const { id: requestId } = await askPeople(ctx, { audience: AUDIENCES.email });
      const delivery = await approve(scene, requestId, "email", "reply");
      const file = join(folder, "receipt.jws");
      writeFileSync(file, await receiptOf(world, requestId));
      await retain(world);
      const said = async (args: string[], env: Record<string, string>) => {
        const { code, out, err } = await parley(args, env);
        return { code, said: out + err };
      };

      const plain = await said(["verify", file], { PARLEY_URL: url });
      assert.equal(plain.code, 0, plain.said);
      assert.ok(
        plain.said.includes(`by somebody not enrolled, address email via email (message ${delivery})`),
        plain.said,
      );
      const isHers = await said(["verify", file, "--address", "Carla.Canary@people.example"], store);
      assert.equal(isHers.code, 0, isHers.said);
      const isOther = await said(["verify", file, "--address", "carla@people.example"], store);
      assert.deepEqual([isOther.code, isOther.said], [1, "No decision in it came from that address.\n"]);
      const elsewhere = { PARLEY_DATA_DIR: join(folder, "other") };
      await parley(["people", "add", "Bo"], elsewhere);
      const another = await said(["verify", file, "--address", MAIL.value], elsewhere);
      assert.deepEqual(
        [another.code, /names a key that is none of this machine's store/.test(another.said)],
        [1, true],
        another.said,
      );
      const nonsense = await said(["verify", file, "--address", "carla"], store);
      assert.deepEqual([nonsense.code, /--address takes/.test(nonsense.said)], [2, true]);

      const all = await said(["record", requestId], store);
      assert.equal(all.code, 0, all.said);
      assert.match(all.said, /function_call\.created/);
      assert.match(
        all.said,
        new RegExp(
          `function_call\\.approved\\s+somebody not enrolled, address email via email \\(message ${delivery}\\)`,
        ),
      );
      const hers = await parley(["record", requestId, "--address", MAIL.value, "--json"], store);
      assert.deepEqual([hers.code, JSON.parse(hers.out).delivery], [0, delivery], hers.err);
      const others = await said(["record", requestId, "--address", "+49 30 901820"], store);
      assert.deepEqual([others.code, others.said], [1, "Nothing about it was decided from that address.\n"]);
      const unknown = await said(["record", "ask_unknown"], store);
      assert.deepEqual([unknown.code, unknown.said], [1, "The record says nothing of it.\n"]);
      rmSync(folder, { recursive: true });
    });
  });
}

/** A receipt of version 0.1, before receipts named the message by which a person decided. */
const EARLIER = {
  keys: {
    keys: [
      {
        kty: "OKP",
        crv: "Ed25519",
        x: "2Kei1IRwLCOHROdz8yiUYpOULPv8So67BNrChzjf-h0",
        alg: "EdDSA",
        use: "sig",
        kid: "RX7ervx9JmP0WmXOYipr_jfp-Sd4TbU7y4BTfxJHIkc",
      },
    ],
  },
  jws: [
    "eyJhbGciOiJFZERTQSIsInR5cCI6InBhcmxleS1yZWNlaXB0K2p3cyIsImtpZCI6IlJYN2Vydng5Sm1QMFdtWE9ZaXByX2pmcC1TZDRUYlU3eTRCVGZ4SkhJa2MifQ",
    "eyJ2IjoxLCJpc3MiOiJodHRwczovL3BhcmxleS5leGFtcGxlIiwianRpIjoiYXNrXzViMGUiLCJkb29yIjoiYTJoIiwiY2FsbF9pZCI6ImNhbGxfMSIsImFnZW50Ijoic3VwcG9ydCIsImNvbnNlbnRfZGlnZXN0Ijoic2hhMjU2OmU2NGQiLCJvdXRjb21lIjoiYXBwcm92ZWQiLCJleHBpcmVkIjpmYWxzZSwiZGVjaWRlZCI6W3sia2luZCI6ImFkZHJlc3MiLCJpZCI6ImVtYWlsIiwidmlhIjoiZW1haWwiLCJhdCI6MTc5NTIyMDY1MTIxMCwic2hvd24iOiJzaGEyNTY6ZTY0ZCJ9XSwiYXNrZWRfYXQiOjE3OTUyMTkyMDAwMDAsInNldHRsZWRfYXQiOjE3OTUyMjA2NTEyMTB9",
    "P365CNYLyJZArSvm6CAtjglm5Tah4Zl46rK23XIym5ZkFxos0aHE_mDkoAd3sSZWR1mBPeWQdIlwUpoS-bc5Bg",
  ].join("."),
};

describe("a receipt of an earlier version", () => {
  it("verifies, and says who decided as far as it knows", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-earlier-"));
    const [keys, jws] = [join(folder, "keys.json"), join(folder, "receipt.jws")];
    writeFileSync(keys, JSON.stringify(EARLIER.keys));
    writeFileSync(jws, EARLIER.jws);
    const { code, out, err } = await parley(["verify", jws, "--keys", keys]);
    assert.equal(code, 0, err);
    assert.equal(
      out,
      "approved at 2026-11-21T00:24:11.210Z by somebody not enrolled, address email via email; sha256:e64d\n",
    );
    rmSync(folder, { recursive: true });
  });
});
