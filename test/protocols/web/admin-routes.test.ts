import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { sql } from "../../../src/core/store/sql.ts";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { OPERATOR } from "../../support/identities.ts";
import { SCOPES } from "../../../src/lib/secrets/key-text.ts";
import { openSink, type Sink } from "../../channels/mail.ts";
import { fresh, HOUR, until } from "../../support/contract.ts";
import { namedPerson, type Shown } from "../../support/identities.ts";
import { openPushService } from "../../support/push-service.ts";
import { ONE_DATABASE, openWorld, type Reply, type World } from "../../support/world.ts";

/** Every administrative address; what an admin gets is not of interest here. */
const ROUTES: readonly [method: string, path: string, body?: unknown][] = [
  ["GET", "/admin/people"],
  ["PATCH", "/admin/people/nobody", { role: "member" }],
  ["POST", "/admin/people/nobody/sign_in_link"],
  ["DELETE", "/admin/people/nobody/sessions"],
  ["GET", "/admin/keys"],
  ["POST", "/admin/keys", { name: "x", scope: "agent", person: "nobody" }],
  ["DELETE", "/admin/keys/nobody"],
  ["GET", "/admin/activity"],
  ["GET", "/admin/activity/hours"],
  ["GET", "/admin/agents"],
  ["GET", "/admin/channels"],
  ["POST", "/admin/channel_tests", { channel: "push", person: "nobody" }],
  ["GET", "/admin/channel_tests/nobody"],
  ["GET", "/admin/health"],
  ["GET", "/admin/stuck"],
  ["GET", "/admin/asking_agents"],
  ["POST", "/admin/requests/nobody/remind"],
  ["GET", "/admin/audit/chain"],
  ["GET", "/admin/policy"],
  ["POST", "/admin/policy/test", { action: "write" }],
  ["POST", "/admin/policy/suggest", { since_s: 60 }],
  ["GET", "/admin/policy/file"],
  ["POST", "/admin/policy/file/preview", { from: "", do: "remove", place: 0, since_s: 60 }],
  ["POST", "/admin/policy/file", { from: "", do: "remove", place: 0, shown: "" }],
  ["POST", "/admin/policy/reload"],
  ["POST", "/admin/policy/proposals/nobody/accept"],
  ["POST", "/admin/policy/proposals/nobody/dismiss"],
  ["DELETE", "/admin/policy/rules/nobody"],
  ["DELETE", "/admin/policy/grants/nobody"],
  ["GET", "/admin/asks"],
  ["GET", "/admin/asks/nobody"],
  ["GET", "/admin/jobs"],
  ["GET", "/admin/jobs/nobody"],
  ["GET", "/admin/jobs/nobody/asks"],
  ["GET", "/admin/jobs/nobody/events"],
  ["GET", "/admin/decisions"],
  ["DELETE", "/admin/decisions?role=nobody"],
  ["DELETE", "/admin/decisions/nobody"],
];

/** The A2H routes that an admin's session opens, too. */
const A2H_ROUTES: readonly [method: string, path: string, body?: unknown][] = [
  ["GET", "/humans?view=admin"],
  ["POST", "/humans", {}],
  ["PATCH", "/humans/999", {}],
  ["DELETE", "/humans/999"],
  ["GET", "/audit"],
  ["GET", "/webhook_endpoints"],
  ["POST", "/webhook_endpoints/nobody/test"],
];

const said = ({ status, body }: Reply): [number, unknown] => [status, body.error?.code];

for (const on of ONE_DATABASE) {
  describe(`administration on ${on}`, () => {
    let mail: Sink;
    let world: World;
    let admin: Shown;
    before(async () => {
      mail = await openSink();
      world = await openWorld({
        on,
        env: { PARLEY_EMAIL_SMTP_URL: mail.url, PARLEY_EMAIL_FROM: "Parley <parley@parley.example>" },
      });
      admin = await signIn(OPERATOR);
    });
    after(async () => {
      await world?.[Symbol.asyncDispose]();
      await mail?.[Symbol.asyncDispose]();
    });

    const call = (method: string, path: string, headers: Shown, body?: unknown) =>
      world.call(method, path, { headers, ...(body !== undefined && { body }) });
    const asAdmin = (method: string, path: string, body?: unknown) => call(method, path, admin, body);

    async function signIn(person: string): Promise<Shown> {
      const { code } = await createSignInLink(world.server.ctx, person);
      const reply = await world.call("POST", "/session", { body: { code } });
      const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      return { cookie, "sec-fetch-site": "same-origin" };
    }

    async function bearer(scope: (typeof SCOPES)[number], person?: string): Promise<Shown> {
      const { text } = await createKey(world.server.ctx, { name: fresh(scope), scope, person });
      return { authorization: `Bearer ${text}` };
    }

    /** Lets the server's loops look until something holds. */
    async function settle<T>(look: () => Promise<T | undefined | false>): Promise<T> {
      return until(async () => {
        await world.advance(1000);
        return look();
      });
    }

    it("is for admins alone: by their session, or by an admin key", async () => {
      const bo = await namedPerson(world, "Bo Lind");
      const member = await bo.signIn();
      const keys = await Promise.all(
        SCOPES.map(async (scope) => [scope, await bearer(scope, scope === "answer" ? OPERATOR : undefined)] as const),
      );
      const a2h = A2H_ROUTES.map(([method, path, body]) => [method, `/humanlayer/v1${path}`, body] as const);
      for (const [method, path, body] of [...ROUTES, ...a2h]) {
        const about = `${method} ${path}`;
        const allowed = [200, 201, 204, 400, 404, 409, 422];
        assert.ok(allowed.includes((await asAdmin(method, path, body)).status), `${about}: an admin's session`);
        for (const [scope, shown] of keys) {
          const { status } = await call(method, path, shown, body);
          const mayAgents = path.startsWith("/humanlayer/v1/webhook") && scope === "agent";
          if (scope === "admin" || mayAgents) assert.ok(allowed.includes(status), `${about}: ${scope} ${status}`);
          else assert.equal(status, 403, `${about}: ${scope}`);
        }
        assert.equal((await call(method, path, member, body)).status, 403, `${about}: a member`);
        const wrong = { ...admin, authorization: "Bearer parley_admin_wrong" };
        assert.equal((await call(method, path, wrong, body)).status, 401, `${about}: a wrong key beside a session`);
        if (path.startsWith("/admin"))
          assert.equal((await call(method, path, {}, body)).status, 401, `${about}: nobody`);
        else assert.equal((await call(method, path, {}, body)).status, 403, `${about}: nobody, in open mode`);
        if (method === "GET") continue;
        const elsewhere: Shown[] = [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, {}];
        const { cookie = "" } = admin;
        for (const from of elsewhere) {
          assert.equal((await call(method, path, { cookie, ...from }, body)).status, 403, `${about}: from elsewhere`);
        }
        const foreign = { ...admin, origin: "https://evil.example" };
        assert.equal((await call(method, path, foreign, body)).status, 403, `${about}: from a foreign page`);
      }
    });

    it("lists people, changes their role, and lets in whom it makes a link for", async () => {
      const ana = await namedPerson(world, fresh("Ana"));
      const found = async () => {
        const { people } = (await asAdmin("GET", "/admin/people")).body;
        return people.find(({ id }: { id: string }) => id === ana.id);
      };
      const { role, sessions, operator } = await found();
      assert.deepEqual([role, sessions, operator], ["member", 0, false]);

      const link = await asAdmin("POST", `/admin/people/${ana.id}/sign_in_link`);
      assert.equal(link.status, 201);
      assert.match(link.body.url, /^http:\/\/127\.0\.0\.1:\d+\/inbox#start=[\w-]{43}$/);
      const signedIn = await world.call("POST", "/session", { body: { code: link.body.url.split("=")[1] } });
      assert.equal(signedIn.body.person.id, ana.id);
      assert.equal((await found()).sessions, 1);

      const own = await bearer("admin", ana.id);
      assert.equal((await asAdmin("PATCH", `/admin/people/${ana.id}`, { role: "admin" })).body.role, "admin");
      assert.match((await asAdmin("POST", `/admin/people/${ana.id}/sign_in_link`)).body.url, /\/console#start=/);
      const session = await signIn(ana.id);
      assert.equal((await call("GET", "/admin/people", session)).status, 200);
      assert.equal((await call("GET", "/admin/people", own)).status, 200);
      assert.equal((await asAdmin("PATCH", `/admin/people/${ana.id}`, { role: "member" })).body.role, "member");
      assert.equal((await call("GET", "/admin/people", session)).status, 403);
      assert.equal((await call("GET", "/admin/people", own)).status, 401, "a former admin's admin keys end");

      assert.equal((await asAdmin("DELETE", `/admin/people/${ana.id}/sessions`)).status, 204);
      assert.equal((await call("GET", "/session", session)).status, 401);
      assert.equal((await found()).sessions, 0);

      assert.deepEqual(said(await asAdmin("PATCH", `/admin/people/${OPERATOR}`, { role: "member" })), [
        400,
        "VALIDATION_ERROR",
      ]);
      assert.deepEqual(said(await asAdmin("PATCH", "/admin/people/x.y", { role: "member" })), [404, "NOT_FOUND"]);
      assert.deepEqual(said(await asAdmin("PATCH", `/admin/people/${ana.id}`, {})), [400, "VALIDATION_ERROR"]);
      const { items } = (await asAdmin("GET", "/humanlayer/v1/audit?action=human.sign_in_link_created&limit=1000"))
        .body;
      assert.deepEqual(items.at(-1).actor, { kind: "human", id: OPERATOR });
      assert.deepEqual(items.at(-1).data, { person: ana.id });
    });

    it("makes keys whose text is shown once, says when they were used, and revokes them", async () => {
      const ana = await namedPerson(world, fresh("Ana"));
      const input = { name: fresh("phone"), scope: "answer", person: ana.id, expires_in_seconds: 3600 };
      const made = await asAdmin("POST", "/admin/keys", input);
      const { key, ...printed } = made.body;
      assert.equal(made.status, 201);
      assert.match(key, /^parley_answer_\w{38}$/);
      const listed = async () => {
        const { body, text } = await asAdmin("GET", "/admin/keys");
        assert.ok(!text.includes(key), "no key's text can be had again");
        return body.keys.find(({ id }: { id: string }) => id === printed.id);
      };
      assert.deepEqual(await listed(), printed);
      assert.deepEqual([printed.last_used_at, printed.revoked_at, printed.self_respond], [null, null, false]);
      assert.equal(Date.parse(printed.expires_at) - Date.parse(printed.created_at), HOUR);

      const shown = { authorization: `Bearer ${key}` };
      await world.advance(60_000);
      const used = new Date(world.clock.now()).toISOString();
      assert.equal((await call("GET", "/people/me/asks", shown)).status, 200);
      assert.equal((await listed()).last_used_at, used);
      await world.advance(60_000);
      await call("GET", "/people/me/asks", shown);
      assert.equal((await listed()).last_used_at, used, "once an hour is often enough");

      assert.notEqual((await asAdmin("DELETE", `/admin/keys/${printed.id}`)).body.revoked_at, null);
      assert.equal((await call("GET", "/people/me/asks", shown)).status, 401);
      const { items } = (await asAdmin("GET", "/humanlayer/v1/audit?limit=1000")).body;
      const about = items.filter(({ data }: { data?: { key?: string } }) => data?.key === printed.id);
      assert.deepEqual(
        about.map(({ action }: { action: string }) => action),
        ["key.created", "key.deleted"],
      );
      for (const [body, status] of [
        [{ ...input, person: "nobody" }, 404],
        [{ ...input, scope: "everything" }, 400],
        [{ ...input, name: "two words" }, 400],
        [{ ...input, self_respond: true }, 400],
        [{ ...input, expires_in_seconds: 1 }, 400],
        [{ ...input, repos: ["shop"] }, 400],
        [{ ...input, scope: "assign", repos: "shop" }, 400],
        [{ ...input, scope: "assign", repos: ["../shop"] }, 400],
      ] as const)
        assert.equal((await asAdmin("POST", "/admin/keys", body)).status, status, JSON.stringify(body));
      const kept = await asAdmin("POST", "/admin/keys", { name: "cards", scope: "assign", repos: ["shop", "shop"] });
      assert.deepEqual([kept.status, kept.body.repos, printed.repos], [201, ["shop"], null]);
      assert.deepEqual(said(await asAdmin("DELETE", "/admin/keys/key_unknown")), [404, "NOT_FOUND"]);
    });

    it("tries a channel there and back, and says what the provider said", async () => {
      const enrol = async (address: string) => {
        const input = { name: fresh("Ana"), prioritizedContactChannels: [{ email: { address } }, { inbox: {} }] };
        const reply = await asAdmin("POST", "/humanlayer/v1/humans", input);
        assert.equal(reply.status, 201, reply.text);
        return reply.body.id as string;
      };
      const stateOf = async () => {
        const { channels } = (await asAdmin("GET", "/admin/channels")).body;
        return channels.find(({ channel }: { channel: string }) => channel === "email");
      };
      const noFailure = { failed_at: null, failed: 0, failing_since: null, error: null, retrying: 0 };
      const nothing = { channel: "email", configured: true, sent_at: null, ...noFailure };
      assert.deepEqual(await stateOf(), nothing);

      const ana = await enrol("ana@people.example");
      const begun = await asAdmin("POST", "/admin/channel_tests", { channel: "email", person: ana });
      assert.equal(begun.status, 202, begun.text);
      const test = async (id = begun.body.id) => (await asAdmin("GET", `/admin/channel_tests/${id}`)).body;
      const sent = await settle(async () => (await test()).state === "sent" && test());
      assert.deepEqual(sent, { ...begun.body, state: "sent", attempts: 1 });
      assert.deepEqual(mail.taken[0]?.to, ["ana@people.example"]);
      assert.match(mail.taken[0]?.mail.subject ?? "", /Test message/);
      assert.notEqual((await stateOf()).sent_at, null);

      const answered = await call("POST", `/people/me/asks/${begun.body.id}/decision`, await signIn(ana), {
        option: "arrived",
      });
      assert.equal(answered.status, 200, answered.text);
      assert.deepEqual(await test(), { ...sent, state: "answered", via: "web" });

      // A message that was sent before the failure tells nothing of it, when its request ends afterwards.
      const early = (await asAdmin("POST", "/admin/channel_tests", { channel: "email", person: ana })).body;
      await settle(async () => (await test(early.id)).state === "sent" && true);
      const gone = await enrol("gone@people.example");
      const failing = (await asAdmin("POST", "/admin/channel_tests", { channel: "email", person: gone })).body;
      const failed = await settle(async () => (await test(failing.id)).state === "failed" && test(failing.id));
      assert.deepEqual([failed.error, failed.attempts], ["550", 1]);
      const state = await stateOf();
      assert.deepEqual([state.error, state.failed, state.failing_since], ["550", 1, state.failed_at]);
      await call("POST", `/people/me/asks/${early.id}/decision`, await signIn(ana), { option: "arrived" });
      const closed = sql`SELECT 1 AS one FROM deliveries WHERE ask_id = ${early.id} AND state = 'closed'`;
      await settle(async () => (await world.server.ctx.db.all(closed)).length > 0 && true);
      assert.deepEqual(await stateOf(), state);

      const busy = await enrol("busy@people.example");
      const later = (await asAdmin("POST", "/admin/channel_tests", { channel: "email", person: busy })).body;
      const retrying = await settle(async () => (await test(later.id)).state === "retrying" && test(later.id));
      assert.equal(retrying.error, "451");
      const { error: last, retrying: again } = await stateOf();
      assert.deepEqual([last, again], ["451", 1], "the last error may be of a message that is tried again");

      const bo = await namedPerson(world, fresh("Bo"));
      for (const [body, status] of [
        [{ channel: "email", person: bo.id }, 400],
        [{ channel: "slack", person: ana }, 400],
        [{ channel: "pigeon" }, 400],
        [{ channel: "push", person: "nobody" }, 404],
      ] as const)
        assert.equal((await asAdmin("POST", "/admin/channel_tests", body)).status, status, JSON.stringify(body));
      const toNobody = await call("POST", "/admin/channel_tests", await bearer("admin"), { channel: "push" });
      assert.equal(toNobody.status, 400, "a key is nobody to send to");
      const noDevice = (await asAdmin("POST", "/admin/channel_tests", { channel: "push" })).body;
      assert.deepEqual([noDevice.state, noDevice.error], ["failed", "no device"]);
      assert.equal((await asAdmin("GET", "/admin/channel_tests/ask_unknown")).status, 404);
    });

    it("tries notifications on the devices of whoever asks for it", async () => {
      await using service = await openPushService(
        async () => (await world.call("GET", "/human/push/key")).body.vapid_public_key,
      );
      const { endpoint, keys } = service.subscribe();
      const elsewhere = endpoint.replace(service.origin, "https://push.example.com");
      const subscription = { endpoint: elsewhere, keys };
      const phone = await signIn(OPERATOR);
      const subscribed = await call("POST", "/human/push/subscribe", phone, { subscription });
      assert.equal(subscribed.status, 201, subscribed.text);
      // A push service of this machine, which no browser can name.
      const { subscription_id: id } = subscribed.body;
      await world.server.ctx.db.transact((tx) =>
        tx.all(sql`UPDATE push_subscriptions SET address = ${endpoint} WHERE subscription_id = ${id}`),
      );
      const begun = (await call("POST", "/admin/channel_tests", phone, { channel: "push" })).body;
      const test = async () => (await asAdmin("GET", `/admin/channel_tests/${begun.id}`)).body;
      await settle(async () => (await test()).state === "sent");
      assert.deepEqual(
        service.pushed.map(({ payload }) => payload.notification.data.url),
        [`/inbox/${begun.id}`],
      );
      await call("POST", `/people/me/asks/${begun.id}/decision`, phone, { text: "Here it is." });
      assert.deepEqual([(await test()).state, (await test()).via], ["answered", "web"]);
      const { channels } = (await asAdmin("GET", "/admin/channels")).body;
      const push = channels.find(({ channel }: { channel: string }) => channel === "push");
      assert.deepEqual([push.configured, push.sent_at === null, push.retrying], [true, false, 0]);
    });

    it("tells the record from the newest backwards, and notices where it was changed", async () => {
      const { ctx } = world.server;
      for (let i = 0; i < 3; i += 1) await asAdmin("POST", "/admin/keys", { name: fresh("k"), scope: "agent" });
      const page = (await asAdmin("GET", "/humanlayer/v1/audit?before_seq=999999999999999&limit=2")).body;
      const seqs = page.items.map(({ seq }: { seq: number }) => seq);
      assert.deepEqual([seqs, page.has_more], [[page.head.seq, page.head.seq - 1], true]);
      const older = (await asAdmin("GET", `/humanlayer/v1/audit?before_seq=${seqs[1]}&limit=1`)).body;
      assert.equal(older.items[0].seq, page.head.seq - 2);
      assert.equal((await asAdmin("GET", "/humanlayer/v1/audit?before_seq=x")).status, 422);

      const whole = { holds: true, entries: page.head.seq, broken_at: null, unsealed: 0 };
      assert.deepEqual((await asAdmin("GET", "/admin/audit/chain")).body, whole);
      const { holds, quick, findings } = (await asAdmin("GET", "/admin/health?full=true")).body;
      assert.deepEqual([holds, quick], [true, false], JSON.stringify(findings));
      await ctx.db.transact((tx) =>
        tx.all(sql`UPDATE audit SET entry = replace(entry, 'key', 'kez') WHERE seq = ${seqs[1]}`),
      );
      const broken = { holds: false, entries: page.head.seq, broken_at: seqs[1], unsealed: 0 };
      assert.deepEqual((await asAdmin("GET", "/admin/audit/chain")).body, broken);
      const found = (await asAdmin("GET", "/admin/health?full=true")).body;
      const offenders = found.findings.filter((one: { offenders: string[] }) => one.offenders.length > 0);
      assert.deepEqual([found.holds, offenders[0].check, offenders[0].offenders], [false, "J1", [`entry ${seqs[1]}`]]);
      assert.equal((await asAdmin("GET", "/admin/health")).body.quick, true);
      await ctx.db.transact((tx) =>
        tx.all(sql`UPDATE audit SET entry = replace(entry, 'kez', 'key') WHERE seq = ${seqs[1]}`),
      );
    });

    it("is told in the inbox, once, when a webhook was disabled", async () => {
      const agent = createServer((request, response) =>
        request.resume().on("end", () => response.writeHead(410).end()),
      );
      agent.listen(0, "127.0.0.1");
      await once(agent, "listening");
      try {
        const url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/hooks`;
        const input = { agent: "support", url, format: "v1beta2" };
        const { id } = (await asAdmin("POST", "/humanlayer/v1/webhook_endpoints", input)).body;
        for (let i = 0; i < 3; i += 1) await asAdmin("POST", `/humanlayer/v1/webhook_endpoints/${id}/test`);
        const read = async () => (await asAdmin("GET", `/humanlayer/v1/webhook_endpoints/${id}`)).body;
        await settle(async () => (await read()).enabled === false);
        await settle(async () => {
          const { items } = (await asAdmin("GET", `/humanlayer/v1/webhook_endpoints/${id}/deliveries`)).body;
          return items.some(({ error }: { error?: string }) => error === "status 410");
        });
        const mine = async () => {
          const { asks } = (await asAdmin("GET", "/people/me/asks")).body;
          return asks.filter(({ title }: { title: string }) => title === "A webhook of support is disabled");
        };
        const [notice, ...others] = await mine();
        assert.deepEqual([notice.agent, notice.kind, others.length], ["parley", "reply", 0]);
        const seen = await asAdmin("POST", `/people/me/asks/${notice.id}/decision`, { option: "seen" });
        assert.equal(seen.status, 200, seen.text);
        assert.deepEqual(await mine(), []);
        await asAdmin("PATCH", `/humanlayer/v1/webhook_endpoints/${id}`, { enabled: true });
        await settle(async () => (await read()).enabled === false);
        assert.equal((await mine()).length, 1, "told again, since it was enabled between");
      } finally {
        agent.close();
      }
    });
  });
}
