import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readRequest, readDetails } from "../../src/requests/read/read-request.ts";
import { sealRecord } from "../../src/core/seal-record.ts";
import { askPeople, enrol, leaf, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld, type DatabaseName, type World } from "../support/world.ts";

/** A store with requests that were approved by two, rejected, cancelled, expired, and one that is open. */
async function lived(on: DatabaseName): Promise<World> {
  const world = await openWorld({ on });
  const { ctx } = world.server;
  const [ana, bo] = [await enrol(ctx, "Ana"), await enrol(ctx, "Bo")];
  const decide = async (requestId: string, person: string, kind: "approve" | "reject") =>
    decideRequest(ctx, { requestId, responder: await responderOf(ctx.db, person, "web"), decision: { kind } });

  const both = await askPeople(ctx, { audience: { kind: "all", of: [toPerson(ana), toPerson(bo)] } });
  await decide(both.id, ana, "approve");
  await decide(both.id, bo, "approve");
  const rejected = await askPeople(ctx, { audience: toPerson(ana) });
  await decide(rejected.id, ana, "reject");
  const withdrawn = await askPeople(ctx, { audience: toPerson(ana) });
  await cancelRequest(ctx, withdrawn.id, { kind: "agent", id: "agent:ana-bot" });
  const late = await askPeople(ctx, { audience: toPerson(ana), timeoutSeconds: 60 });
  await world.advance(60_000);
  await readRequest(ctx, late.id);
  await askPeople(ctx, { audience: leaf({ via: "email", to: "bo@example.com", informed: false, settings: {} }) });
  return world;
}

async function broken(world: World): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  return findings.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
}

const APPROVED = sql`(SELECT min(ask_id) FROM requests WHERE outcome LIKE '%"approved":true%')`;

const LEAVES = ["ana", "bo", "cy"]
  .map((person) => `{"is":"leaf","target":{"via":"person","person":"${person}"}}`)
  .join();

/** A corruption that no server writes to a store, and the rule that it breaks. */
const CORRUPTIONS: readonly [what: string, check: string, statement: Sql][] = [
  [
    "a key stands in place of a name",
    "K1",
    sql`UPDATE requests SET asker = 'open:parley_agent_x' WHERE ask_id = ${APPROVED}`,
  ],
  [
    "a key stands inside of a name",
    "K1",
    sql`UPDATE requests SET asker = 'open:ana/parley_admin_x' WHERE ask_id = ${APPROVED}`,
  ],
  [
    "a call stands for a plan that is not there",
    "A17",
    sql`UPDATE requests SET plan = 'ask_gone', plan_ord = 1 WHERE ask_id = ${APPROVED}`,
  ],
  ["an approval is lost", "A10", sql`DELETE FROM decisions WHERE ask_id = ${APPROVED} AND ord = 1`],
  [
    "an approval was of something else",
    "A10",
    sql`UPDATE requests SET digest = 'sha256:00' WHERE ask_id = ${APPROVED}`,
  ],
  [
    "a rejection is turned round",
    "A10",
    sql`UPDATE requests SET outcome = replace(outcome, '"approved":false', '"approved":true')
      WHERE state = 'answered' AND outcome LIKE '%"approved":false%'`,
  ],
  [
    "somebody else is asked afterwards",
    "A10",
    sql`UPDATE requests SET audience = '{"is":"leaf","target":{"via":"person","person":"mallory"}}'
      WHERE ask_id = ${APPROVED}`,
  ],
  [
    "whoever an escalation added stood for those who had to agree",
    "A10",
    // The form that former versions stored. Ana and Bo had to agree; Ana, who was added by the escalation, was enough.
    sql`UPDATE requests SET
      audience = '{"kind":"any","of":[{"afterMs":0,"node":{"kind":"quorum","min":3,"of":[' || ${LEAVES} || ']}},
        {"afterMs":0,"node":{"kind":"leaf","target":{"via":"inbox"}}},{"afterMs":0,"node":' || audience || '}]}',
      wire = '{"spec":"{\\"escalation\\":[{\\"after_seconds\\":0},{\\"after_seconds\\":0}]}"}'
      WHERE ask_id = ${APPROVED}`,
  ],
  ["an end is not in the record", "A3", sql`DELETE FROM audit WHERE action = 'function_call.cancelled'`],
  ["the record was rewritten", "J1", sql`UPDATE audit SET entry = replace(entry, 'rejected', 'approved')`],
  ["a deadline was forgotten", "T1", sql`UPDATE requests SET created_at = 1, expires_at = 2 WHERE state = 'open'`],
  [
    "a message about what is over waits to be sent",
    "N1",
    sql`UPDATE deliveries SET state = 'sent', ask_id = ${APPROVED}`,
  ],
];

for (const on of DATABASES) {
  describe(`parley doctor on requests to people, on ${on}`, () => {
    it("finds nothing in a store that was used, and everything that was done to it", async () => {
      await using world = await lived(on);
      assert.deepEqual(await broken(world), []);
      while (await sealRecord(world.server.ctx));

      for (const [what, check, statement] of CORRUPTIONS) {
        const undone = new Error("undone");
        // The corruption is checked inside a transaction that is rolled back.
        await assert.rejects(
          transact(world.server.ctx, async (tx) => {
            await tx.all(statement);
            const findings = await examineRows(tx, false);
            const found = findings.filter(({ offenders }) => offenders.length > 0).map((finding) => finding.check);
            assert.ok(found.includes(check), `${what}: found ${found.join()}`);
            throw undone;
          }),
          (error) => error === undone || assert.fail(error as Error),
        );
      }
      assert.deepEqual(await broken(world), []);
    });

    it("finds approvals by a message whose token stands in words that agents can read", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const to = "ana@people.example";
      const ana = await enrol(ctx, "Ana", [], { identities: [{ kind: "email", value: to }] });
      const audience = leaf({ via: "email", to, informed: false, settings: {} });
      const approved = await askPeople(ctx, { audience, ref: "approved" });
      const other = await askPeople(ctx, { audience: toPerson(ana), ref: "other" });
      const { deliveries } = await readDetails(ctx, approved);
      const id = deliveries[0]?.id ?? assert.fail("no message was planned");
      const { link, reply } = tokensOf(ctx, id);
      const responder = await responderOf(ctx.db, ana, "email");
      await decideRequest(ctx, { requestId: approved.id, responder, decision: { kind: "approve" } });
      assert.deepEqual(await broken(world), []);

      const page = `https://parley.example/r/${link}`;
      const WORDS: readonly [words: string, isExposed: boolean][] = [
        [`what is this? ${page}`, true],
        [`https://eur01.safelinks.example/?url=${encodeURIComponent(page)}&data=05`, true],
        [`ask+${reply}@parley.example`, true],
        [`Reference: ${id}`, true],
        ["https://parley.example/r/ and ask+nobody@parley.example", false],
        [`https://parley.example/r/${"Ab".repeat(21)}c`, false],
      ];
      for (const [words, isExposed] of WORDS) {
        const refused = JSON.stringify({ reason: "unparseable", input: words });
        await transact(ctx, (tx) => tx.all(sql`UPDATE requests SET refused = ${refused} WHERE ask_id = ${other.id}`));
        const found = (await examineStore(ctx, { quick: false })).filter(({ offenders }) => offenders.length > 0);
        const said = found.map(({ check, offenders }) => [check, offenders]);
        assert.deepEqual(said, isExposed ? [["X14", [approved.id]]] : [], words);
      }
    });
  });
}
