import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { type AuditNote, appendAudit, findBrokenAudit } from "../../src/core/store/audit.ts";
import { SCHEMA_WORDS } from "../../src/core/store/migrate.ts";
import { people } from "../../src/core/store/migrations/0022-baseline/people.ts";
import { sealing } from "../../src/core/store/migrations/0024-sealing.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { sealRecord } from "../../src/core/seal-record.ts";
import { verifyAudit } from "../../src/core/verify-audit.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const note = (action: string): AuditNote => ({ actor: { kind: "server", id: "parley" }, action });
const everything = { afterSeq: 0, limit: 1000 };

async function append(world: World, action: string): Promise<void> {
  await transact(world.server.ctx, (tx) => appendAudit(tx, note(action)));
}

async function sealAll(world: World): Promise<void> {
  while (await sealRecord(world.server.ctx));
}

async function actionsOf(world: World): Promise<unknown[]> {
  return (await readAudit(world.server.ctx, everything)).items.map(({ action }) => action);
}

async function broken(world: World): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  return findings.flatMap(({ check, offenders }) => offenders.map((offender) => `${check} ${offender}`));
}

/** Puts the table back as it was while entries were chained in the transaction of what they describe, and upgrades it. */
async function chainAtOnce(world: World): Promise<void> {
  const { db } = world.server.ctx;
  const words = SCHEMA_WORDS[world.on];
  const made = people(words).filter((text) => /CREATE (TABLE|INDEX) audit(_of_ask)?\b/.test(text));
  await db.transact(async (tx) => {
    await tx.all(raw("ALTER TABLE audit RENAME TO sealed"));
    for (const index of ["audit_by_seq", "audit_unsealed", "audit_of_ask", "audit_of_call"]) {
      await tx.all(raw(`DROP INDEX ${index}`));
    }
    for (const statement of made) await tx.all(raw(statement));
    await tx.all(raw("CREATE INDEX audit_of_call ON audit (call_id, action) WHERE call_id IS NOT NULL"));
    const columns = "seq, at, action, agent, ask_id, call_id, entry, data, prev, hash";
    await tx.all(raw(`INSERT INTO audit (${columns}) SELECT ${columns} FROM sealed`));
    await tx.all(raw("DROP TABLE sealed"));
    // Changes of later versions stay as they are; only this step is done again.
    for (const statement of sealing.statements(words)) await tx.all(raw(statement));
  });
}

for (const on of DATABASES) {
  describe(`the record on ${on}`, () => {
    it("keeps every entry of an older store as it was chained, and goes on from the last", async () => {
      await using world = await openWorld({ on });
      for (const action of ["one", "two", "three"]) await append(world, action);
      const before = await readAudit(world.server.ctx, everything);
      assert.ok(before.items.length >= 3);
      await chainAtOnce(world);
      await world.restart();
      assert.deepEqual(await readAudit(world.server.ctx, everything), before);
      await append(world, "four");
      const after = await readAudit(world.server.ctx, everything);
      assert.deepEqual(after.items.slice(0, -1), before.items);
      assert.deepEqual([after.items.at(-1)?.["action"], after.items.at(-1)?.["prev"]], ["four", before.head.hash]);
      assert.deepEqual(await broken(world), []);
    });

    it("has each entry once and unforked, however many seal it at once", async () => {
      await using world = await openWorld({ on });
      const others = on === "postgres" ? [await world.addNode(), await world.addNode()] : [];
      const nodes = [world, ...others].map(({ server }) => server.ctx);
      const actions = Array.from({ length: 120 }, (_, i) => `act-${i}`);
      const writing = Promise.all(
        actions.map((action, i) =>
          transact(nodes[i % nodes.length] ?? world.server.ctx, (tx) => appendAudit(tx, note(action))),
        ),
      );
      for (let round = 0; round < 10; round += 1) await Promise.all(nodes.map(sealRecord));
      await writing;
      await sealAll(world);
      const found = (await actionsOf(world)).filter((action) => String(action).startsWith("act-"));
      assert.deepEqual(found.toSorted(), actions.toSorted());
      const { entries, brokenAt, unsealed } = await verifyAudit(world.server.ctx);
      assert.deepEqual([entries, brokenAt, unsealed], [(await actionsOf(world)).length, null, 0]);
    });

    it("notices that its end was cut off, and an entry that was left out", async () => {
      await using world = await openWorld({ on });
      for (const action of ["one", "two"]) await append(world, action);
      const { head } = await readAudit(world.server.ctx, everything);
      await transact(world.server.ctx, (tx) => tx.all(sql`DELETE FROM audit WHERE seq = ${head.seq}`));
      assert.equal(await findBrokenAudit(world.server.ctx.db), head.seq);

      await using other = await openWorld({ on });
      await append(other, "first");
      await other.advance(6000);
      await append(other, "second");
      await sealAll(other);
      assert.deepEqual(await broken(other), []);
      await transact(other.server.ctx, (tx) =>
        tx.all(sql`UPDATE audit SET seq = NULL, prev = NULL, hash = NULL WHERE action = 'first'`),
      );
      const [id] = await other.server.ctx.db.all<{ id: number }>(sql`SELECT id FROM audit WHERE action = 'first'`);
      assert.ok((await broken(other)).includes(`X5 row ${id?.id}`));
    });
  });
}

/** A connection that keeps what it locks, as that of a server that stands still does while nobody ends it. */
async function openHolder(world: World): Promise<AsyncDisposable & { query(text: string): Promise<unknown> }> {
  const holder = new pg.Client({ connectionString: world.config.databaseUrl });
  await holder.connect();
  return { query: (text) => holder.query(text), [Symbol.asyncDispose]: () => holder.end() };
}

describe("the head of the record's chain", () => {
  it("is waited for by no act: calls, decisions and the rest commit, and readers are told what is missing", async () => {
    // The time for which the reader waits for the head.
    await using world = await openWorld({ on: "postgres", env: { PARLEY_DATABASE_WAIT_MS: "6000" } });
    const { ctx } = world.server;
    const ana = await enrol(ctx, "Ana");
    await sealAll(world);
    const before = (await readAudit(ctx, everything)).head.seq;
    await using holder = await openHolder(world);
    await holder.query("BEGIN");
    await holder.query("SELECT seq FROM audit_head WHERE id = 1 FOR UPDATE");
    const { id } = await askPeople(ctx, { audience: toPerson(ana) });
    await decideRequest(ctx, {
      requestId: id,
      responder: await responderOf(ctx.db, ana, "web"),
      decision: { kind: "approve" },
    });
    const meanwhile = await readAudit(ctx, { ...everything, subjectId: id });
    assert.deepEqual([meanwhile.items, meanwhile.head.seq, meanwhile.unsealed], [[], before, 2]);
    await holder.query("ROLLBACK");
    const after = await readAudit(ctx, { ...everything, subjectId: id });
    assert.deepEqual(
      after.items.map(({ action }) => action),
      ["function_call.created", "function_call.approved"],
    );
    assert.equal(after.unsealed, 0);
  });

  it("passes over what has not committed, which comes into the chain afterwards", async () => {
    await using world = await openWorld({ on: "postgres" });
    const { ctx } = world.server;
    const committed = Promise.withResolvers<undefined>();
    const appended = Promise.withResolvers<undefined>();
    const slow = transact(ctx, async (tx) => {
      await appendAudit(tx, note("slow"));
      appended.resolve(undefined);
      await committed.promise;
    });
    await appended.promise;
    await append(world, "quick");
    await sealAll(world);
    assert.deepEqual((await actionsOf(world)).slice(-1), ["quick"]);
    committed.resolve(undefined);
    await slow;
    assert.deepEqual((await actionsOf(world)).slice(-2), ["quick", "slow"]);
    assert.deepEqual(await broken(world), []);
  });
});
