import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { beginInInbox } from "../../src/conversations/speak-in-inbox.ts";
import { openTalking } from "../support/conversations.ts";
import { DATABASES } from "../support/world.ts";

const SETTINGS = "a2h: { entry_points: { support: { agent: support, inbox: true } } }";

/** A corruption that no server writes to a store. */
const CORRUPTIONS: readonly [what: string, statement: Sql][] = [
  ["words are told to another agent", sql`UPDATE conversation_messages SET agent = 'agent:sales'`],
  ["words are numbered beyond the count", sql`UPDATE conversation_messages SET seq = seq + 1000`],
  ["a key speaks in another agent's conversation", sql`UPDATE conversations SET agent = 'agent:sales'`],
  [
    "a key speaks in a conversation that is gone",
    sql`UPDATE keys SET conversation = 77 WHERE conversation IS NOT NULL`,
  ],
];

for (const on of DATABASES) {
  describe(`the doctor, of conversations on ${on}`, () => {
    it("finds nothing wrong with what people begin, and everything that nobody should do to it", async () => {
      for (const [what, statement] of [["nothing", null], ...CORRUPTIONS] as const) {
        await using scene = await openTalking(on, SETTINGS);
        const { ctx } = scene.world.server;
        const number = await scene.enroll("Ana Ruiz", { inbox: {} });
        const [row] = await ctx.db.all<{ person_id: string }>(
          sql`SELECT person_id FROM people WHERE number = ${number}`,
        );
        const conversation = await beginInInbox(ctx, row?.person_id ?? "", "support", { words: "Hello", id: "one" });
        await scene.holder({ name: "support", scope: "agent", conversation });
        if (statement) await transact(ctx, (tx) => tx.all(statement));
        const findings = await examineStore(ctx, { quick: false });
        const broken = findings.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
        assert.equal(broken.includes("conversations"), statement !== null, what);
        if (!statement) assert.deepEqual(broken, []);
      }
    });
  });
}
