import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { first } from "../../src/core/store/db.ts";
import { sql } from "../../src/core/store/sql.ts";
import { assertCommonHeaders, assertInvalid, assertRefused, fresh, ROOMY, sharedWorld } from "../support/contract.ts";
import { ONE_DATABASE, type Person, type Reply } from "../support/world.ts";

const p256dh = createECDH("prime256v1").generateKeys().toString("base64url");
const auth = randomBytes(16).toString("base64url");
const browser = (endpoint: string) => ({ endpoint, keys: { p256dh, auth } });
const NOT_THERE = { code: "SUBSCRIPTION_NOT_FOUND", message: "The requested subscription does not exist." };
const fcmReceipt = (id: string) => ({
  subscription_id: id,
  status: "active",
  delivers: false,
  reason: "fcm_not_configured",
});

for (const on of ONE_DATABASE) {
  describe(`push subscriptions on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const bo = () => world().person(fresh("bo"));
    const subscribe = (person: Person, body: unknown) => person.post("/human/push/subscribe", body);
    const refresh = (person: Person, body: unknown) =>
      world().call("PUT", "/human/push/subscribe", { headers: person.headers, body });
    const unsubscribe = (id: string) => world().call("DELETE", `/human/push/subscribe/${id}`);
    const endpoint = () => `https://push.example.com/send/${fresh("endpoint")}`;
    const stored = (id: string) =>
      first<Record<string, unknown>>(
        world().server.ctx.db,
        sql`SELECT kind, address, min_interval_minutes, audience, quiet_hours, active FROM push_subscriptions
          WHERE subscription_id = ${id}`,
      );

    it("are taken from a browser, and delivered to", async () => {
      const reply = await subscribe(bo(), { subscription: browser(endpoint()) });
      assert.equal(reply.status, 201);
      assertCommonHeaders(reply);
      assert.match(reply.body.subscription_id, /^sub_[0-9A-Za-z]{22}$/);
      assert.deepEqual(reply.body, { subscription_id: reply.body.subscription_id, status: "active" });
    });

    it("are taken by token, and say so where the server cannot send to them", async () => {
      const reply = await subscribe(bo(), { fcm_token: "t".repeat(4096) });
      assert.deepEqual([reply.status, reply.body], [201, fcmReceipt(reply.body.subscription_id)]);
    });

    it("keep what they were told, or the usual", async () => {
      const address = endpoint();
      const quiet = { start: "22:00", end: "07:00", time_zone: "Europe/Berlin" };
      const told = await subscribe(bo(), {
        subscription: { ...browser(address), expirationTime: null, extra: 1 },
        min_interval_minutes: 1440,
        audience: ["ethics", "product"],
        quiet_hours: quiet,
      });
      assert.deepEqual(
        { ...(await stored(told.body.subscription_id)) },
        {
          kind: "web",
          address,
          min_interval_minutes: 1440,
          audience: '["ethics","product"]',
          quiet_hours: JSON.stringify(quiet),
          active: 1,
        },
      );
      const usual = await subscribe(bo(), { fcm_token: fresh("token"), audience: null, quiet_hours: null });
      const { min_interval_minutes, audience, quiet_hours } = (await stored(usual.body.subscription_id)) ?? {};
      assert.deepEqual([min_interval_minutes, audience, quiet_hours], [30, "[]", null]);
    });

    it("are updated under the same id by the same token or endpoint", async () => {
      const person = bo();
      for (const body of [{ subscription: browser(endpoint()) }, { fcm_token: fresh("token") }]) {
        const made = await subscribe(person, body);
        const again = await subscribe(person, { ...body, min_interval_minutes: 5 });
        assert.deepEqual([again.status, again.body], [200, made.body]);
        assert.equal((await stored(made.body.subscription_id))?.["min_interval_minutes"], 5);
        await unsubscribe(made.body.subscription_id);
        assert.equal((await stored(made.body.subscription_id))?.["active"], 0);
        assert.deepEqual(
          [(await subscribe(person, body)).status, (await stored(made.body.subscription_id))?.["active"]],
          [200, 1],
        );
      }
    });

    it("end by their id alone, and stay ended", async () => {
      const { body } = await subscribe(bo(), { fcm_token: fresh("token") });
      for (let i = 0; i < 2; i += 1) {
        const reply = await unsubscribe(body.subscription_id);
        assert.deepEqual([reply.status, reply.text], [204, ""]);
      }
      for (const id of ["sub_0000000000000000000000", "x", "%00", "sub_%27"])
        assertRefused(await unsubscribe(id), 404, NOT_THERE);
    });

    it("are refreshed by id, else the newest of that kind, else made", async () => {
      const person = bo();
      const made = await refresh(person, { fcm_token: fresh("token") });
      assert.deepEqual([made.status, made.body], [201, fcmReceipt(made.body.subscription_id)]);
      await world().advance(1000);
      const web = await subscribe(person, { subscription: browser(endpoint()) });
      await world().advance(1000);

      const token = fresh("token");
      const refreshed = await refresh(person, { fcm_token: token, min_interval_minutes: 60 });
      assert.deepEqual([refreshed.status, refreshed.body], [200, made.body]);
      const row = await stored(made.body.subscription_id);
      assert.deepEqual([row?.["address"], row?.["min_interval_minutes"]], [token, 60]);

      const newer = await subscribe(person, { fcm_token: fresh("token") });
      await world().advance(1000);
      assert.equal(
        (await refresh(person, { fcm_token: fresh("token") })).body.subscription_id,
        newer.body.subscription_id,
      );
      const named = await refresh(bo(), {
        fcm_token: fresh("token"),
        subscription_id: made.body.subscription_id,
      });
      assert.deepEqual([named.status, named.body.subscription_id], [200, made.body.subscription_id]);
      const address = endpoint();
      assert.equal(
        (await refresh(person, { subscription: browser(address) })).body.subscription_id,
        web.body.subscription_id,
      );
      assert.equal((await stored(web.body.subscription_id))?.["address"], address);

      const unknown = { fcm_token: fresh("token"), subscription_id: "sub_0000000000000000000000" };
      assertRefused(await refresh(person, unknown), 404, NOT_THERE);
      assertRefused(await refresh(person, { ...unknown, subscription_id: "\0" }), 404, NOT_THERE);
    });

    it("hold one row for one address, whoever comes with it", async () => {
      const address = endpoint();
      const first = await subscribe(bo(), { subscription: browser(address) });
      const second = await subscribe(bo(), { subscription: browser(address) });
      assert.deepEqual([second.status, second.body], [200, first.body]);
      const cy = bo();
      const other = await subscribe(cy, { subscription: browser(endpoint()) });
      const moved = await refresh(cy, { subscription: browser(address) });
      assert.deepEqual([moved.status, moved.body.subscription_id], [200, other.body.subscription_id]);
      assertRefused(await unsubscribe(first.body.subscription_id), 404, NOT_THERE);
    });

    it("are told the key to subscribe with, the same after a restart", async () => {
      const { status, body } = await world().call("GET", "/human/push/key");
      assert.deepEqual([status, Object.keys(body)], [200, ["vapid_public_key"]]);
      const point = Buffer.from(body.vapid_public_key, "base64url");
      assert.deepEqual([point.length, point[0]], [65, 4]);
      await world().restart();
      assert.deepEqual((await world().call("GET", "/human/push/key")).body, body);
    });

    it("are refused with one sentence for each thing that is wrong", async () => {
      const person = bo();
      const token = { fcm_token: "token" };
      const interval = { field: "min_interval_minutes", constraint: "range", min: 5, max: 1440 };
      const at = (name: string, constraint: string) => ({ field: `subscription.${name}`, constraint });
      const cases: [body: unknown, details: Record<string, unknown>][] = [
        [{}, { field: "fcm_token", constraint: "exactly_one" }],
        [
          { fcm_token: null, subscription: null },
          { field: "fcm_token", constraint: "exactly_one" },
        ],
        [
          { ...token, subscription: browser(endpoint()) },
          { field: "fcm_token", constraint: "exactly_one" },
        ],
        [{ fcm_token: "" }, { field: "fcm_token", constraint: "length", min: 1, max: 4096 }],
        [{ fcm_token: "t".repeat(4097) }, { field: "fcm_token", constraint: "length", min: 1, max: 4096 }],
        [{ fcm_token: 5 }, { field: "fcm_token", constraint: "type" }],
        [{ ...token, min_interval_minutes: 4 }, interval],
        [{ ...token, min_interval_minutes: 1441 }, interval],
        [
          { ...token, min_interval_minutes: "30" },
          { field: "min_interval_minutes", constraint: "type" },
        ],
        [
          { ...token, min_interval_minutes: true },
          { field: "min_interval_minutes", constraint: "type" },
        ],
        [
          { ...token, audience: "product" },
          { field: "audience", constraint: "type" },
        ],
        [
          { ...token, audience: ["vip"] },
          { field: "audience", constraint: "enum", allowed: ["technical", "product", "ethics", "creative", "general"] },
        ],
        [{ subscription: "https://push.example.com/x" }, { field: "subscription", constraint: "type" }],
        [{ subscription: [] }, { field: "subscription", constraint: "type" }],
        [{ subscription: { keys: { p256dh, auth } } }, at("endpoint", "required")],
        [{ subscription: { endpoint: 5, keys: { p256dh, auth } } }, at("endpoint", "type")],
        [
          { subscription: browser(`https://push.example.com/${"x".repeat(2048)}`) },
          { ...at("endpoint", "length"), min: 1, max: 2048 },
        ],
        [{ subscription: { endpoint: endpoint(), keys: { p256dh: "AAAA", auth } } }, at("keys.p256dh", "format")],
        [{ subscription: { endpoint: endpoint(), keys: { p256dh, auth: "AAAA" } } }, at("keys.auth", "format")],
        [
          { subscription: { endpoint: endpoint(), keys: { p256dh, auth: `${auth.slice(0, -2)}+/` } } },
          at("keys.auth", "format"),
        ],
      ];
      for (const [body, details] of cases) {
        for (const send of [subscribe, refresh]) {
          const reply = await send(person, body);
          assert.deepEqual(
            [JSON.stringify(body).slice(0, 80), reply.body.error?.details],
            [JSON.stringify(body).slice(0, 80), details],
          );
          assertInvalid(reply, null, details);
        }
      }
      for (const quiet_hours of [
        "22-07",
        { start: "22:00", end: "07:00" },
        { start: "24:00", end: "07:00", time_zone: "Europe/Berlin" },
        { start: "22:00", end: "7:00", time_zone: "Europe/Berlin" },
        { start: "22:00", end: "07:00", time_zone: "Mars/Phobos" },
      ]) {
        const { status, body } = await subscribe(person, { ...token, quiet_hours });
        assert.deepEqual([status, body.error.details.field], [400, "quiet_hours"], JSON.stringify(quiet_hours));
      }
    });

    it("lead to public addresses by https only", async () => {
      const refused = [
        "http://push.example.com/x",
        "ftp://push.example.com/x",
        "push.example.com/x",
        "https://",
        "https://localhost/x",
        "https://LOCALHOST./x",
        "https://a.localhost/x",
        "https://127.0.0.1/x",
        "https://127.1/x",
        "https://0x7f.1/x",
        "https://017700000001/x",
        "https://2130706433/x",
        "https://①②⑦.0.0.1/x",
        "https://0.0.0.0/x",
        "https://10.1.2.3/x",
        "https://172.16.0.1/x",
        "https://192.168.1.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/x",
        "https://224.0.0.1/x",
        "https://240.0.0.1/x",
        "https://255.255.255.255/x",
        "https://192.0.2.1/x",
        "https://198.18.0.1/x",
        "https://198.51.100.1/x",
        "https://203.0.113.1/x",
        "https://[::1]/x",
        "https://[::]/x",
        "https://[fe80::1]/x",
        "https://[fd00::1]/x",
        "https://[ff02::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://[64:ff9b::7f00:1]/x",
        "https://[64:ff9b::10.0.0.1]/x",
        "https://[2002:7f00:1::]/x",
        "https://[2001:db8::1]/x",
        "https://[2001:0:7f00:1::]/x",
        "https://metadata.google.internal/x",
        "https://push.example.com:8443/x",
        "https://user:pass@push.example.com/x",
        "https://push.example.com./x",
        "https://intranet/x",
      ];
      const PUBLIC = { field: "subscription.endpoint", constraint: "public_https" };
      for (const address of refused) {
        const { status, body } = await subscribe(bo(), { subscription: browser(address) });
        assert.deepEqual([address, status, body.error?.details], [address, 400, PUBLIC]);
      }
      for (const address of [
        "https://fcm.googleapis.com/fcm/send/abc:def",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
        "https://web.push.apple.com:443/QGu",
        "https://wns2-par02p.notify.windows.com/w/?token=x%3d",
        "https://8.8.8.8/x",
        "https://[2606:4700::1111]/x",
      ]) {
        const reply: Reply = await subscribe(bo(), { subscription: browser(address) });
        assert.equal(reply.status, 201, address);
      }
    });
  });
}
