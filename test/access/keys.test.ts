import assert from "node:assert/strict";
import { createECDH, createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { idMaker } from "../../src/lib/id.ts";
import { makeKeyText, readKeyText, SCOPES } from "../../src/lib/secrets/key-text.ts";
import { sha256Hex } from "../../src/lib/secrets/keyring.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { Refusal } from "../../src/refusals.ts";
import { openStore, type Store } from "../../src/core/store/open-store.ts";
import { sql } from "../../src/core/store/sql.ts";
import { addPerson, listPeople } from "../../src/access/add-person.ts";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { findKey } from "../../src/access/find-key.ts";
import { findSignedIn } from "../../src/access/find-signed-in.ts";
import { listKeys } from "../../src/access/list-keys.ts";
import { prepareFirstStart } from "../../src/server/prepare-first-start.ts";
import { OPERATOR } from "../support/identities.ts";
import { readVapidKey } from "../../src/notices/read-vapid-key.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { signIn } from "../../src/access/sign-in.ts";
import { signOut } from "../../src/access/sign-out.ts";
import { freshDatabase } from "../support/fresh-database.ts";

describe("the text of a key", () => {
  it("names its scope, holds 32 random characters, and ends with a checksum", () => {
    for (const scope of SCOPES) {
      const text = makeKeyText(scope, systemRandom);
      assert.match(text, new RegExp(`^parley_${scope}_[0-9A-Za-z]{38}$`));
      assert.deepEqual(readKeyText(text), { kind: "key", scope });
    }
  });

  it("tells a typing error from an unknown key and from no key at all", () => {
    const text = makeKeyText("agent", () => new Uint8Array(64).fill(7));
    for (let at = "parley_agent_".length; at < text.length; at += 1) {
      const mistyped = `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
      assert.deepEqual(readKeyText(mistyped), { kind: "mistyped" });
    }
    assert.deepEqual(readKeyText(text.slice(0, -1)), { kind: "mistyped" });
    assert.deepEqual(readKeyText(text.replace("agent", "admin")), { kind: "mistyped" });
    assert.deepEqual(readKeyText("parley_root_"), { kind: "mistyped" });
    assert.deepEqual(readKeyText("sk-something"), { kind: "no_key" });
  });
});

for (const on of ["sqlite", "postgres"] as const) {
  describe(`keys and people on ${on}`, () => {
    const dataDir = mkdtempSync(join(tmpdir(), "parley-keys-"));
    const clock: Clock = systemClock;
    let store: Store;
    let ctx: Pick<Store, "db" | "wake" | "keyring"> & {
      random: typeof systemRandom;
      newId: ReturnType<typeof idMaker>;
    };

    before(async () => {
      store = await openStore(
        {
          dataDir,
          keyFile: join(dataDir, "installation.key"),
          databaseUrl: on === "postgres" ? await freshDatabase() : undefined,
          databaseWaitMs: 60_000,
        },
        { clock, random: systemRandom, log: console, exclusive: true, onFatal: (error) => assert.fail(error) },
      );
      ctx = { ...store, random: systemRandom, newId: idMaker(systemRandom, () => Date.now()) };
    });
    after(async () => {
      await store.close();
      rmSync(dataDir, { recursive: true });
    });

    it("makes the operator and the first key together, or neither", async () => {
      const failing = { ...ctx, random: () => assert.fail("the power went") };
      await readVapidKey(ctx);
      await assert.rejects(prepareFirstStart(failing), /the power went/);
      assert.deepEqual(await listPeople(ctx), []);
    });

    it("begin with an operator and one key, printed once, however many servers start at once", async () => {
      const starts = await Promise.all([1, 2, 3].map(() => prepareFirstStart(ctx)));
      const keys = starts.map(({ agentKey }) => agentKey).filter((key) => key !== null);
      assert.equal(keys.length, 1);
      assert.equal((await findKey(ctx, keys[0] ?? ""))?.principal, "agent:first");
      assert.deepEqual(await listPeople(ctx), [{ id: OPERATOR, name: "operator", role: "admin" }]);
      assert.deepEqual(await prepareFirstStart(ctx), { agentKey: null });
    });

    it("are found by their text, share a principal by name and scope, and are stored only as hashes", async () => {
      const one = await createKey(ctx, { name: "ana-bot", scope: "agent" });
      const other = await createKey(ctx, { name: "ana-bot", scope: "agent", person: OPERATOR, selfRespond: true });
      assert.deepEqual(await findKey(ctx, one.text), {
        keyId: one.key.id,
        scope: "agent",
        name: "ana-bot",
        principal: "agent:ana-bot",
        person: null,
        selfRespond: false,
        channel: null,
        conversation: null,
        repos: null,
      });
      const found = await findKey(ctx, other.text);
      assert.deepEqual([found?.principal, found?.person, found?.selfRespond], ["agent:ana-bot", OPERATOR, true]);
      const stored = JSON.stringify(await store.db.all(sql`SELECT * FROM keys`));
      assert.ok(!stored.includes(one.text) && stored.includes(sha256Hex(one.text)));
      assert.equal(await findKey(ctx, makeKeyText("agent", systemRandom)), null);
      assert.equal(await findKey(ctx, ""), null);
    });

    it("are refused from the very next look once revoked, and once expired", async () => {
      const { text, key } = await createKey(ctx, { name: "cy-bot", scope: "agent" });
      await revokeKey(ctx, key.id);
      assert.equal(await findKey(ctx, text), null);
      const revokedAt = (await listKeys(ctx)).find(({ id }) => id === key.id)?.revokedAt;
      assert.equal((await revokeKey(ctx, key.id)).revokedAt, revokedAt);
      await assert.rejects(revokeKey(ctx, "key_unknown"), { code: "key_not_found" });

      const brief = await createKey(ctx, { name: "cy-bot", scope: "agent", expiresInMs: 60_000 });
      assert.equal((await findKey(ctx, brief.text))?.name, "cy-bot");
      await ctx.db.transact((tx) =>
        tx.all(sql`UPDATE keys SET expires_at = parley_now() WHERE key_id = ${brief.key.id}`),
      );
      assert.equal(await findKey(ctx, brief.text), null);
    });

    it("are not made for nobody, with an odd name, or with a right their scope cannot have", async () => {
      const refused = (input: Parameters<typeof createKey>[1], code: string) =>
        assert.rejects(createKey(ctx, input), (error) => error instanceof Refusal && error.code === code);
      await refused({ name: "x", scope: "answer", person: "mallory" }, "person_not_found");
      await refused({ name: "two words", scope: "agent" }, "invalid_input");
      await refused({ name: "", scope: "agent" }, "invalid_input");
      await refused({ name: "x", scope: "answer", selfRespond: true }, "invalid_input");
      for (const expiresInMs of [1, 59_999, 3660 * 86_400_000 + 1, Number.NaN])
        await refused({ name: "x", scope: "agent", expiresInMs }, "invalid_input");
    });

    it("sign a person in by a link that works once, within half an hour", async () => {
      const ana = await addPerson(ctx, { name: "Ana", role: "member" });
      const { code, expiresAt } = await createSignInLink(ctx, ana.id);
      assert.ok(Math.abs(expiresAt - Date.now() - 30 * 60_000) < 60_000);

      const tries = await Promise.allSettled([1, 2, 3].map(() => signIn(ctx, { code })));
      const good = tries.filter((one) => one.status === "fulfilled");
      assert.equal(good.length, 1);
      const { token, person } = good[0]?.value ?? assert.fail();
      assert.deepEqual(person, ana);
      assert.deepEqual(await findSignedIn(ctx, token), { person: ana });
      const stored = JSON.stringify([
        await store.db.all(sql`SELECT * FROM sign_ins`),
        await store.db.all(sql`SELECT * FROM sign_in_codes`),
      ]);
      assert.ok(!stored.includes(token) && !stored.includes(code));

      const late = await createSignInLink(ctx, ana.id);
      await store.db.transact((tx) =>
        tx.all(sql`UPDATE sign_in_codes SET expires_at = parley_now() WHERE hash = ${sha256Hex(late.code)}`),
      );
      await assert.rejects(signIn(ctx, { code: late.code }), { code: "sign_in_refused" });
      await assert.rejects(createSignInLink(ctx, "mallory"), { code: "person_not_found" });
    });

    it("keep a session 30 days after it was last seen, until it is ended or replaced", async () => {
      const bo = await addPerson(ctx, { name: "Bo", role: "member" });
      const enter = async (formerToken?: string) =>
        (await signIn(ctx, { code: (await createSignInLink(ctx, bo.id)).code, formerToken })).token;
      const seenBefore = (token: string, ms: number) =>
        store.db.transact((tx) =>
          tx.all(sql`UPDATE sign_ins SET seen_at = parley_now() - ${ms} WHERE hash = ${sha256Hex(token)}`),
        );
      const day = 86_400_000;

      const token = await enter();
      await seenBefore(token, 29 * day);
      assert.deepEqual(await findSignedIn(ctx, token), { person: bo });
      const [seen] = await store.db.all<{ ago: number }>(
        sql`SELECT parley_now() - seen_at AS ago FROM sign_ins WHERE hash = ${sha256Hex(token)}`,
      );
      assert.ok((seen?.ago ?? day) < 10_000);
      await seenBefore(token, 30 * day);
      assert.equal(await findSignedIn(ctx, token), null);

      const former = await enter();
      const next = await enter(former);
      assert.equal(await findSignedIn(ctx, former), null);
      await signOut(ctx, next);
      assert.equal(await findSignedIn(ctx, next), null);
    });

    it("count tries by address, ten an hour, refused ones too", async () => {
      for (let i = 0; i < 10; i += 1) {
        await assert.rejects(signIn(ctx, { code: "wrong", countedBy: "address" }), { code: "sign_in_refused" });
      }
      const { code } = await createSignInLink(ctx, OPERATOR);
      await assert.rejects(signIn(ctx, { code, countedBy: "address" }), { code: "rate_limited" });
      assert.ok(await signIn(ctx, { code, countedBy: "another" }));
    });

    it("have one pair of push keys, whose public half is a point on P-256", async () => {
      const key = await readVapidKey(ctx);
      const point = Buffer.from(key, "base64url");
      assert.deepEqual([point.length, point[0]], [65, 4]);
      createPublicKey({
        key: {
          kty: "EC",
          crv: "P-256",
          x: point.subarray(1, 33).toString("base64url"),
          y: point.subarray(33).toString("base64url"),
        },
        format: "jwk",
      });
      const own = createECDH("prime256v1");
      own.generateKeys();
      assert.equal(own.computeSecret(point).length, 32);
      assert.equal(await readVapidKey(ctx), key);
    });
  });
}
