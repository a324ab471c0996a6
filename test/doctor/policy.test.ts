import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { accepted, openScene } from "../support/a2h.ts";
import { asked, broken, operatorOf, withRules } from "../support/policy-calls.ts";
import { DATABASES } from "../support/world.ts";

const RULES = "version: 1\nrules: [{ id: pings, when: { fn: ping }, decision: ALLOW }]\n";

const ruled = sql`(SELECT min(ask_id) FROM requests WHERE outcome LIKE '%"kind":"policy"%')`;
const granted = sql`(SELECT min(ask_id) FROM requests WHERE outcome LIKE '%"grant":"grant_%')`;

const CORRUPTIONS: readonly [what: string, statement: Sql][] = [
  [
    "the rule is another",
    sql`UPDATE requests SET outcome = replace(outcome, 'pings', 'anything') WHERE ask_id = ${ruled}`,
  ],
  ["a default decided", sql`UPDATE requests SET outcome = replace(outcome, '"defaulted":false', '"defaulted":true')`],
  ["it is not on record", sql`UPDATE audit SET action = 'function_call.expired' WHERE ask_id = ${ruled}`],
  ["something else was asked", sql`UPDATE requests SET digest = 'sha256:00' WHERE ask_id = ${granted}`],
  ["nobody had allowed it", sql`DELETE FROM policy_grants`],
  ["it was for another agent", sql`UPDATE policy_grants SET agent = 'mallory'`],
  ["it was over", sql`UPDATE policy_grants SET expires_at = created_at`],
  ["it had been revoked", sql`UPDATE policy_grants SET revoked_at = created_at - 1`],
  [
    "nobody is named",
    sql`UPDATE requests SET outcome = replace(outcome, '"kind":"person"', '"kind":"policy"')
          WHERE ask_id = ${granted}`,
  ],
];

/** Copies of what the statements above change, and what undoes each of them. */
const KEEP: readonly Sql[] = [
  sql`CREATE TABLE kept_requests AS SELECT ask_id, outcome, digest FROM requests`,
  sql`CREATE TABLE kept_audit AS SELECT seq, action FROM audit`,
  sql`CREATE TABLE kept_grants AS SELECT * FROM policy_grants`,
];
const MEND: readonly Sql[] = [
  sql`UPDATE requests SET (outcome, digest) =
        (SELECT outcome, digest FROM kept_requests WHERE kept_requests.ask_id = requests.ask_id)`,
  sql`UPDATE audit SET action = (SELECT action FROM kept_audit WHERE kept_audit.seq = audit.seq)
        WHERE seq IN (SELECT seq FROM kept_audit)`,
  sql`DELETE FROM policy_grants`,
  sql`INSERT INTO policy_grants SELECT * FROM kept_grants`,
];

for (const on of DATABASES) {
  describe(`parley doctor on calls that policy decided, on ${on}`, () => {
    it("finds every approval without a person, a rule or a permanent permission behind it", async () => {
      await using scene = await openScene(on);
      const { db } = scene.world.server.ctx;
      await withRules(scene, RULES);
      const operator = await operatorOf(scene);
      await asked(scene, { fn: "ping" });
      const { ask_id } = await asked(scene, { fn: "restart" });
      accepted(await operator.decide(ask_id, { approved: true, standing: true }));
      await scene.world.advance(1000);
      assert.equal((await asked(scene, { fn: "restart" })).approved, true);
      for (const statement of KEEP) await db.transact((tx) => tx.all(statement));
      for (const [what, statement] of CORRUPTIONS) {
        assert.deepEqual(await broken(scene), [], `before ${what}`);
        await db.transact((tx) => tx.all(statement));
        assert.ok((await broken(scene)).includes("A10"), what);
        await db.transact(async (tx) => {
          for (const mend of MEND) await tx.all(mend);
        });
      }
    });
  });
}
