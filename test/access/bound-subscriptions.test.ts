import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { RENAMED_TABLES } from "../../src/core/store/migrations/0033-table-names.ts";
import { changeRole } from "../../src/access/change-role.ts";
import { createKey } from "../../src/access/create-key.ts";
import { endSessions } from "../../src/access/end-sessions.ts";
import { listKeys } from "../../src/access/store/keys.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { subscribePush } from "../../src/notices/subscribe-push.ts";
import { erasePerson } from "../../src/personal-data/erase-person.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { tellDevices } from "../../src/requests/create/tell-devices.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { DAY, fresh, ROOMY, until } from "../support/contract.ts";
import { namedPerson, tokenIn, byToken, type NamedPerson, type Shown } from "../support/identities.ts";
import { WITHOUT_36_TO_52 } from "../support/former-schema.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const keys = {
  p256dh: createECDH("prime256v1").generateKeys().toString("base64url"),
  auth: randomBytes(16).toString("base64url"),
};
const BY = { kind: "server", id: "test" } as const;

async function subscribe(world: World, shown: Shown, endpoint = fresh("endpoint")): Promise<string> {
  const subscription = { endpoint: `https://push.example.com/${endpoint}`, keys };
  const reply = await world.call("POST", "/human/push/subscribe", { headers: shown, body: { subscription } });
  assert.ok(reply.status === 201 || reply.status === 200, reply.text);
  return reply.body.subscription_id;
}

/** Returns the subscriptions that are notified of a request to the person now. */
async function toldOf(world: World, person: string): Promise<string[]> {
  const { ctx } = world.server;
  const ask = await askPeople(ctx, { audience: toPerson(person) });
  await transact(ctx, (tx) => tellDevices(tx, ask.id, ask.audience));
  const rows = await ctx.db.all<{ subscription_id: string }>(
    sql`SELECT subscription_id FROM notices WHERE ask_id = ${ask.id} ORDER BY subscription_id`,
  );
  return rows.map((row) => row.subscription_id);
}

async function isActive(world: World, id: string): Promise<boolean> {
  const [row] = await world.server.ctx.db.all<{ active: number }>(
    sql`SELECT active FROM push_subscriptions WHERE subscription_id = ${id}`,
  );
  return row?.active === 1;
}

async function offendersOf(world: World): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: true });
  return findings.find(({ check }) => check === "T8")?.offenders ?? assert.fail("no check");
}

/** Each way a session of Ana's ends; all but the role also end the session itself. */
const ENDS: Record<string, (world: World, ana: NamedPerson, session: Shown) => Promise<unknown>> = {
  "she signs out": (world, _, session) => world.call("DELETE", "/session", { headers: session }),
  "an admin ends her sessions": ({ server }, { id }) => endSessions(server.ctx, id, BY),
  "somebody signs in in its place": async (world, _, session) =>
    (await namedPerson(world, "Bo")).signIn({ ...session, origin: world.url }),
  "she is removed": ({ server }, { id }) => removeHuman(server.ctx, Number(id), BY),
  "she is erased": ({ server: { ctx } }, { id }) => erasePerson(ctx, id, { by: BY, dryRun: false }),
  "her role changes": ({ server }, { id }) => changeRole(server.ctx, { person: id, role: "admin" }, BY),
};

for (const on of DATABASES) {
  describe(`what a person subscribed to, on ${on}`, () => {
    for (const [name, end] of Object.entries(ENDS)) {
      it(`ends when ${name}, and no other's does`, async () => {
        await using world = await openWorld({ on, env: ROOMY });
        const [ana, cy] = [await namedPerson(world, "Ana"), await namedPerson(world, "Cy")];
        const session = await ana.signIn();
        const [hers, other] = [await subscribe(world, session), await subscribe(world, await cy.signIn())];
        assert.deepEqual(await toldOf(world, ana.id), [hers]);
        await end(world, ana, session);
        assert.equal(await isActive(world, hers), false);
        if (name !== "she is removed" && name !== "she is erased") assert.deepEqual(await toldOf(world, ana.id), []);
        assert.deepEqual(await toldOf(world, cy.id), [other]);
        assert.deepEqual(await offendersOf(world), []);
      });
    }

    it("ends 30 days after the session was last seen: at once for what is told, by the sweep for the row", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ana = await namedPerson(world, "Ana");
      const hers = await subscribe(world, await ana.signIn());
      await world.advance(30 * DAY);
      assert.deepEqual(await toldOf(world, ana.id), []);
      await until(async () => {
        await world.advance(60_000);
        return !(await isActive(world, hers));
      }, "swept");
    });

    it("ends with the key it was made by, revoked or expired, and not with a session", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const { ctx } = world.server;
      const ana = await namedPerson(world, "Ana");
      const expiring = await createKey(ctx, { name: "tablet", scope: "answer", person: ana.id, expiresInMs: DAY });
      const byKey = await subscribe(world, await ana.key());
      const byExpiring = await subscribe(world, { authorization: `Bearer ${expiring.text}` });
      await ana.signIn();
      await endSessions(ctx, ana.id, BY);
      assert.deepEqual(await toldOf(world, ana.id), [byKey, byExpiring].toSorted());
      await world.advance(DAY);
      assert.deepEqual(await toldOf(world, ana.id), [byKey]);
      for (const { id, name } of await listKeys(ctx.db)) if (name !== "tablet") await revokeKey(ctx, id, BY);
      assert.equal(await isActive(world, byKey), false);
      assert.deepEqual(await toldOf(world, ana.id), []);
      assert.deepEqual(await offendersOf(world), []);
    });

    it("stays while another session of the person ends", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ana = await namedPerson(world, "Ana");
      const [phone, laptop] = [await ana.signIn(), await ana.signIn()];
      const [onPhone, onLaptop] = [await subscribe(world, phone), await subscribe(world, laptop)];
      await world.call("DELETE", "/session", { headers: laptop });
      assert.deepEqual([await isActive(world, onPhone), await isActive(world, onLaptop)], [true, false]);
      assert.deepEqual(await toldOf(world, ana.id), [onPhone]);
    });

    it("is not told to whoever has the browser's subscription next, by address or by id", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ana = await namedPerson(world, "Ana");
      for (const way of ["address", "id"]) {
        const session = await ana.signIn();
        const endpoint = fresh("endpoint");
        const hers = await subscribe(world, session, endpoint);
        // Planned while it was hers, and due when it is not.
        const ask = await askPeople(world.server.ctx, { audience: toPerson(ana.id) });
        await transact(world.server.ctx, (tx) => tellDevices(tx, ask.id, ask.audience));
        await world.call("DELETE", "/session", { headers: session });
        const subscription = { endpoint: `https://push.example.com/${endpoint}`, keys };
        const taken = await world.call(way === "id" ? "PUT" : "POST", "/human/push/subscribe", {
          body: { subscription, ...(way === "id" && { subscription_id: hers }) },
        });
        assert.equal(taken.status, 200);
        assert.equal(await isActive(world, hers), true, "for questions of the crowd");
        assert.deepEqual(await toldOf(world, ana.id), []);
        const state = async () =>
          (await world.server.ctx.db.all<{ state: string }>(sql`SELECT state FROM notices WHERE ask_id = ${ask.id}`))[0]
            ?.state;
        await until(async () => {
          await world.advance(1000);
          return (await state()) === "dropped";
        }, "dropped");
        assert.deepEqual(await offendersOf(world), []);
      }
    });

    it("is not begun under a session that has just ended", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const { ctx } = world.server;
      const ana = await namedPerson(world, "Ana");
      const settings = { kind: "fcm", address: fresh("t"), keys: null, minIntervalMinutes: 30 } as const;
      const caller = { person: ana.id, network: "n" };
      for (const credential of [{}, { credential: "0".repeat(64) }]) {
        const begun = subscribePush(ctx, { ...caller, ...credential }, { ...settings, audience: [], quietHours: null });
        await assert.rejects(begun, { code: "key_required" });
      }
    });

    it("was ended where a store from before does not say by which session it was made", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ana = await namedPerson(world, "Ana");
      const hers = await subscribe(world, await ana.signIn());
      const recovered = await world.call("POST", "/human/recovery", { body: {} });
      const anonymous = byToken(tokenIn(recovered));
      const theirs = await subscribe(world, anonymous);
      await world.server.ctx.db.transact(async (tx) => {
        // This is the state that a former sign-in left: the participant's deeds counted as hers.
        await tx.all(sql`UPDATE participants SET person = ${ana.id} WHERE participant_id LIKE 'p!_%' ESCAPE '!'`);
        await tx.all(raw("DROP INDEX push_subscriptions_of_credential"));
        await tx.all(raw("ALTER TABLE push_subscriptions DROP COLUMN credential"));
        await tx.all(raw("DROP TABLE policy_servers"));
        await tx.all(raw("DROP TABLE leaderboard_names"));
        for (const statement of WITHOUT_36_TO_52) await tx.all(raw(statement));
        await tx.all(raw("DROP TABLE person_totals"));
        for (const [before, now] of RENAMED_TABLES) await tx.all(raw(`ALTER TABLE ${now} RENAME TO ${before}`));
        await tx.all(raw("DELETE FROM migrations WHERE number >= 31"));
      });
      await world.restart();
      assert.deepEqual([await isActive(world, hers), await isActive(world, theirs)], [false, true]);
      assert.deepEqual(await toldOf(world, ana.id), []);
      const redeemed = await world.call("POST", "/human/recovery/redeem", { body: { code: recovered.body.code } });
      assert.equal(redeemed.status, 404);
      assert.deepEqual(await offendersOf(world), []);
    });

    it("is found by the doctor where its session or key is gone", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ana = await namedPerson(world, "Ana");
      const [gone, unbound, expired] = [
        await subscribe(world, await ana.signIn()),
        await subscribe(world, await ana.signIn()),
        await subscribe(world, await ana.signIn()),
      ];
      await subscribe(world, await ana.key());
      await subscribe(world, {});
      const set = (id: string, credential: string | null) =>
        world.server.ctx.db.transact((tx) =>
          tx.all(sql`UPDATE push_subscriptions SET credential = ${credential} WHERE subscription_id = ${id}`),
        );
      await set(gone, "0".repeat(64));
      await set(unbound, null);
      await world.server.ctx.db.transact((tx) =>
        tx.all(sql`UPDATE sign_ins SET seen_at = seen_at - ${31 * DAY} WHERE hash =
          (SELECT credential FROM push_subscriptions WHERE subscription_id = ${expired})`),
      );
      assert.deepEqual((await offendersOf(world)).toSorted(), [gone, unbound, expired].toSorted());
    });
  });
}
